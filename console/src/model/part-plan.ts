/** How a file is cut into parts. Pure. */

const mebibyte = 1024 * 1024
/** Smaller files are sent in one request. */
export const multipartFromBytes = 16 * mebibyte
const partBytesMin = 8 * mebibyte
/** S3 allows 10,000. */
const partsMax = 9000

export interface PlannedPart {
  number: number
  start: number
  end: number
}

export function planParts(bytes: number): PlannedPart[] {
  const partBytes = Math.max(partBytesMin, Math.ceil(bytes / partsMax / mebibyte) * mebibyte)
  const count = Math.max(1, Math.ceil(bytes / partBytes))
  return Array.from({ length: count }, (_, i) => ({
    number: i + 1,
    start: i * partBytes,
    end: Math.min(bytes, (i + 1) * partBytes),
  }))
}

/** The parts to send: those that the server lacks, or has with another size. */
export function missingParts(
  planned: readonly PlannedPart[],
  kept: readonly { number: number; bytes: number }[],
): PlannedPart[] {
  const bytesOf = new Map(kept.map(({ number, bytes }) => [number, bytes]))
  return planned.filter(({ number, start, end }) => bytesOf.get(number) !== end - start)
}
