/** Reads shards in segments: one positional read of a whole record, or the blocks of a range of a large one, through a bounded set of open segments. */
import { type ByteSource, bytesSource, lendingSource } from '../../../byte-source.ts'
import type { ChunkPool } from '../../../chunk-pool.ts'
import { limits } from '../../../limits.ts'
import type { FileHandle } from '../../fs.ts'
import { checkRange } from '../../shard-contract.ts'
import { ShardDamaged, type ShardId, ShardMissing, type ShardRange } from '../../shard-store.ts'
import { BlockSource } from '../block-source.ts'
import { closeQuietly, type StoreContext } from '../context.ts'
import { readFailure } from '../failures.ts'
import { BlockTable } from '../open-range.ts'
import type { RecordAddress } from '../shard-ids.ts'
import { recordMemory, sharedRecordBytesMax } from './record-memory.ts'
import { RecordRange } from './record-range.ts'
import {
  descriptionOf,
  headBytesOf,
  pagedLeadBytes,
  type RecordHeader,
  readDescription,
  readHead,
  readPayload,
  tableOf,
} from './segment-record.ts'

/** What `bytes` hold, or why they are not what should lie at that place. */
type Verify<T> = (bytes: Buffer, segment: string, offset: number) => T | string

interface RecordHead {
  header: RecordHeader
  /** All bytes before the payload. */
  bytes: Buffer
}

interface OpenSegment {
  file: Promise<FileHandle>
  /** The handle that `file` resolved to. Most reads find it here and need not wait a turn. */
  handle: FileHandle | undefined
  readers: number
  /** Used since the last sweep. */
  used: boolean
  /** Number of the last use. */
  usedLast: number
}

export class SegmentReads {
  readonly #context: StoreContext
  readonly #chunks: ChunkPool
  readonly #largeChunks: ChunkPool
  readonly #open = new Map<string, OpenSegment>()
  #uses = 0

  /** `chunks`: each has room for the largest small record, except one with an unusually long description. `largeChunks`: for the largest of all. */
  constructor(context: StoreContext, chunks: ChunkPool, largeChunks: ChunkPool) {
    this.#context = context
    this.#chunks = chunks
    this.#largeChunks = largeChunks
  }

  /** A range of the payload. Errors: `ShardMissing`, `ShardDamaged`. */
  async get(id: ShardId, address: RecordAddress, range: ShardRange): Promise<ByteSource> {
    const { bytes } = address
    if (bytes <= sharedRecordBytesMax) {
      return bytesSource(rangeOf(await this.#read(recordMemory(bytes), id, address, readPayload), range))
    }
    if (bytes <= this.#chunks.chunkBytes) return this.#getWhole(this.#chunks, id, address, range)
    // To verify one block more than is wanted costs less than to read the head first.
    const isMost = range.end - range.start > bytes / 2
    if (isMost && this.#largeChunks.hasPlenty) return this.#getWhole(this.#largeChunks, id, address, range)
    return this.#getBlocks(id, address, range)
  }

  /** The verified description. Errors: `ShardMissing`, `ShardDamaged`. */
  async description(id: ShardId, address: RecordAddress): Promise<Buffer> {
    if (address.bytes <= sharedRecordBytesMax) {
      return this.#read(recordMemory(address.bytes), id, address, readDescription)
    }
    const { header, bytes } = await this.#head(id, address)
    return descriptionOf(bytes, header)
  }

  /** Reads and verifies the whole record. */
  async #getWhole(chunks: ChunkPool, id: ShardId, address: RecordAddress, range: ShardRange): Promise<ByteSource> {
    const { bytes } = address
    const chunk = chunks.take(bytes)
    const giveBack = (): void => chunks.give(chunk)
    try {
      return lendingSource(
        rangeOf(await this.#read(chunk.subarray(0, bytes), id, address, readPayload), range),
        giveBack,
      )
    } catch (error) {
      giveBack()
      throw error
    }
  }

  /** Reads the head, and then the blocks that hold the range. */
  async #getBlocks(id: ShardId, address: RecordAddress, range: ShardRange): Promise<ByteSource> {
    const { header, bytes: head } = await this.#head(id, address)
    checkRange(range, header.payloadBytes)
    const payloadAt = address.offset + head.length
    const table = new BlockTable({ ...header, table: tableOf(head, header) })
    const blocks = new RecordRange(range, table, async (bytes, position, damaged) => {
      const place = { segment: address.segment, offset: payloadAt + position }
      await this.#read(bytes, id, place, (found) => {
        const block = damaged(found)
        return block === undefined ? found : `block ${block} is damaged`
      })
    })
    return new BlockSource(blocks, this.#largeChunks)
  }

  async #head(id: ShardId, address: RecordAddress, guess = pagedLeadBytes): Promise<RecordHead> {
    const bytes = Buffer.allocUnsafe(Math.min(guess, address.bytes))
    const { header, isWhole } = await this.#read(bytes, id, address, (found, segment, offset) => {
      return readHead(found, { segment, offset, totalBytes: address.bytes })
    })
    const headBytes = headBytesOf(header)
    if (isWhole) return { header, bytes: bytes.subarray(0, headBytes) }
    if (guess === headBytes) throw new ShardDamaged(id, 'the header is damaged')
    return this.#head(id, address, headBytes)
  }

  /** Fills `record` with what lies at the place, and returns what `verified` finds in it. */
  async #read<T>(
    record: Buffer,
    id: ShardId,
    place: Pick<RecordAddress, 'segment' | 'offset'>,
    verified: Verify<T>,
    isAgain = false,
  ): Promise<T> {
    const { segment, offset } = place
    const opened = this.#acquire(segment)
    const wasOpen = opened.handle !== undefined
    let failure: unknown
    try {
      const file = opened.handle ?? (await opened.file)
      const bytes = await file.read(record, offset)
      const found =
        bytes < record.length ? 'the segment ends before the record does' : verified(record, segment, offset)
      if (typeof found !== 'string') return found
      failure = new ShardDamaged(id, found)
    } catch (error) {
      failure = readFailure(id, error)
    } finally {
      this.#release(segment, opened)
    }
    if (isAgain || !wasOpen || !this.#mayBeStale(failure)) throw failure
    this.#evict(segment)
    return this.#read(record, id, place, verified, true)
  }

  /** Whether the segment should be opened anew. Through an old descriptor, a network mount may also show what was there before another host wrote. */
  #mayBeStale(failure: unknown): boolean {
    return failure instanceof ShardMissing || (failure instanceof ShardDamaged && !this.#context.isLocal)
  }

  /** Closes segments without a read since the last sweep, because a removed one takes space until it is closed. */
  sweep(): void {
    for (const [segment, opened] of this.#open) {
      if (!opened.used) this.#evict(segment)
      opened.used = false
    }
  }

  close(): void {
    for (const segment of this.#open.keys()) this.#evict(segment)
  }

  /** Closes a segment that is about to be removed. */
  forget(segment: string): void {
    this.#evict(segment)
  }

  #acquire(segment: string): OpenSegment {
    const opened = this.#open.get(segment) ?? this.#openSegment(segment)
    opened.readers++
    opened.used = true
    opened.usedLast = ++this.#uses
    return opened
  }

  #openSegment(segment: string): OpenSegment {
    const { fs, layout } = this.#context
    if (this.#open.size >= limits.segmentHandlesMax) this.#evictOldest()
    const file = fs.open(layout.segment(segment), 'read')
    const opened: OpenSegment = { file, handle: undefined, readers: 0, used: true, usedLast: 0 }
    this.#open.set(segment, opened)
    file.then(
      (handle) => {
        opened.handle = handle
      },
      () => {
        // A failed open is not remembered: the next reader may find the segment.
        if (this.#open.get(segment) === opened) this.#open.delete(segment)
      },
    )
    return opened
  }

  #evictOldest(): void {
    let oldest: string | undefined
    let usedLast = Number.POSITIVE_INFINITY
    for (const [segment, opened] of this.#open) {
      if (opened.usedLast >= usedLast) continue
      oldest = segment
      usedLast = opened.usedLast
    }
    if (oldest !== undefined) this.#evict(oldest)
  }

  #release(segment: string, opened: OpenSegment): void {
    opened.readers--
    if (this.#open.get(segment) !== opened) this.#closeUnread(opened)
  }

  #evict(segment: string): void {
    const opened = this.#open.get(segment)
    this.#open.delete(segment)
    if (opened !== undefined) this.#closeUnread(opened)
  }

  /** Closes a segment that is no longer in the set, once its last reader is done. */
  #closeUnread(opened: OpenSegment): void {
    if (opened.readers === 0) opened.file.then(closeQuietly, () => {})
  }
}

function rangeOf(payload: Buffer, range: ShardRange): Buffer {
  checkRange(range, payload.length)
  const { start, end } = range
  return start === 0 && end === payload.length ? payload : payload.subarray(start, end)
}
