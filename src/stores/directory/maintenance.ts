/** Everything that changes what already lies in a directory store. Under a post, each change goes through the fence of its number (`fence.ts`). */
import type { Batches } from '../batches/batches.ts'
import type { MarkerStorage } from '../batches/marker-storage.ts'
import {
  type CompactOptions,
  type CompactResult,
  type IsGone,
  type MaintenancePost,
  type ShardId,
  ShardMissing,
} from '../shard-store.ts'
import { parseBatchId } from './batch-ids.ts'
import type { StoreContext } from './context.ts'
import { fencedFs, takeFence } from './fence.ts'
import { LargeFileRemoval } from './large-files/large-file-removal.ts'
import type { LargeFiles } from './large-files/large-files.ts'
import { directoryMarkers } from './markers.ts'
import { Compaction } from './segments/compaction.ts'
import type { SegmentReads } from './segments/segment-reads.ts'
import { Segments } from './segments/segments.ts'
import { Tombstones } from './segments/tombstones.ts'
import { type FileAddress, parseShardId, type RecordAddress } from './shard-ids.ts'

/** Parts of the open store that maintenance uses, with or without a post. */
export interface MaintainedParts {
  batches: Batches
  reads: SegmentReads
  files: LargeFiles
}

export class Maintenance {
  readonly segments: Segments
  readonly #batches: Batches
  readonly #markers: MarkerStorage
  readonly #tombstones: Tombstones
  readonly #files: LargeFileRemoval
  readonly #compaction: Compaction

  constructor(context: StoreContext, { batches, reads, files }: MaintainedParts) {
    this.#batches = batches
    this.#markers = directoryMarkers(context)
    this.#tombstones = new Tombstones(context)
    this.segments = new Segments(context, this.#tombstones)
    this.#files = new LargeFileRemoval(context, (id) => files.forget(id))
    this.#compaction = new Compaction(context, {
      batches,
      tombstones: this.#tombstones,
      segments: this.segments,
      reads,
      fileBatches: () => files.batches(),
      files: this.#files,
    })
  }

  async delete(ids: readonly ShardId[]): Promise<void> {
    const addresses = ids.flatMap(addressOf)
    // Both must have ended before the call returns.
    const done = await Promise.allSettled([
      this.#tombstones.mark(addresses.filter((address) => address.kind === 'record')),
      this.#files.delete(addresses.filter((address) => address.kind === 'file')),
    ])
    for (const result of done) if (result.status === 'rejected') throw result.reason
  }

  async markChecked(batchId: string): Promise<void> {
    const batch = parseBatchId(batchId)
    if (batch === undefined) return
    const from = batch.kind === 'segment' ? this.segments : this.#files
    await this.#batches.markChecked(batchId, () => from.settle(batch.id), this.#markers)
  }

  closeAbandoned(isGone: IsGone): Promise<number> {
    return this.#batches.closeAbandoned(isGone, this.#markers)
  }

  compact(options: CompactOptions): Promise<CompactResult> {
    return this.#compaction.run(options)
  }
}

/** The maintenance of one open store, with and without a post. */
export class Maintainers {
  /** Maintenance without a post. */
  readonly plain: Maintenance
  readonly #context: StoreContext
  readonly #parts: MaintainedParts
  #newest: { post: MaintenancePost; name: string; maintenance: Maintenance } | undefined

  constructor(context: StoreContext, parts: MaintainedParts) {
    this.#context = context
    this.#parts = parts
    this.plain = new Maintenance(context, parts)
  }

  /** Takes the number of the post durably. Rejects with `StoreFenced`. */
  async under(post: MaintenancePost): Promise<Maintenance> {
    const name = await takeFence(this.#context, post)
    if (this.#newest?.post !== post || this.#newest.name !== name) {
      const context = { ...this.#context, fs: fencedFs(this.#context, post, name) }
      this.#newest = { post, name, maintenance: new Maintenance(context, this.#parts) }
    }
    return this.#newest.maintenance
  }
}

/** Empty for an id that this store cannot have made, because there is nothing to delete. */
function addressOf(id: ShardId): (RecordAddress | FileAddress)[] {
  try {
    return [parseShardId(id)]
  } catch (error) {
    if (error instanceof ShardMissing) return []
    throw error
  }
}
