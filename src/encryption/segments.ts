/**
 * The encrypted form of bytes: segments of AES-256-GCM, each followed by its tag, so that a range can be read and verified without the rest.
 * The key belongs to this one blob, so a segment's number can be its nonce. Each segment is bound to its position and to the blob's size: changing,
 * dropping, repeating, exchanging or truncating segments is detected.
 */
import { type CipherGCM, createCipheriv, createDecipheriv } from 'node:crypto'
import type { ByteSink, ByteSource } from '../byte-source.ts'
import { known } from '../known.ts'
import { limits } from '../limits.ts'

/** A sealed segment has the size of a store's checksum block, so that reading one segment reads only one block. */
export const sealedBytes = limits.encryptionSegmentBytes
const tagBytes = 16
export const plainBytes = sealedBytes - tagBytes
const nonceBytes = 12

/** A segment is not what was written there. */
export class SegmentDamaged extends Error {
  readonly segment: number

  constructor(segment: number) {
    super(`encrypted segment ${segment} is not what was written`)
    this.name = 'SegmentDamaged'
    this.segment = segment
  }
}

interface Range {
  /** First byte, from 0. */
  start: number
  /** One past the last byte. */
  end: number
}

/** The size of `bytes` of plaintext after encryption. */
export function sealedSize(bytes: number): number {
  return bytes + Math.ceil(bytes / plainBytes) * tagBytes
}

/** The range of the encrypted form whose segments hold a range of the plaintext. */
export function sealedRange(range: Range, size: number): Range {
  return {
    start: Math.floor(range.start / plainBytes) * sealedBytes,
    end: Math.min(Math.ceil(range.end / plainBytes) * sealedBytes, sealedSize(size)),
  }
}

/** The sealed size of a segment of a blob with `size` bytes of plaintext. */
function sealedSizeOf(segment: number, size: number): number {
  return Math.min(plainBytes, size - segment * plainBytes) + tagBytes
}

function nonceOf(segment: number): Buffer {
  const nonce = Buffer.alloc(nonceBytes)
  nonce.writeUIntBE(segment, nonceBytes - 6, 6)
  return nonce
}

function boundTo(size: number): Buffer {
  const bound = Buffer.alloc(8)
  bound.writeUIntBE(size, 2, 6)
  return bound
}

type CipherOf = (segment: number) => CipherGCM

function ciphersFor(key: Uint8Array, size: number): CipherOf {
  const bound = boundTo(size)
  return (segment) => createCipheriv('aes-256-gcm', key, nonceOf(segment), { authTagLength: tagBytes }).setAAD(bound)
}

/** Seals whole segments, in any order, of a blob of `size` bytes of plaintext. Returns ciphertext and tag in newly allocated memory. */
export function segmentSealer(
  key: Uint8Array,
  size: number,
): (segment: number, plain: Buffer) => readonly [Buffer, Buffer] {
  const cipherOf = ciphersFor(key, size)
  return (segment, plain) => {
    const cipher = cipherOf(segment)
    const sealed = cipher.update(plain)
    cipher.final()
    return [sealed, cipher.getAuthTag()]
  }
}

/** Opens whole sealed segments, in any order. The returned function returns plaintext in newly allocated memory, and throws `SegmentDamaged`. */
export function segmentOpener(key: Uint8Array, size: number): (segment: number, sealed: Buffer) => Buffer {
  const bound = boundTo(size)
  return (segment, sealed) => {
    const tagAt = sealed.length - tagBytes
    if (sealed.length !== sealedSizeOf(segment, size)) throw new SegmentDamaged(segment)
    const decipher = createDecipheriv('aes-256-gcm', key, nonceOf(segment), { authTagLength: tagBytes })
    decipher.setAAD(bound)
    decipher.setAuthTag(sealed.subarray(tagAt))
    const plain = decipher.update(sealed.subarray(0, tagAt))
    try {
      decipher.final()
    } catch {
      throw new SegmentDamaged(segment)
    }
    return plain
  }
}

/** The encrypted form of `plain`. `key`: 32 bytes that never encrypt anything else. */
export function encrypting(plain: ByteSource, key: Buffer): ByteSource {
  const cipherOf = ciphersFor(key, plain.size)

  const drain = async (sink: ByteSink): Promise<void> => {
    let segment = 0
    let inSegment = 0
    let cipher = cipherOf(0)
    const finish = (): Buffer => {
      cipher.final()
      const tag = cipher.getAuthTag()
      inSegment = 0
      segment += 1
      cipher = cipherOf(segment)
      return tag
    }
    await plain.drain(async (chunk) => {
      for (let at = 0; at < chunk.length; ) {
        const piece = chunk.subarray(at, at + plainBytes - inSegment)
        at += piece.length
        inSegment += piece.length
        await sink(cipher.update(piece))
        if (inSegment === plainBytes) await sink(finish())
      }
    })
    if (inSegment > 0) await sink(finish())
  }
  return {
    size: sealedSize(plain.size),
    drain,
    read: async () => {
      const bytes = await plain.read()
      const seal = segmentSealer(key, plain.size)
      const pieces: Buffer[] = []
      for (let at = 0; at < bytes.length; at += plainBytes) {
        pieces.push(...seal(at / plainBytes, bytes.subarray(at, at + plainBytes)))
      }
      return Buffer.concat(pieces)
    },
    cancel: () => plain.cancel(),
  }
}

/**
 * The plaintext of a range. `sealed` is the source of its `sealedRange`; `size` is that of the whole plaintext.
 * Rejects with `SegmentDamaged` before it gives anything of the damaged segment.
 */
export function decrypting(sealed: ByteSource, key: Buffer, range: Range, size: number): ByteSource {
  const first = Math.floor(range.start / plainBytes)
  const end = Math.ceil(range.end / plainBytes)
  const openWhole = segmentOpener(key, size)

  const open = (segment: number, bytes: Buffer): Buffer => {
    if (segment >= end) throw new SegmentDamaged(segment)
    const start = segment * plainBytes
    return openWhole(segment, bytes).subarray(Math.max(0, range.start - start), Math.max(0, range.end - start))
  }

  return {
    size: range.end - range.start,
    drain: (sink) => eachSegment(sealed, size, { first, end }, async (segment, bytes) => sink(open(segment, bytes))),
    read: async () => {
      const lent = sealed.borrow?.()
      const bytes = lent?.bytes ?? (await sealed.read())
      const pieces: Buffer[] = []
      try {
        for (let at = 0; at < bytes.length; at += sealedBytes) {
          pieces.push(open(first + at / sealedBytes, bytes.subarray(at, at + sealedBytes)))
        }
      } finally {
        lent?.giveBack()
      }
      if (first + pieces.length !== end) throw new SegmentDamaged(first + pieces.length)
      return pieces.length === 1 ? known(pieces[0]) : Buffer.concat(pieces)
    },
    cancel: () => sealed.cancel(),
  }
}

/** Gives whole sealed segments from `first` up to, not including, `end`, however the source splits them. `give` may use the bytes until it returns. */
async function eachSegment(
  sealed: ByteSource,
  size: number,
  { first, end }: { first: number; end: number },
  give: (segment: number, bytes: Buffer) => Promise<void>,
): Promise<void> {
  const gathered = Buffer.allocUnsafe(Math.min(sealedBytes, sealed.size))
  let segment = first
  let held = 0
  await sealed.drain(async (chunk) => {
    for (let at = 0; at < chunk.length; ) {
      const missing = sealedSizeOf(segment, size) - held
      const piece = chunk.subarray(at, at + missing)
      at += piece.length
      if (held === 0 && piece.length === missing) {
        await give(segment++, piece)
        continue
      }
      held += piece.copy(gathered, held)
      if (piece.length < missing) continue
      held = 0
      await give(segment, gathered.subarray(0, sealedSizeOf(segment, size)))
      segment++
    }
  })
  if (segment !== end) throw new SegmentDamaged(segment)
}
