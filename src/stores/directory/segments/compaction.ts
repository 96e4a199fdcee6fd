/**
 * Frees space in closed and checked batches. A crash at any point is safe: live records are moved before their segment is removed, and a segment is
 * removed before its tombstones.
 */
import { limits } from '../../../limits.ts'
import type { Batches } from '../../batches/batches.ts'
import { type CompactOptions, type CompactResult, ShardDamaged } from '../../shard-store.ts'
import { batchIdOf } from '../batch-ids.ts'
import type { StoreContext } from '../context.ts'
import { unlessMissing } from '../failures.ts'
import type { LargeFileRemoval } from '../large-files/large-file-removal.ts'
import { formatRecordId, type RecordAddress } from '../shard-ids.ts'
import type { SegmentReads } from './segment-reads.ts'
import type { WalkedRecord } from './segment-walk.ts'
import type { SegmentSummary, Segments } from './segments.ts'
import type { Tombstones } from './tombstones.ts'

export interface CompactedParts {
  batches: Batches
  segments: Segments
  tombstones: Tombstones
  reads: SegmentReads
  /** Directories of large files. */
  fileBatches(): Promise<string[]>
  files: LargeFileRemoval
}

/** A segment in which nothing is needed any more. */
interface Emptied {
  segment: string
  movedShards: number
  freedBytes: number
}

export class Compaction {
  readonly #context: StoreContext
  readonly #parts: CompactedParts
  /** Summaries of closed segments, which never change. Only hints which ones to look into: what is removed was walked before. */
  readonly #summaries = new Map<string, SegmentSummary>()
  readonly #quarantined = new Set<string>()

  constructor(context: StoreContext, parts: CompactedParts) {
    this.#context = context
    this.#parts = parts
  }

  async run({ graceMs, move }: CompactOptions): Promise<CompactResult> {
    const { batches, segments, fileBatches } = this.#parts
    // Before the markers: another process marks a batch before it makes it, so one that it opens from now on is either marked or not listed.
    const [segmentNames, fileBatchNames] = [await segments.names(), await fileBatches()]
    const unchecked = new Set((await batches.unchecked()).map(({ id }) => id))
    await this.#dropOrphanedTombstones()
    const emptied: Emptied[] = []
    for (const segment of await this.#candidates(segmentNames, unchecked, graceMs)) {
      const result = await this.#empty(segment, move)
      if (result !== undefined) emptied.push(result)
    }
    await this.#remove(emptied)
    return {
      removedBatches: emptied.length + (await this.#removeEmptyFileBatches(fileBatchNames, unchecked)),
      movedShards: emptied.reduce((sum, { movedShards }) => sum + movedShards, 0),
      freedBytes: emptied.reduce((sum, { freedBytes }) => sum + freedBytes, 0),
    }
  }

  /** Mostly dead segments, and small ones (which restarts leave) when there are several to merge. */
  async #candidates(names: readonly string[], unchecked: ReadonlySet<string>, graceMs: number): Promise<string[]> {
    const someDead = new Set(await this.#parts.tombstones.segments())
    const mostlyDead: string[] = []
    const small: string[] = []
    // Another process may have removed some.
    const present = new Set(names)
    for (const segment of this.#summaries.keys()) if (!present.has(segment)) this.#summaries.delete(segment)
    for (const segment of names) {
      if (unchecked.has(batchIdOf('segment', segment)) || this.#quarantined.has(segment)) continue
      const bytes = await this.#fileBytes(segment)
      const isSmall = bytes < this.#context.sizes.segmentBytesMax / 4
      if (!isSmall && !someDead.has(segment)) continue
      const summary = await this.#summary(segment)
      if (summary === undefined || this.#context.clock.now() - summary.newestMs < graceMs) continue
      if (await this.#isMostlyDead(segment, summary)) mostlyDead.push(segment)
      else if (isSmall) small.push(segment)
    }
    return small.length < limits.mergeSegmentsMin ? mostlyDead : [...mostlyDead, ...small]
  }

  async #fileBytes(segment: string): Promise<number> {
    const { fs, layout } = this.#context
    const known = this.#summaries.get(segment)
    return known?.fileBytes ?? (await unlessMissing(fs.stat(layout.segment(segment))))?.size ?? 0
  }

  /** `undefined` for a segment that is gone, or that is damaged and therefore stays. */
  async #summary(segment: string): Promise<SegmentSummary | undefined> {
    const summary = this.#summaries.get(segment) ?? (await this.#parts.segments.summary(segment))
    if (summary === undefined) return undefined
    this.#summaries.set(segment, summary)
    if (!summary.damaged) return summary
    this.#quarantine(segment)
    return undefined
  }

  async #isMostlyDead(segment: string, { recordBytes }: SegmentSummary): Promise<boolean> {
    let liveBytes = recordBytes
    for (const bytes of (await this.#parts.tombstones.read(segment)).values()) liveBytes -= bytes
    return liveBytes <= 0 || liveBytes < limits.compactBelowLiveRatio * recordBytes
  }

  /** Moves every live shard away. Resolves with true only when all were moved and the whole segment could be read. */
  async #empty(segment: string, move: CompactOptions['move']): Promise<Emptied | undefined> {
    const { segments, tombstones } = this.#parts
    const dead = await tombstones.read(segment)
    const walk = await segments.walk(segment)
    if (walk === undefined) return undefined
    const moved: RecordAddress[] = []
    let kept = 0
    let isEmptied = false
    try {
      await forEachOf(walk.records(), async (record) => {
        if (dead.has(record.offset)) return
        if (await this.#move(segment, record, move)) {
          moved.push({ kind: 'record', segment, offset: record.offset, bytes: record.totalBytes })
        } else kept++
      })
      if (walk.damaged) this.#quarantine(segment)
      isEmptied = kept === 0 && !walk.damaged
    } finally {
      await walk.close()
      // Records that were moved but stay behind must not be moved again: nothing refers to them any more.
      if (!isEmptied) await tombstones.mark(moved)
    }
    if (!isEmptied) return undefined
    const movedBytes = moved.reduce((sum, { bytes }) => sum + bytes, 0)
    return { segment, movedShards: moved.length, freedBytes: (await this.#fileBytes(segment)) - movedBytes }
  }

  /** One damaged shard must not keep the others from being moved. */
  async #move(segment: string, record: WalkedRecord, move: CompactOptions['move']): Promise<boolean> {
    const { offset, totalBytes, description, payloadBytes } = record
    try {
      return await move({ id: formatRecordId(segment, offset, totalBytes), description, payloadBytes })
    } catch (error) {
      if (!(error instanceof ShardDamaged)) throw error
      this.#quarantine(segment)
      return false
    }
  }

  async #remove(emptied: readonly Emptied[]): Promise<void> {
    if (emptied.length === 0) return
    const { fs, layout, directories } = this.#context
    for (const { segment } of emptied) {
      this.#summaries.delete(segment)
      this.#parts.reads.forget(segment)
      await unlessMissing(fs.unlink(layout.segment(segment)))
    }
    await directories.sync(layout.segments)
    for (const { segment } of emptied) await this.#parts.tombstones.drop(segment)
  }

  /** Removes tombstones that a crash left after the removal of their segment. */
  async #dropOrphanedTombstones(): Promise<void> {
    const { segments, tombstones } = this.#parts
    const present = new Set(await segments.names())
    const orphaned = (await tombstones.segments()).filter((segment) => !present.has(segment))
    if (orphaned.length === 0) return
    // The removal itself may not be durable yet.
    await this.#context.directories.sync(this.#context.layout.segments)
    for (const segment of orphaned) await tombstones.drop(segment)
  }

  async #removeEmptyFileBatches(names: readonly string[], unchecked: ReadonlySet<string>): Promise<number> {
    let removed = 0
    for (const batch of names) {
      if (!unchecked.has(batchIdOf('files', batch)) && (await this.#parts.files.removeEmpty(batch))) removed++
    }
    return removed
  }

  #quarantine(segment: string): void {
    if (this.#quarantined.has(segment)) return
    this.#quarantined.add(segment)
    this.#context.warn(`segment ${segment} has records that cannot be read; it is kept as it is`)
  }
}

/** Runs `work` on the records, a few at a time. After a failure no more are started, and those under way have ended when it rejects. */
async function forEachOf(
  records: AsyncIterable<WalkedRecord>,
  work: (record: WalkedRecord) => Promise<void>,
): Promise<void> {
  const running = new Set<Promise<void>>()
  let bytes = 0
  let failure: { error: unknown } | undefined
  let ended = (): void => {}
  for await (const record of records) {
    bytes += record.totalBytes
    const run = work(record)
      .catch((error) => {
        failure ??= { error }
      })
      .finally(() => {
        running.delete(run)
        bytes -= record.totalBytes
        ended()
      })
    running.add(run)
    while (running.size >= limits.compactMovesInFlightMax || bytes >= limits.compactMoveBytesMax) {
      await new Promise<void>((resolve) => {
        ended = resolve
      })
    }
    if (failure !== undefined) break
  }
  await Promise.all(running)
  if (failure !== undefined) throw failure.error
}
