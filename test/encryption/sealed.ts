/** Encrypted bytes as tests make and damage them, and what can still be read of them. */
import fc from 'fast-check'
import type { ByteSource } from '../../src/byte-source.ts'
import { decrypting, encrypting, sealedRange } from '../../src/encryption/segments.ts'

const tagBytes = 16

/** Of plaintext in a whole segment. */
export const segmentBytes = wholeSegment()

/** `HOLDFAST_ENCRYPTION_SEED` repeats a run. */
export const seed = Number(process.env.HOLDFAST_ENCRYPTION_SEED ?? Math.floor(Math.random() * 2 ** 31))
console.info(`encryption seed: HOLDFAST_ENCRYPTION_SEED=${seed}`)

/** Bytes in pieces of these sizes, over and over. */
export function inPieces(bytes: Buffer, sizes: readonly number[]): ByteSource {
  return {
    size: bytes.length,
    drain: async (sink) => {
      for (let at = 0, i = 0; at < bytes.length; i++) {
        const end = Math.min(bytes.length, at + (sizes[i % sizes.length] ?? bytes.length))
        // A source may use its buffer again once the sink has returned.
        const piece = Buffer.from(bytes.subarray(at, end))
        await sink(piece)
        piece.fill(0xee)
        at = end
      }
    },
    read: () => Promise.resolve(bytes),
    cancel: () => {},
  }
}

/** Everything a source gives, and the error with which it ended. */
export async function drained(source: ByteSource): Promise<{ bytes: Buffer; error?: unknown }> {
  const given: Buffer[] = []
  const keep = (chunk: Buffer): void => void given.push(Buffer.from(chunk))
  try {
    await source.drain(keep)
    return { bytes: Buffer.concat(given) }
  } catch (error) {
    return { bytes: Buffer.concat(given), error }
  }
}

export async function sealed(plain: Buffer, key: Buffer): Promise<Buffer> {
  return (await drained(encrypting(inPieces(plain, [plain.length]), key))).bytes
}

export interface Opening {
  key: Buffer
  size: number
  range: { start: number; end: number }
  pieces?: readonly number[]
}

/** What opens a range of sealed bytes, which may be shorter or longer than they should. */
export function opened(bytes: Buffer, { key, size, range, pieces = [bytes.length || 1] }: Opening): ByteSource {
  const { start, end } = sealedRange(range, size)
  const whole = range.start === 0 && range.end === size
  return decrypting(inPieces(whole ? bytes : bytes.subarray(start, end), pieces), key, range, size)
}

/** Where each segment of a blob of `size` bytes lies, in plaintext and sealed. */
export function segmentsOf(size: number): { plain: [number, number]; sealed: [number, number] }[] {
  const found: ReturnType<typeof segmentsOf> = []
  for (let at = 0; at < size; ) {
    const { start, end } = sealedRange({ start: at, end: at + 1 }, size)
    const next = Math.min(size, at + (end - start) - tagBytes)
    found.push({ plain: [at, next], sealed: [start, end] })
    at = next
  }
  return found
}

function wholeSegment(): number {
  const { start, end } = sealedRange({ start: 0, end: 1 }, 2 ** 40)
  return end - start - tagBytes
}

/** Sizes around the borders of segments, where mistakes live. */
export const sizes = fc.oneof(
  fc
    .tuple(fc.integer({ min: 0, max: 4 }), fc.integer({ min: -20, max: 20 }))
    .map(([segments, by]) => Math.max(0, segments * segmentBytes + by)),
  fc.nat(5 * segmentBytes),
)

export const someSize = sizes.filter((size) => size > 0)

/** A place in `0..size`, often near a border. */
export function placeIn(size: number): fc.Arbitrary<number> {
  const near = fc
    .tuple(fc.nat(Math.ceil(size / segmentBytes)), fc.integer({ min: -20, max: 20 }))
    .map(([border, by]) => Math.min(size, Math.max(0, border * segmentBytes + by)))
  return fc.oneof(near, fc.nat(size))
}

export const pieceSizes = fc.array(
  fc
    .oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 3 * segmentBytes }))
    .map((size) => Math.max(size, 1)),
  { minLength: 1, maxLength: 6 },
)
