/**
 * Groups the shards that this process writes, and keeps markers of batches whose shards have not been checked for references yet: `pending/<batch>.open` while the process can
 * still add to the batch, then `.closed-<ms>`. They limit the search for orphans to recent writes instead of all stored data.
 */
import { type Clock, timeOrderedId } from '../../clock.ts'
import { limits } from '../../limits.ts'
import type { UncheckedBatch } from '../shard-store.ts'
import type { ShardBucket } from './bucket.ts'
import { batchPrefix } from './object-format.ts'

const pendingPrefix = 'pending/'
const markerPattern = /^pending\/([0-9a-f]{32})\.(?:open|closed-([0-9a-z]{1,11}))$/
const batchPattern = /^[0-9a-f]{32}$/

interface OpenBatch {
  id: string
  named: number
  writers: number
  full: boolean
  newestMs: number
}

interface Marker {
  key: string
  batch: string
  /** When the last shard was written; `undefined` while the batch is open. */
  closedMs: number | undefined
}

/** Batches without a writer whose markers could not be closed yet, each with the time of its last shard. Outlives the store, not the process. */
export type LeftOpen = Map<string, number>

/** One shard's share of a batch. */
export interface Reservation {
  batch: string
  /** Call once, when the shard is durable or gone. */
  release(): Promise<void>
}

export class Batches {
  readonly #bucket: ShardBucket
  readonly #clock: Clock
  readonly #leftOpen: LeftOpen
  readonly #requireIdentity: () => Promise<void>
  readonly #open = new Map<string, OpenBatch>()
  #current: OpenBatch | undefined
  #opening: Promise<void> | undefined

  constructor(bucket: ShardBucket, clock: Clock, leftOpen: LeftOpen, requireIdentity: () => Promise<void>) {
    this.#bucket = bucket
    this.#clock = clock
    this.#leftOpen = leftOpen
    this.#requireIdentity = requireIdentity
  }

  async reserve(): Promise<Reservation> {
    while (this.#current === undefined) {
      this.#opening ??= this.#begin().finally(() => {
        this.#opening = undefined
      })
      // Other writers that waited may have filled it before this one looks again.
      await this.#opening
    }
    // Nothing may be awaited between finding room and taking it.
    const batch = this.#current
    batch.named++
    batch.writers++
    if (batch.named >= limits.batchFilesMax) this.#end(batch)
    return {
      batch: batch.id,
      release: async () => {
        batch.writers--
        batch.newestMs = this.#clock.now()
        await this.#closeWhenDone(batch)
      },
    }
  }

  async unchecked(): Promise<UncheckedBatch[]> {
    const found = new Map<string, UncheckedBatch>()
    for await (const { batch, closedMs } of this.#markers()) {
      // A crash can leave both markers. The batch is closed then.
      if (closedMs === undefined && found.has(batch)) continue
      const newestMs = closedMs ?? this.#open.get(batch)?.newestMs ?? this.#clock.now()
      found.set(batch, { id: batch, newestMs, closed: closedMs !== undefined })
    }
    return [...found.values()].sort((a, b) => (a.id < b.id ? -1 : 1))
  }

  /** Also aborts incomplete uploads, because the batch is never searched again. */
  async markChecked(batch: string): Promise<void> {
    const markers: string[] = []
    let isClosed = false
    for await (const marker of this.#markers()) {
      if (marker.batch !== batch) continue
      markers.push(marker.key)
      isClosed ||= marker.closedMs !== undefined
    }
    if (markers.length === 0) return
    if (!isClosed) throw new Error(`batch ${batch} is still being written`)
    await this.#bucket.abortUploads(batchPrefix(batch))
    await this.#bucket.delete(markers)
  }

  /** Closes the batches that dead processes left open, as of now: their shards are older. */
  async closeAbandoned(): Promise<void> {
    for await (const { batch, closedMs } of this.#markers()) {
      if (closedMs === undefined && !this.#open.has(batch)) await this.#close(batch, this.#clock.now())
    }
  }

  /** Ends the batch when nothing was written to it since `beforeMs`. Also closes batches whose closing has failed before. */
  async endIdle(beforeMs: number): Promise<void> {
    const batch = this.#current
    if (batch !== undefined && batch.writers === 0 && batch.newestMs < beforeMs) {
      this.#end(batch)
      await this.#closeWhenDone(batch)
    }
    for (const [id, newestMs] of [...this.#leftOpen]) await this.#close(id, newestMs)
  }

  /** Writes the marker first, so that no crash leaves a shard that the search for orphans would miss. */
  async #begin(): Promise<void> {
    const id = timeOrderedId(this.#clock)
    // The endpoint may hold another store by now. No batch must begin there.
    await this.#requireIdentity()
    await this.#bucket.put(openMarker(id), Buffer.alloc(0))
    const batch = { id, named: 0, writers: 0, full: false, newestMs: this.#clock.now() }
    this.#open.set(id, batch)
    this.#current = batch
  }

  #end(batch: OpenBatch): void {
    batch.full = true
    if (this.#current === batch) this.#current = undefined
  }

  async #closeWhenDone(batch: OpenBatch): Promise<void> {
    if (!batch.full || batch.writers > 0) return
    this.#open.delete(batch.id)
    this.#leftOpen.set(batch.id, batch.newestMs)
    // The next check of the store tries again.
    await this.#close(batch.id, batch.newestMs).catch(() => {})
  }

  async #close(batch: string, newestMs: number): Promise<void> {
    const marker = `${pendingPrefix}${batch}.closed-${newestMs.toString(36)}`
    await this.#bucket.put(marker, Buffer.alloc(0), limits.remoteProbeMs)
    await this.#bucket.delete([openMarker(batch)])
    this.#leftOpen.delete(batch)
  }

  async *#markers(): AsyncGenerator<Marker> {
    for await (const { key } of this.#bucket.list(pendingPrefix)) {
      const [, batch, closed] = markerPattern.exec(key) ?? []
      if (batch === undefined) continue
      yield { key, batch, closedMs: closed === undefined ? undefined : Number.parseInt(closed, 36) }
    }
  }
}

export function isBatchId(batch: string): boolean {
  return batchPattern.test(batch)
}

function openMarker(batch: string): string {
  return `${pendingPrefix}${batch}.open`
}
