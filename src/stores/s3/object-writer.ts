/** Writes one shard's object as its bytes arrive, with bounded memory: a small one by one request, a large one as a multipart upload. */
import type { ShardBucket, UploadedPart } from './bucket.ts'
import {
  blockBytes,
  blockChecksum,
  frameBytes,
  framedBytes,
  type ShardName,
  seedOf,
  shardKey,
} from './object-format.ts'

/** Whole blocks, and more than the 5 MiB that all parts but the last must have. */
const partFrames = 80
const partBytes = partFrames * frameBytes
/** Room for a footer of the usual size next to the blocks, so that it needs no copy of them. */
const usualFooterBytes = 8 * 1024

/** The memory needed to write a shard: while one part is sent, the next is filled. */
export function writerBytes(payloadBytes: number): number {
  const framed = framedBytes(payloadBytes)
  return framed > partBytes ? 2 * partBytes : framed + usualFooterBytes
}

export class ObjectWriter {
  readonly #bucket: ShardBucket
  readonly #name: ShardName
  readonly #key: string
  readonly #seed: number
  readonly #framedBytes: number
  #buffer: Buffer
  /** Bytes of `#buffer` that are in use. */
  #filled = 0
  /** Bytes of the payload so far. */
  #taken = 0
  #upload: string | undefined
  readonly #parts: Promise<UploadedPart>[] = []
  #sending: Promise<unknown> | undefined
  /** A request for the object was sent, so it may exist, whatever the answer was. */
  #asked = false

  constructor(bucket: ShardBucket, name: ShardName) {
    this.#bucket = bucket
    this.#name = name
    this.#key = shardKey(name)
    this.#seed = seedOf(name)
    this.#framedBytes = framedBytes(name.payloadBytes)
    this.#buffer = this.#fresh(0)
  }

  /** Takes the bytes of `chunk`, which is free again when this returns or its promise settles. */
  write(chunk: Buffer): void | Promise<void> {
    if (this.#taken + chunk.length > this.#name.payloadBytes) throw new Error('the payload is longer than it said')
    const rest = this.#take(chunk)
    return rest.length === 0 ? undefined : this.#writeRest(rest)
  }

  /** Resolves when the object is durable. */
  async finish(buildFooter: (seed: number) => Buffer): Promise<void> {
    const { payloadBytes } = this.#name
    if (this.#taken !== payloadBytes) {
      throw new Error(`the payload ended after ${this.#taken} of ${payloadBytes} bytes`)
    }
    this.#seal()
    const last = this.#with(buildFooter(this.#seed))
    if (this.#upload === undefined) {
      this.#asked = true
      return this.#bucket.put(this.#key, last)
    }
    this.#sending = this.#send(this.#upload, last)
    const parts = await Promise.all(this.#parts)
    this.#asked = true
    await this.#bucket.completeUpload(this.#key, this.#upload, parts)
  }

  /** Removes everything if the endpoint can be reached. Otherwise the object becomes an orphan, which is found later. Never rejects. */
  async abort(): Promise<void> {
    await Promise.allSettled(this.#parts)
    if (this.#upload !== undefined) await this.#bucket.abortUpload(this.#key, this.#upload).catch(() => {})
    if (this.#asked) await this.#bucket.delete([this.#key]).catch(() => {})
  }

  async #writeRest(rest: Buffer): Promise<void> {
    for (let left = rest; left.length > 0; left = this.#take(left)) {
      this.#upload ??= await this.#bucket.startUpload(this.#key)
      // At most one part is on its way while the next is filled.
      await this.#sending
      this.#sending = this.#send(this.#upload, this.#buffer.subarray(0, this.#filled))
      this.#buffer = this.#fresh(this.#taken)
      this.#filled = 0
    }
  }

  /** Resolves when the endpoint has the part. */
  #send(upload: string, part: Buffer): Promise<UploadedPart> {
    const sent = this.#bucket.putPart(this.#key, upload, this.#parts.length + 1, part)
    // Reported where it is awaited.
    sent.catch(() => {})
    this.#parts.push(sent)
    return sent
  }

  /** Copies what fits into the buffer, and returns the rest. */
  #take(chunk: Buffer): Buffer {
    let at = 0
    while (at < chunk.length && this.#filled < partBytes) {
      const inBlock = this.#taken % blockBytes
      const copied = chunk.copy(this.#buffer, this.#filled, at, at + blockBytes - inBlock)
      at += copied
      this.#taken += copied
      this.#filled += copied
      if (inBlock + copied === blockBytes) this.#checksum(blockBytes)
    }
    return chunk.subarray(at)
  }

  /** Appends the checksum of the last block if that block is not whole. */
  #seal(): void {
    const rest = this.#taken % blockBytes
    if (rest > 0) this.#checksum(rest)
  }

  #checksum(bytes: number): void {
    const block = this.#buffer.subarray(this.#filled - bytes, this.#filled)
    const index = Math.ceil(this.#taken / blockBytes) - 1
    this.#filled = this.#buffer.writeUInt32LE(blockChecksum(block, index, this.#seed), this.#filled)
  }

  #with(footer: Buffer): Buffer {
    const end = this.#filled + footer.length
    if (end > this.#buffer.length) return Buffer.concat([this.#buffer.subarray(0, this.#filled), footer])
    footer.copy(this.#buffer, this.#filled)
    return this.#buffer.subarray(0, end)
  }

  /** A buffer for the bytes that follow the first `taken` bytes of the payload. */
  #fresh(taken: number): Buffer {
    const left = this.#framedBytes - framedBytes(taken)
    return Buffer.allocUnsafe(Math.min(left, partBytes) + usualFooterBytes)
  }
}
