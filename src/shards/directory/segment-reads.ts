/** Reads small shards: one positional read of the whole record, through a bounded set of open segments. */
import { limits } from '../../limits.ts'
import type { FileHandle } from '../fs.ts'
import { ShardDamaged, type ShardId, ShardMissing } from '../shard-store.ts'
import { closeQuietly, type StoreContext } from './context.ts'
import { isMissing, storeFailure, unreadable } from './failures.ts'
import { recordMemory } from './record-memory.ts'
import { readDescription, readPayload } from './segment-record.ts'
import type { RecordAddress } from './shard-ids.ts'

interface OpenSegment {
  file: Promise<FileHandle>
  readers: number
  /** Used since the last sweep. */
  used: boolean
}

export class SegmentReads {
  readonly #context: StoreContext
  /** Least recently used first. */
  readonly #open = new Map<string, OpenSegment>()

  constructor(context: StoreContext) {
    this.#context = context
  }

  /** The verified payload. Errors: `ShardMissing`, `ShardDamaged`. */
  async payload(id: ShardId, address: RecordAddress): Promise<Buffer> {
    return checked(id, readPayload(await this.#record(id, address), address.segment, address.offset))
  }

  /** The verified description. Errors: `ShardMissing`, `ShardDamaged`. */
  async description(id: ShardId, address: RecordAddress): Promise<Buffer> {
    return checked(id, readDescription(await this.#record(id, address), address.segment, address.offset))
  }

  async #record(id: ShardId, { segment, offset, bytes }: RecordAddress): Promise<Buffer> {
    const record = recordMemory(bytes)
    const opened = this.#acquire(segment)
    try {
      const file = await opened.file
      if ((await file.read(record, offset)) < bytes)
        throw new ShardDamaged(id, 'the segment ends before the record does')
    } catch (error) {
      if (isMissing(error)) throw new ShardMissing(id)
      throw unreadable(id, storeFailure(error))
    } finally {
      this.#release(segment, opened)
    }
    return record
  }

  /** Lets go of segments that nobody read since the last sweep: a removed one takes its room until it is closed. */
  sweep(): void {
    for (const [segment, opened] of this.#open) {
      if (!opened.used) this.#evict(segment)
      opened.used = false
    }
  }

  close(): void {
    for (const segment of this.#open.keys()) this.#evict(segment)
  }

  /** Lets go of a segment that is about to be removed. */
  forget(segment: string): void {
    this.#evict(segment)
  }

  #acquire(segment: string): OpenSegment {
    const { fs, layout } = this.#context
    const opened = this.#open.get(segment) ?? { file: fs.open(layout.segment(segment), 'read'), readers: 0, used: true }
    opened.readers++
    opened.used = true
    this.#open.delete(segment)
    this.#open.set(segment, opened)
    if (this.#open.size > limits.segmentHandlesMax) {
      const oldest = this.#open.keys().next()
      if (oldest.done === false) this.#evict(oldest.value)
    }
    // A failed open is not remembered: the segment may yet be there for the next reader.
    opened.file.catch(() => {
      if (this.#open.get(segment) === opened) this.#open.delete(segment)
    })
    return opened
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

function checked(id: ShardId, read: Buffer | string): Buffer {
  if (typeof read === 'string') throw new ShardDamaged(id, read)
  return read
}
