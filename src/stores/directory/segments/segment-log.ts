/** Group commit of small shards: puts that arrive while a group is being written and synced make the next group. */
import { limits } from '../../../limits.ts'
import type { Batches } from '../../batches/batches.ts'
import type { ShardId } from '../../shard-store.ts'
import type { StoreContext } from '../context.ts'
import { storeFailure } from '../failures.ts'
import { SegmentFile } from './segment-file.ts'
import { roomOf, type UnfinishedRecord } from './segment-record.ts'

interface Waiting {
  record: UnfinishedRecord
  resolve: (id: ShardId) => void
  reject: (error: unknown) => void
}

export class SegmentLog {
  readonly #context: StoreContext
  readonly #batches: Batches
  #queue: Waiting[] = []
  #queuedBytes = 0
  #waitingForRoom: (() => void)[] = []
  #writing: Promise<void> | undefined
  #segment: SegmentFile | undefined
  /** The next segment, made in advance so that no group waits for it. */
  #next: Promise<SegmentFile> | undefined
  readonly #sealing = new Set<Promise<void>>()

  constructor(context: StoreContext, batches: Batches) {
    this.#context = context
    this.#batches = batches
  }

  /** Returns a promise while too much is queued. Await it before reading a payload into memory: this is the back pressure on clients. */
  room(): Promise<void> | void {
    if (this.#queuedBytes > this.#context.sizes.segmentQueueBytesMax) return this.#untilRoom()
  }

  async #untilRoom(): Promise<void> {
    while (this.#queuedBytes > this.#context.sizes.segmentQueueBytesMax) {
      await new Promise<void>((resolve) => this.#waitingForRoom.push(resolve))
    }
  }

  /** Resolves when the record's group is durable. Its bytes must not change before that. */
  append(record: UnfinishedRecord): Promise<ShardId> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ record, resolve, reject })
      this.#queuedBytes += record.totalBytes
      this.#writing ??= this.#writeGroups()
    })
  }

  /** Seals the segment when nothing was written to it since `beforeMs`, so that its orphans can be told from writes under way. */
  async sealIdle(beforeMs: number): Promise<void> {
    if (this.#writing === undefined && this.#segment !== undefined && this.#segment.lastWriteMs < beforeMs)
      this.#sealCurrent()
    await Promise.all(this.#sealing)
  }

  async close(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing
    this.#sealCurrent()
    const next = await this.#next?.catch(() => undefined)
    await next?.abandon()
    await Promise.all(this.#sealing)
  }

  async #writeGroups(): Promise<void> {
    while (this.#queue.length > 0) {
      let group: Waiting[] = []
      try {
        const segment = await this.#segmentWithRoom()
        group = this.#takeGroup(segment)
        const ids = await segment.append(group.map(({ record }) => record))
        for (const [index, { resolve }] of group.entries()) resolve(ids[index] ?? '')
        this.#makeNextAhead(segment)
      } catch (error) {
        this.#rejectAll(group.length > 0 ? group : this.#takeAll(), error)
        await this.#abandonCurrent()
      }
    }
    // Must happen in the turn that found the queue empty; a record appended before a later turn would wait for ever.
    this.#writing = undefined
  }

  async #segmentWithRoom(): Promise<SegmentFile> {
    const first = this.#queue[0]
    const full = first !== undefined && this.#segment?.hasRoomFor(roomOf(first.record)) === false
    if (full && this.#segment !== undefined && this.#segment.usedBytes > 0) this.#sealCurrent()
    if (this.#segment === undefined) {
      const made = this.#next ?? SegmentFile.create(this.#context, this.#batches)
      this.#next = undefined
      this.#segment = await made
      // Deleting what lies in segments needs some room.
      await this.#context.deleteRoom.keep()
    }
    return this.#segment
  }

  /** As many records as fit one group and the segment; at least one. Those that are written in place make groups of their own. */
  #takeGroup(segment: SegmentFile): Waiting[] {
    const isInPlace = ({ record }: Waiting): boolean => record.pages !== undefined
    const [first] = this.#queue
    const areInPlace = first !== undefined && isInPlace(first)
    let bytes = 0
    let isFull = false
    return this.#take((waiting) => {
      if (isFull || isInPlace(waiting) !== areInPlace) return false
      const total = bytes + roomOf(waiting.record)
      isFull = bytes > 0 && (total > limits.segmentGroupBytesMax || !segment.hasRoomFor(total))
      if (!isFull) bytes = total
      return !isFull
    })
  }

  #takeAll(): Waiting[] {
    return this.#take(() => true)
  }

  /** `isTaken` is asked of each in order. */
  #take(isTaken: (waiting: Waiting) => boolean): Waiting[] {
    const taken: Waiting[] = []
    const left: Waiting[] = []
    for (const waiting of this.#queue) (isTaken(waiting) ? taken : left).push(waiting)
    this.#queue = left
    for (const { record } of taken) this.#queuedBytes -= record.totalBytes
    const woken = this.#waitingForRoom
    this.#waitingForRoom = []
    for (const wake of woken) wake()
    return taken
  }

  #rejectAll(group: readonly Waiting[], error: unknown): void {
    const failure = storeFailure(error)
    for (const { reject } of group) reject(failure)
  }

  #sealCurrent(): void {
    const segment = this.#segment
    if (segment === undefined) return
    this.#segment = undefined
    const sealing = segment.seal().finally(() => this.#sealing.delete(sealing))
    this.#sealing.add(sealing)
  }

  async #abandonCurrent(): Promise<void> {
    const segment = this.#segment
    this.#segment = undefined
    await segment?.abandon()
  }

  #makeNextAhead(segment: SegmentFile): void {
    if (this.#next !== undefined || segment.usedBytes < this.#context.sizes.segmentBytesMax / 2) return
    const made = SegmentFile.create(this.#context, this.#batches)
    this.#next = made
    made.catch(() => {
      if (this.#next === made) this.#next = undefined
    })
  }
}
