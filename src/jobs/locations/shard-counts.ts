/**
 * Counts how many shards each location has in each store, by walking what the metadata references, in the background. Writes keep no totals (see `bucket-usage.ts`).
 * Each process that is asked counts for itself. Garbage is not counted: no record references it any more.
 */
import { bytesOfShards } from '../../blobs/blobs.ts'
import type { Backend } from '../../commits/backend.ts'
import { limits } from '../../limits.ts'
import { everyReference } from '../blob-reference.ts'
import { unhurried } from '../unhurried.ts'

export interface ShardCount {
  shards: number
  /** As the metadata says: without the headers and checksums that the store keeps with them. */
  bytes: number
}

/** Of all stores, as counted at one time. */
export interface CountedShards {
  /** `storeId`: the store's identity. A store that has replaced another has one of its own. */
  of(location: string, storeId: string): ShardCount
  measuredMs: number
}

const none: ShardCount = { shards: 0, bytes: 0 }

export class ShardCounts {
  readonly #backend: Pick<Backend, 'kv' | 'clock'>
  readonly #stopping = new AbortController()
  #counted: CountedShards | undefined
  #counting: Promise<void> | undefined
  /** When the next count may begin, on a monotonic clock: a count that takes long is seldom repeated. */
  #dueMs = 0

  constructor(backend: Pick<Backend, 'kv' | 'clock'>) {
    this.#backend = backend
  }

  /** What is known. Begins to count when that is old. `undefined`: nothing was counted yet. */
  known(): CountedShards | undefined {
    if (performance.now() >= this.#dueMs) this.#counting ??= this.#count()
    return this.#counted
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#counting
  }

  /** Never rejects. */
  async #count(): Promise<void> {
    const beganMs = performance.now()
    try {
      this.#counted = await this.#walk()
    } catch {
      // The next count tries again. A scrub reports damaged records, and an engine that fails for good ends the process by itself.
    }
    const tookMs = performance.now() - beganMs
    this.#dueMs = performance.now() + Math.max(limits.shardCountAgeMsMin, tookMs * limits.shardCountAgeTimes)
    this.#counting = undefined
  }

  async #walk(): Promise<CountedShards> {
    const { kv, clock } = this.#backend
    const byLocation = new Map<string, Map<string, ShardCount>>()
    for await (const { manifest } of everyReference(unhurried(kv, this.#stopping.signal))) {
      const stores = byLocation.get(manifest.location) ?? new Map<string, ShardCount>()
      byLocation.set(manifest.location, stores)
      const bytes = bytesOfShards(manifest)
      for (const { storeId } of manifest.shards) {
        const before = stores.get(storeId) ?? none
        stores.set(storeId, { shards: before.shards + 1, bytes: before.bytes + bytes })
      }
    }
    return { of: (location, storeId) => byLocation.get(location)?.get(storeId) ?? none, measuredMs: clock.now() }
  }
}
