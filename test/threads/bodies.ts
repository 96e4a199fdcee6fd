/** Bodies for the tests of threads: sources that come in any pieces, and what the inline code makes of the same bytes. */
import { createHash } from 'node:crypto'
import { type ByteSource, bytesSource } from '../../src/byte-source.ts'
import { decrypting, encrypting, sealedRange } from '../../src/encryption/segments.ts'
import type { WorkedSource } from '../../src/threads/worked-source.ts'
import { seededRandom } from '../support/seeded.ts'

export const key = Buffer.alloc(32, 5)
export const KiB = 1024
export const md5 = (bytes: Buffer): string => createHash('md5').update(bytes).digest('hex')

export const sealedBy = (plain: Buffer): Promise<Buffer> => encrypting(bytesSource(plain), key).read()

/** The sealed bytes that hold `range` of a plaintext of `size` bytes. */
export function sealedPart(sealed: Buffer, range: { start: number; end: number }, size: number): Buffer {
  const { start, end } = sealedRange(range, size)
  return sealed.subarray(start, end)
}

export function openedBy(sealed: Buffer, range: { start: number; end: number }, size: number): Promise<Buffer> {
  return decrypting(bytesSource(sealedPart(sealed, range, size)), key, range, size).read()
}

export interface PieceOptions {
  seed?: number
  bytesMax: number
  /** Whether each piece lies in shared memory of its own, as pieces that come from a store do. */
  shared?: boolean
  /** After so many bytes the client is gone. */
  failAfter?: number
}

/** Gives copies that are scribbled over once they are free again, in pieces of random sizes. */
export function inPieces(bytes: Buffer, { seed = 1, bytesMax, shared = false, failAfter }: PieceOptions): ByteSource {
  const random = seededRandom(seed)
  const drain: ByteSource['drain'] = async (sink) => {
    for (let at = 0; at < bytes.length; ) {
      if (failAfter !== undefined && at >= failAfter) throw new Error('the client is gone')
      const size = Math.min(bytes.length - at, shared ? bytesMax : 1 + Math.floor(random() * bytesMax))
      const piece = shared ? Buffer.from(new SharedArrayBuffer(size)) : Buffer.alloc(size)
      bytes.copy(piece, 0, at, at + size)
      at += size
      const busy = sink(piece)
      if (busy !== undefined) await busy
      piece.fill(0xee)
    }
  }
  return { size: bytes.length, drain, read: async () => bytes, cancel: () => {} }
}

/** Drains into a sink that keeps its source waiting each time, and reads a chunk only afterwards. */
export async function drainSlowly(source: Pick<WorkedSource, 'drain'>): Promise<Buffer> {
  const pieces: Buffer[] = []
  await source.drain(async (chunk) => {
    await new Promise((resolve) => setImmediate(resolve))
    pieces.push(Buffer.from(chunk))
  })
  return Buffer.concat(pieces)
}
