/** Writes one large shard to its own file as its bytes arrive, with bounded memory and buffered writes. */
import type { ChunkPool } from '../../../chunk-pool.ts'
import { limits } from '../../../limits.ts'
import { copyToShared } from '../../../shared-copy.ts'
import type { FileHandle } from '../../fs.ts'
import { alignUp, pageBytes } from '../alignment.ts'
import { checksumTableBytes, writeChecksums } from '../block-checksums.ts'

const writesInFlightMax = 2
/** A chunk of whole blocks that is at least this large is written without a copy. */
const wholeWriteBytesMin = limits.workChunkBytes
const padding = Buffer.alloc(pageBytes)

export interface WrittenPayload {
  payloadBytes: number
  blockBytes: number
  table: Buffer
}

export class LargeFileWriter {
  readonly #file: FileHandle
  readonly #chunks: ChunkPool
  readonly #payloadBytes: number
  readonly #blockBytes: number
  readonly #table: Buffer
  #chunk: Buffer | undefined
  #filled = 0
  /** Bytes handed to the file: always whole chunks, and so whole blocks. */
  #position = 0
  readonly #inFlight = new Set<Promise<void>>()
  #failure: { error: unknown } | undefined
  /** A write that has not taken all of its chunk. If the source continued or ended meanwhile, it would tear the file. */
  #busy = false

  /** Takes over `file`: `finish` or `abort` closes it. */
  constructor(file: FileHandle, chunks: ChunkPool, payloadBytes: number, blockBytes: number) {
    this.#file = file
    this.#chunks = chunks
    this.#payloadBytes = payloadBytes
    this.#blockBytes = blockBytes
    this.#table = Buffer.allocUnsafe(checksumTableBytes(payloadBytes, blockBytes))
  }

  /** Takes the bytes of `chunk`, which is free again when this returns or its promise settles. */
  write(chunk: Buffer): void | Promise<void> {
    this.#assertIdle()
    if (this.#position + this.#filled + chunk.length > this.#payloadBytes)
      throw new Error('the payload is longer than it said')
    if (this.#isWhole(chunk)) return this.#writeWhole(chunk)
    this.#chunk ??= this.#takeChunk()
    if (this.#filled + chunk.length >= this.#chunk.length) return this.#writeThrough(chunk)
    copyToShared(chunk, this.#chunk, this.#filled)
    this.#filled += chunk.length
  }

  /** Writes the rest and the footer, and syncs. Only then is the file's content on stable storage. */
  async finish(footer: (written: WrittenPayload) => Buffer): Promise<void> {
    this.#assertIdle()
    const last = (this.#chunk ?? padding).subarray(0, this.#filled)
    const payloadBytes = this.#position + last.length
    if (payloadBytes !== this.#payloadBytes)
      throw new Error(`the payload ended after ${payloadBytes} of ${this.#payloadBytes} bytes`)
    this.#checksum(last)
    const end = footer({ payloadBytes, blockBytes: this.#blockBytes, table: this.#table })
    const gap = padding.subarray(0, alignUp(payloadBytes, pageBytes) - payloadBytes)
    await Promise.all(this.#inFlight)
    this.#assertSound()
    await this.#file.write([last, gap, end], this.#position)
    await this.#file.datasync()
    this.#giveBack()
    await this.#file.close()
  }

  /** Releases everything, even after `finish` has failed. The caller removes the file. */
  async abort(): Promise<void> {
    await Promise.all(this.#inFlight)
    this.#giveBack()
    await this.#file.close().catch(() => {})
  }

  async #writeThrough(chunk: Buffer): Promise<void> {
    this.#busy = true
    for (let taken = 0; taken < chunk.length; ) {
      this.#chunk ??= this.#takeChunk()
      const upTo = Math.min(chunk.length, taken + this.#chunk.length - this.#filled)
      const copied = copyToShared(chunk, this.#chunk, this.#filled, taken, upTo)
      taken += copied
      this.#filled += copied
      if (this.#filled === this.#chunk.length) await this.#submit(this.#chunk)
    }
    this.#busy = false
  }

  /** Takes whole blocks. */
  #takeChunk(): Buffer {
    const chunk = this.#chunks.takeFitting()
    if (chunk.length % this.#blockBytes === 0) return chunk
    this.#chunks.give(chunk)
    return this.#chunks.take()
  }

  #isWhole(chunk: Buffer): boolean {
    return this.#filled === 0 && chunk.length >= wholeWriteBytesMin && chunk.length % this.#blockBytes === 0
  }

  /** Does not copy the chunk, and therefore resolves only when the write is done. */
  async #writeWhole(chunk: Buffer): Promise<void> {
    this.#busy = true
    this.#checksum(chunk)
    await this.#startWrite(chunk)
    this.#assertSound()
    this.#busy = false
  }

  /** Resolves when the write is under way, not when it is done. */
  async #submit(chunk: Buffer): Promise<void> {
    this.#checksum(chunk)
    while (this.#inFlight.size >= writesInFlightMax) await Promise.race(this.#inFlight)
    this.#assertSound()
    void this.#startWrite(chunk).then(() => this.#chunks.give(chunk))
    this.#chunk = undefined
    this.#filled = 0
  }

  /** Never rejects; `#assertSound` throws the failure later. */
  #startWrite(chunk: Buffer): Promise<void> {
    const written = this.#file
      .write([chunk], this.#position)
      .catch((error) => {
        this.#failure ??= { error }
      })
      .finally(() => {
        this.#inFlight.delete(written)
      })
    this.#inFlight.add(written)
    this.#position += chunk.length
    return written
  }

  #assertIdle(): void {
    if (this.#busy) throw new Error('the payload did not wait for its sink')
  }

  #assertSound(): void {
    if (this.#failure !== undefined) throw this.#failure.error
  }

  #checksum(bytes: Buffer): void {
    writeChecksums(bytes, this.#blockBytes, this.#table, this.#position / this.#blockBytes)
  }

  #giveBack(): void {
    if (this.#chunk !== undefined) this.#chunks.give(this.#chunk)
    this.#chunk = undefined
  }
}
