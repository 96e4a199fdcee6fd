/** Memory for reading records: small ones share a piece of it, because a separate piece for each is slow to allocate and to collect. */

const slabBytes = 64 * 1024
/** A larger record that is read to be given out should borrow memory from a pool. */
export const sharedRecordBytesMax = 8 * 1024
let slab = Buffer.alloc(0)
let used = 0

/** Memory for one record, never reused. The shared piece stays in memory as long as any record in it. */
export function recordMemory(bytes: number): Buffer {
  if (bytes > sharedRecordBytesMax) return Buffer.allocUnsafe(bytes)
  if (used + bytes > slab.length) {
    slab = Buffer.allocUnsafeSlow(slabBytes)
    used = 0
  }
  used += bytes
  return slab.subarray(used - bytes, used)
}
