/** Copies into shared memory. V8 does so byte by byte where source and target are not equally far from a word boundary: six times as slow as by way of memory that is. */

const wordBytes = 8
const pieceBytes = 64 * 1024
/** Smaller copies gain nothing. */
const aligningBytesMin = 1024

let between: Buffer | undefined

/** Like `source.copy(target, at, from, to)`. `target` must have room for all of it. */
export function copyToShared(source: Buffer, target: Buffer, at: number, from = 0, to = source.length): number {
  const isAligned = (source.byteOffset + from - target.byteOffset - at) % wordBytes === 0
  if (isAligned || to - from < aligningBytesMin || source.buffer instanceof SharedArrayBuffer) {
    return source.copy(target, at, from, to)
  }
  between ??= Buffer.allocUnsafeSlow(pieceBytes + wordBytes)
  for (let done = from; done < to; ) {
    const offset = (target.byteOffset + at + done - from) % wordBytes
    const bytes = Math.min(pieceBytes, to - done)
    source.copy(between, offset, done, done + bytes)
    between.copy(target, at + done - from, offset, offset + bytes)
    done += bytes
  }
  return to - from
}
