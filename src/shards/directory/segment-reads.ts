/** Reads small shards: one positional read of the whole record, through a bounded set of open segments. */
import { limits } from '../../limits.ts'
import { ShardDamaged, type ShardId, ShardMissing } from '../shard-store.ts'
import type { StoreContext } from './context.ts'
import { isMissing, storeFailure, unreadable } from './failures.ts'
import { type Learned, OpenFiles } from './open-files.ts'
import { readDescription, readPayload } from './segment-record.ts'
import type { RecordAddress } from './shard-ids.ts'

const nothing: Learned = { bytes: 0 }
const learnNothing = async (): Promise<Learned> => nothing

export class SegmentReads {
  readonly #context: StoreContext
  readonly #open: OpenFiles<Learned>

  constructor(context: StoreContext) {
    this.#context = context
    this.#open = new OpenFiles(context.fs, { filesMax: limits.segmentHandlesMax, learnedBytesMax: 0 })
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
    const record = Buffer.allocUnsafe(bytes)
    const lease = this.#open.acquire(segment, this.#context.layout.segment(segment), learnNothing)
    try {
      const { file } = await lease.opened
      if ((await file.read(record, offset)) < bytes)
        throw new ShardDamaged(id, 'the segment ends before the record does')
    } catch (error) {
      if (isMissing(error)) throw new ShardMissing(id)
      throw unreadable(id, storeFailure(error))
    } finally {
      lease.release()
    }
    return record
  }

  /** Lets go of segments that nobody read since the last sweep: a removed one takes its room until it is closed. */
  sweep(): void {
    this.#open.sweep()
  }

  close(): void {
    this.#open.close()
  }

  /** Lets go of a segment that is about to be removed. */
  forget(segment: string): void {
    this.#open.forget(segment)
  }
}

function checked(id: ShardId, read: Buffer | string): Buffer {
  if (typeof read === 'string') throw new ShardDamaged(id, read)
  return read
}
