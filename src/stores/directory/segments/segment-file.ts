/**
 * The one segment that a process appends to. Small groups of records go into room that was zero-filled and synced in advance, so that a group's
 * sync changes no file metadata; large ones extend the file, which costs less than to write their bytes twice. After a failed write or sync the file is
 * never written again.
 */
import { pageAligned } from '../../../chunk-pool.ts'
import { timeOrderedId } from '../../../clock.ts'
import { limits } from '../../../limits.ts'
import type { Batches } from '../../batches/batches.ts'
import type { FileHandle } from '../../fs.ts'
import type { ShardId } from '../../shard-store.ts'
import { alignUp, pageBytes } from '../alignment.ts'
import { batchIdOf } from '../batch-ids.ts'
import { closeQuietly, type StoreContext } from '../context.ts'
import { formatRecordId } from '../shard-ids.ts'
import { buildSeal, finishRecord, recordHeaderBytes, type UnfinishedRecord } from './segment-record.ts'

const asValue = (error: unknown): unknown => error

/** Grown in slices: a concurrent group's sync waits for one slice to reach the disk, not for a whole step. */
const sliceBytes = 1024 * 1024
/** Starts at a page boundary, so that it passes by the page cache: zeros that are overwritten soon would be copied there for nothing. */
let zeros: Buffer | undefined
const padding = Buffer.alloc(pageBytes)

export class SegmentFile {
  readonly id: string
  readonly batchId: string
  readonly #context: StoreContext
  readonly #batches: Batches
  readonly #file: FileHandle
  /** Grows the file through a descriptor of its own: the kernel reports a failed write-back once per descriptor, and no group may miss it. */
  readonly #growth: FileHandle
  #end = 0
  #records = 0
  #recordBytes = 0
  #lastWriteMs: number
  #prepared = 0
  #growing: Promise<void> | undefined
  #failure: { error: unknown } | undefined
  /** Where the buffers of a group are joined. */
  #group: Buffer | undefined

  private constructor(context: StoreContext, batches: Batches, id: string, file: FileHandle, growth: FileHandle) {
    this.id = id
    this.batchId = batchIdOf('segment', id)
    this.#context = context
    this.#batches = batches
    this.#file = file
    this.#growth = growth
    this.#lastWriteMs = context.clock.now()
  }

  /** Creates the marker before the file, so that no crash leaves a segment that the search for orphans would miss. */
  static async create(context: StoreContext, batches: Batches): Promise<SegmentFile> {
    const { fs, layout, directories, clock } = context
    const id = timeOrderedId(clock)
    await batches.open(batchIdOf('segment', id))
    const path = layout.segment(id)
    const opened: FileHandle[] = []
    try {
      opened.push(await fs.open(path, 'create-synced'))
      opened.push(await fs.open(path, 'write'))
      const [file, growth] = opened
      if (file === undefined || growth === undefined) throw new Error('the segment did not open')
      const segment = new SegmentFile(context, batches, id, file, growth)
      await segment.#grow()
      await directories.sync(layout.segments)
      return segment
    } catch (error) {
      await Promise.all(opened.map(closeQuietly))
      await fs.unlink(path).catch(() => {})
      await batches.drop(batchIdOf('segment', id)).catch(() => {})
      throw error
    }
  }

  get lastWriteMs(): number {
    return this.#lastWriteMs
  }

  get usedBytes(): number {
    return this.#end
  }

  /** Whether records of `bytes` bytes fit, together with the seal that ends the segment. */
  hasRoomFor(bytes: number): boolean {
    const sealEnd = alignUp(this.#nextStart() + bytes, pageBytes) + recordHeaderBytes
    return sealEnd <= this.#context.sizes.segmentBytesMax
  }

  /** One write for the whole group, which also syncs it. Either all records are written in place, or none. Each group starts on a page of its own, so that its write cannot tear what was acknowledged before. */
  async append(records: readonly UnfinishedRecord[]): Promise<ShardId[]> {
    const start = this.#nextStart()
    const writtenMs = this.#context.clock.now()
    const buffers: Buffer[] = []
    const ids: ShardId[] = []
    let [end, recordBytes] = [start, 0]
    for (const [index, record] of records.entries()) {
      const offset = record.pages === undefined ? end : alignUp(end, pageBytes) + record.pages.recordAt
      const position = {
        segment: this.id,
        offset,
        ordinal: this.#records + index,
        groupOrdinal: this.#records,
        writtenMs,
      }
      buffers.push(...finishRecord(record, position))
      ids.push(formatRecordId(this.id, offset, record.totalBytes))
      end = offset + record.totalBytes
      recordBytes += record.totalBytes
    }
    const wholeEnd = alignUp(end, pageBytes)
    const isInPlace = records.some(({ pages }) => pages !== undefined)
    // Whole pages are never read from the disk to be completed.
    if (wholeEnd > end && !isInPlace) buffers.push(padding.subarray(0, wholeEnd - end))
    const isLarge = wholeEnd - start >= this.#context.sizes.unpreparedGroupBytesMin
    try {
      this.#assertSound()
      // The zeros of a growth under way would land on the records.
      if (isLarge) await this.#growing
      else await this.#prepare(wholeEnd)
      const placed = this.#placeFault()
      await this.#file.write(isInPlace ? buffers : this.#joined(buffers, wholeEnd - start), start)
      this.#extendedTo(wholeEnd)
      const fault = await placed
      if (fault !== undefined) throw fault
    } catch (error) {
      this.#failure ??= { error }
    }
    this.#assertSound()
    this.#recordBytes += recordBytes
    this.#end = end
    this.#records += records.length
    this.#lastWriteMs = writtenMs
    this.#batches.wroteTo(this.batchId)
    if (!isLarge) this.#growAhead()
    return ids
  }

  /** Joins a group of small records into one buffer: passing hundreds of buffers to the system costs more than copying them. */
  #joined(buffers: readonly Buffer[], bytes: number): readonly Buffer[] {
    if (bytes > limits.segmentGroupJoinedBytesMax) return buffers
    this.#group ??= Buffer.allocUnsafeSlow(limits.segmentGroupJoinedBytesMax)
    let at = 0
    for (const buffer of buffers) {
      this.#group.set(buffer, at)
      at += buffer.length
    }
    return [this.#group.subarray(0, bytes)]
  }

  /** Ends the segment: writes the seal, cuts off unused room, and closes the batch. Its records are safe even if this fails. */
  async seal(): Promise<void> {
    try {
      await this.#growing
      this.#assertSound()
      const offset = this.#nextStart()
      const position = {
        segment: this.id,
        offset,
        ordinal: this.#records,
        groupOrdinal: this.#records,
        writtenMs: this.#lastWriteMs,
      }
      await this.#file.write([buildSeal(position, this.#recordBytes)], offset)
      await this.#file.truncate(offset + recordHeaderBytes)
      await this.#file.datasync()
    } catch (error) {
      this.#context.warn(`segment ${this.id} could not be sealed: ${String(error)}`)
    }
    await this.#letGo()
  }

  /** Gives up a segment after a failed group. What was acknowledged before stays readable. */
  async abandon(): Promise<void> {
    await this.#growing?.catch(() => {})
    await this.#letGo()
    if (this.#records > 0) return
    const { fs, layout } = this.#context
    await fs
      .unlink(layout.segment(this.id))
      .then(() => this.#batches.drop(this.batchId))
      .catch(() => {})
  }

  async #letGo(): Promise<void> {
    await Promise.all([closeQuietly(this.#file), closeQuietly(this.#growth)])
    await this.#batches.close(this.batchId)
  }

  /**
   * The error if the segment is no longer at its path: a moved or unmounted directory still takes bytes through open descriptors, and they would be lost. The file's name is unique.
   * Where other hosts use the store, looks at the marker of the batch instead: it also goes when the maintainer has taken this process for gone and closed the batch.
   */
  #placeFault(): unknown {
    const { fs, layout, isLocal } = this.#context
    const path = this.#batches.areOwned ? layout.marker(this.#batches.markerOf(this.batchId)) : layout.segment(this.id)
    if (!isLocal) return fs.stat(path).then(() => undefined, asValue)
    try {
      fs.requireThereNow(path)
      return undefined
    } catch (error) {
      return error
    }
  }

  #assertSound(): void {
    if (this.#failure !== undefined) throw this.#failure.error
  }

  #nextStart(): number {
    return alignUp(this.#end, pageBytes)
  }

  #extendedTo(end: number): void {
    if (end <= this.#prepared) return
    this.#context.freeSpace.wrote(end - this.#prepared)
    this.#prepared = end
  }

  async #prepare(upTo: number): Promise<void> {
    while (this.#prepared < upTo) await this.#startGrowing()
  }

  /** Keeps half a step of room ahead of the writer. */
  #growAhead(): void {
    const { segmentGrowBytes, segmentBytesMax } = this.#context.sizes
    if (this.#prepared >= segmentBytesMax || this.#prepared - this.#end >= segmentGrowBytes / 2) return
    this.#startGrowing().catch(() => {})
  }

  #startGrowing(): Promise<void> {
    this.#growing ??= this.#grow()
      .catch((error) => {
        this.#failure ??= { error }
        throw error
      })
      .finally(() => {
        this.#growing = undefined
      })
    return this.#growing
  }

  async #grow(): Promise<void> {
    const { segmentGrowBytes, segmentBytesMax } = this.#context.sizes
    const upTo = Math.min(this.#prepared + segmentGrowBytes, segmentBytesMax)
    zeros ??= pageAligned(sliceBytes)
    while (this.#prepared < upTo) {
      const bytes = Math.min(sliceBytes, upTo - this.#prepared)
      await this.#growth.write([zeros.subarray(0, bytes)], this.#prepared)
      await this.#growth.datasync()
      this.#prepared += bytes
      this.#context.freeSpace.wrote(bytes)
    }
  }
}
