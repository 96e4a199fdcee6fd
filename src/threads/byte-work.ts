/** The heavy work on the bytes of one large body, chunk by chunk, in place: digests of the plaintext, sealing, opening. Pure; knows no threads. */
import { type ChecksumAlgorithm, createDigest, type Digest, digestsReady } from '../checksums/checksums.ts'
import { LaneMd5 } from '../checksums/md5-lanes.ts'
import { plainBytes, SegmentDamaged, sealedBytes, segmentOpener, segmentSealer } from '../encryption/segments.ts'

/** What to do with a body. It can be sent to a thread. */
export interface WorkOrder {
  /** Digests of the bytes as they come in. */
  digests: readonly ChecksumAlgorithm[]
  cipher?: CipherOrder | undefined
}

/** `size`: of the whole plaintext. `range`: of the plaintext; the chunks are those of its `sealedRange`. */
export type CipherOrder =
  | { kind: 'seal'; key: Uint8Array; size: number }
  | { kind: 'open'; key: Uint8Array; size: number; range: { start: number; end: number } }

/** Where in the chunk the result lies. */
export interface Piece {
  start: number
  end: number
}

/** The work on one chunk: the first `bytes` of `memory` become the result, somewhere in `memory`. */
type ChunkWork = (memory: Buffer, bytes: number) => Piece

/** The next chunk of a body, in the first `bytes` of `memory`. */
export interface Chunk {
  work: ByteWork
  memory: Buffer
  bytes: number
}

export class ByteWork {
  readonly #digests: readonly Digest[]
  readonly #cipher: ChunkWork

  /** Resolves when the order can be started; `undefined` when it can be started now. */
  static ready({ digests }: WorkOrder): Promise<void> | undefined {
    return digestsReady(digests)
  }

  /** Throws when `ready` was not awaited. */
  constructor({ digests, cipher }: WorkOrder) {
    const digestOf = (algorithm: ChecksumAlgorithm): Digest =>
      (algorithm === 'MD5' ? LaneMd5.open() : undefined) ?? createDigest(algorithm)
    this.#digests = digests.map(digestOf)
    this.#cipher = cipherWork(cipher)
  }

  /** Adds a chunk of each of several bodies to its digests. Call `convert` for each of them afterwards. */
  static digestTogether(chunks: readonly Chunk[]): void {
    const plain = chunks.map(({ work, memory, bytes }) => ({ work, bytes: memory.subarray(0, bytes) }))
    LaneMd5.updateTogether(
      plain.flatMap(({ work, bytes }) =>
        work.#digests.flatMap((md5) => (md5 instanceof LaneMd5 ? { md5, bytes } : [])),
      ),
    )
    for (const { work, bytes } of plain)
      for (const digest of work.#digests) if (!(digest instanceof LaneMd5)) digest.update(bytes)
  }

  /**
   * Processes the next `bytes` bytes, which lie at the start of `memory`. With a cipher, all chunks but the last must hold whole segments, and sealing
   * needs room for the bytes that it adds. After it throws `SegmentDamaged`, nothing can follow.
   */
  work(memory: Buffer, bytes: number): Piece {
    ByteWork.digestTogether([{ work: this, memory, bytes }])
    return this.convert(memory, bytes)
  }

  /** Does the rest of `work`, after the digests. */
  convert(memory: Buffer, bytes: number): Piece {
    return this.#cipher(memory, bytes)
  }

  /** In the order of the request. Call once, after the last chunk. Throws `SegmentDamaged` when sealed bytes ended early. */
  digest(): Buffer[] {
    this.#cipher(Buffer.alloc(0), 0)
    return this.#digests.map((digest) => digest.digest())
  }
}

function cipherWork(order: CipherOrder | undefined): ChunkWork {
  switch (order?.kind) {
    case 'seal':
      return sealing(order)
    case 'open':
      return opening(order)
    case undefined:
      return (_, bytes) => ({ start: 0, end: bytes })
  }
}

function sealing({ key, size }: CipherOrder): ChunkWork {
  const seal = segmentSealer(key, size)
  let next = 0
  return (memory, bytes) => {
    const segments = Math.ceil(bytes / plainBytes)
    let end = 0
    // From the last to the first, because each moves towards the end.
    for (let i = segments - 1; i >= 0; i--) {
      const plain = memory.subarray(i * plainBytes, Math.min((i + 1) * plainBytes, bytes))
      let at = i * sealedBytes
      for (const part of seal(next + i, plain)) at += part.copy(memory, at)
      end = Math.max(end, at)
    }
    next += segments
    return { start: 0, end }
  }
}

function opening({ key, size, range }: Extract<CipherOrder, { kind: 'open' }>): ChunkWork {
  const open = segmentOpener(key, size)
  let next = Math.floor(range.start / plainBytes)
  const stop = Math.ceil(range.end / plainBytes)
  return (memory, bytes) => {
    // No bytes must follow the last segment, and none must be missing before it.
    if (bytes === 0 ? next < stop : next >= stop) throw new SegmentDamaged(next)
    const first = next * plainBytes
    let end = 0
    for (let at = 0; at < bytes; at += sealedBytes) {
      end += open(next++, memory.subarray(at, Math.min(at + sealedBytes, bytes))).copy(memory, end)
    }
    return { start: Math.min(end, Math.max(0, range.start - first)), end: Math.min(end, range.end - first) }
  }
}
