/** Reads a range of one shard's object, and the shard's description. Verifies each block as a whole before it gives out any byte of it. */
import type { Readable } from 'node:stream'
import { type ByteSink, type ByteSource, drained } from '../../byte-source.ts'
import type { ChunkPool } from '../../chunk-pool.ts'
import { limits } from '../../limits.ts'
import { ShardDamaged, ShardMissing, type ShardRange } from '../shard-store.ts'
import type { ShardBucket } from './bucket.ts'
import { endpointFailure } from './failures.ts'
import {
  blockBytes,
  blockChecksum,
  frameBytes,
  framedBytes,
  readFooter,
  type ShardName,
  seedOf,
  shardId,
  shardKey,
  trailerBytes,
} from './object-format.ts'

const footerBytesMax = limits.shardDescriptionBytesMax + trailerBytes

/** Opens the object, so that it stays readable. A range that reaches the end of the payload also brings the footer, which is verified too. */
export async function openShard(
  bucket: ShardBucket,
  name: ShardName,
  range: ShardRange,
  chunks: ChunkPool,
): Promise<ShardSource> {
  const { payloadBytes } = name
  // For an empty range, reading the footer is enough: it shows whether the shard exists.
  const isEmpty = range.start === range.end
  const blocks = {
    start: isEmpty ? payloadBytes : Math.floor(range.start / blockBytes) * blockBytes,
    end: isEmpty ? payloadBytes : Math.min(Math.ceil(range.end / blockBytes) * blockBytes, payloadBytes),
  }
  const reachesEnd = isEmpty || range.end === payloadBytes
  const end = reachesEnd ? undefined : framedBytes(blocks.end)
  const opened = await bucket.open(shardKey(name), framedBytes(blocks.start), end)
  if (opened === 'absent') throw new ShardMissing(shardId(name))
  if (opened === 'short') throw new ShardDamaged(shardId(name), 'the object is too short')
  return new ShardSource(opened.body, { name, range, blocks, reachesEnd, chunks })
}

/** The description that a shard was stored with. */
export async function readDescription(bucket: ShardBucket, name: ShardName, chunks: ChunkPool): Promise<Buffer> {
  const source = await openShard(bucket, name, { start: name.payloadBytes, end: name.payloadBytes }, chunks)
  await source.readSoon()
  return source.description
}

interface Reading {
  name: ShardName
  range: ShardRange
  /** The whole blocks that are read. */
  blocks: ShardRange
  reachesEnd: boolean
  chunks: ChunkPool
}

export class ShardSource implements ByteSource {
  readonly size: number
  readonly #body: Readable
  readonly #reading: Reading
  readonly #seed: number
  #begun = false
  #cancelled = false
  #description: Buffer = Buffer.alloc(0)

  constructor(body: Readable, reading: Reading) {
    this.#body = body
    this.#reading = reading
    this.#seed = seedOf(reading.name)
    this.size = reading.range.end - reading.range.start
    // The reader gets the error; until then it must not count as unhandled.
    body.on('error', () => {})
  }

  /** Available when everything has been read, for a source that reaches the end of its shard. */
  get description(): Buffer {
    return this.#description
  }

  async drain(sink: ByteSink): Promise<void> {
    if (this.#begun) throw new Error('a source is consumed once')
    this.#begun = true
    const { chunks, blocks } = this.#reading
    try {
      const pieces = new Pieces(this.#body)
      const bytes = blocks.end - blocks.start
      // A chunk of memory is too much for a small range.
      if (bytes <= limits.smallShardBytesMax) return await this.#give(pieces, Buffer.allocUnsafe(bytes), sink)
      const chunk = chunks.take()
      await this.#give(pieces, chunk, sink).finally(() => chunks.give(chunk))
    } finally {
      this.#body.destroy()
    }
  }

  read(): Promise<Buffer> {
    return drained(this)
  }

  /** The same for a small range. Abandons a body that does not arrive within the time limit of an answer. */
  async readSoon(): Promise<Buffer> {
    const timer = setTimeout(
      () => this.#body.destroy(new Error('the endpoint did not answer in time')),
      limits.remoteAnswerMs,
    )
    try {
      return await this.read()
    } finally {
      clearTimeout(timer)
    }
  }

  cancel(): void {
    this.#cancelled = true
    this.#body.destroy()
  }

  async #give(pieces: Pieces, chunk: Buffer, sink: ByteSink): Promise<void> {
    const { range, blocks, reachesEnd } = this.#reading
    for (let position = blocks.start; position < blocks.end; position += chunk.length) {
      const bytes = Math.min(chunk.length, blocks.end - position)
      await this.#fill(pieces, chunk.subarray(0, bytes), position)
      const from = Math.max(0, range.start - position)
      await sink(chunk.subarray(from, Math.min(bytes, range.end - position)))
    }
    if (reachesEnd) await this.#readFooter(pieces)
  }

  async #fill(pieces: Pieces, chunk: Buffer, position: number): Promise<void> {
    const checksum = Buffer.alloc(frameBytes - blockBytes)
    for (let at = 0; at < chunk.length; at += blockBytes) {
      const block = chunk.subarray(at, at + blockBytes)
      await this.#require(pieces, block)
      await this.#require(pieces, checksum)
      const index = (position + at) / blockBytes
      if (checksum.readUInt32LE() !== blockChecksum(block, index, this.#seed)) {
        throw this.#damaged(`block ${index} is damaged`)
      }
    }
  }

  async #require(pieces: Pieces, bytes: Buffer): Promise<void> {
    if ((await this.#next(pieces, bytes)) < bytes.length) throw this.#damaged('the object is too short')
  }

  async #readFooter(pieces: Pieces): Promise<void> {
    // One byte more than the maximum, to detect an object that is too long.
    const footer = Buffer.allocUnsafe(footerBytesMax + 1)
    const bytes = await this.#next(pieces, footer)
    const read = readFooter(footer.subarray(0, bytes), this.#seed)
    if (typeof read === 'string') throw this.#damaged(read)
    this.#description = Buffer.from(read.description)
  }

  async #next(pieces: Pieces, bytes: Buffer): Promise<number> {
    try {
      return await pieces.fill(bytes)
    } catch (error) {
      throw this.#cancelled ? new Error('the read was cancelled') : endpointFailure(error)
    }
  }

  #damaged(reason: string): Error {
    if (this.#cancelled) return new Error('the read was cancelled')
    return new ShardDamaged(shardId(this.#reading.name), reason)
  }
}

/** A stream's bytes in pieces of any size. */
class Pieces {
  readonly #chunks: AsyncIterator<Buffer>
  #left: Buffer = Buffer.alloc(0)

  constructor(body: Readable) {
    this.#chunks = body[Symbol.asyncIterator]()
  }

  /** Resolves with the number of bytes: fewer than asked for at the end. */
  async fill(bytes: Buffer): Promise<number> {
    let filled = 0
    while (filled < bytes.length) {
      if (this.#left.length === 0) {
        const next = await this.#chunks.next()
        if (next.done === true) return filled
        this.#left = next.value
      }
      const copied = this.#left.copy(bytes, filled)
      this.#left = this.#left.subarray(copied)
      filled += copied
    }
    return filled
  }
}
