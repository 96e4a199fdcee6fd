/** Memory that records are read into: small ones share a piece of it, as a piece for each is slow to make and to collect. */

const slabBytes = 64 * 1024
/** Larger ones, that are read to be given out, are better lent memory of a pool. */
export const sharedRecordBytesMax = 8 * 1024
let slab = Buffer.alloc(0)
let used = 0

/** Never given out twice. The piece stays in memory for as long as any record in it. */
export function recordMemory(bytes: number): Buffer {
  if (bytes > sharedRecordBytesMax) return Buffer.allocUnsafe(bytes)
  if (used + bytes > slab.length) {
    slab = Buffer.allocUnsafeSlow(slabBytes)
    used = 0
  }
  used += bytes
  return slab.subarray(used - bytes, used)
}
