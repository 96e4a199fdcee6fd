/** Shards in memory, for tests and embedded servers. Keeps every promise of a store, except that its data does not outlive the process. */
import type { ByteSource } from '../byte-source.ts'
import { type Clock, randomId, systemClock } from '../clock.ts'
import { limits } from '../limits.ts'
import { requireHeld, tookOver } from './post.ts'
import { checkedDescription, checkRange } from './shard-contract.ts'
import {
  type CompactResult,
  type FoundShard,
  type MaintenancePost,
  type NewShard,
  type ShardId,
  ShardMissing,
  type ShardRange,
  type ShardStore,
  StoreFull,
  type StoreUsage,
  type UncheckedBatch,
} from './shard-store.ts'

const batchShardsMax = 1024

interface Kept {
  batch: string
  description: Buffer
  payload: Buffer
}

interface Batch {
  newestMs: number
  closed: boolean
  shards: Set<ShardId>
}

export interface MemoryStoreOptions {
  clock?: Clock
  /** Payload bytes that fit before `put` rejects with `StoreFull`. */
  bytesMax?: number
}

export function memoryShardStore(options: MemoryStoreOptions = {}): ShardStore {
  return new MemoryStore(options)
}

class MemoryStore implements ShardStore {
  readonly storeId: string
  readonly #clock: Clock
  readonly #bytesMax: number
  readonly #shards = new Map<ShardId, Kept>()
  readonly #unchecked = new Map<string, Batch>()
  #openBatch: [string, Batch] | undefined
  #made = 0
  #usedBytes = 0
  #closed = false
  /** The greatest number of a post under which it was maintained. */
  #maintainer = 0

  constructor({ clock = systemClock, bytesMax = Infinity }: MemoryStoreOptions) {
    this.storeId = randomId(clock)
    this.#clock = clock
    this.#bytesMax = bytesMax
  }

  async put({ payload, describe }: NewShard): Promise<ShardId> {
    this.#assertOpen()
    if (this.#usedBytes + payload.size > this.#bytesMax) {
      payload.cancel()
      throw new StoreFull(`memory store: ${this.#bytesMax} bytes are in use`)
    }
    // Counted before the payload is awaited, so that concurrent writers cannot overfill the store.
    this.#usedBytes += payload.size
    try {
      const bytes = Buffer.from(await payload.read())
      if (bytes.length !== payload.size)
        throw new Error(`the payload has ${bytes.length} bytes in place of ${payload.size}`)
      const description = Buffer.from(checkedDescription(describe()))
      const id = `m.${this.#made++}`
      this.#shards.set(id, { batch: this.#addToBatch(id), description, payload: bytes })
      return id
    } catch (error) {
      this.#usedBytes -= payload.size
      throw error
    }
  }

  async get(id: ShardId, range: ShardRange): Promise<ByteSource> {
    const { payload } = this.#kept(id)
    checkRange(range, payload.length)
    return copyingSource(payload, range)
  }

  async description(id: ShardId): Promise<Buffer> {
    return Buffer.from(this.#kept(id).description)
  }

  async delete(ids: readonly ShardId[], post?: MaintenancePost): Promise<void> {
    this.#requirePost(post)
    for (const id of ids) {
      const kept = this.#shards.get(id)
      if (kept === undefined) continue
      this.#shards.delete(id)
      this.#unchecked.get(kept.batch)?.shards.delete(id)
      this.#usedBytes -= kept.payload.length
    }
  }

  async unchecked(): Promise<UncheckedBatch[]> {
    return [...this.#unchecked].map(([id, { newestMs, closed }]) => ({ id, newestMs, closed }))
  }

  async *list(batchId?: string): AsyncGenerator<FoundShard> {
    const ids = batchId === undefined ? this.#shards.keys() : (this.#unchecked.get(batchId)?.shards ?? [])
    for (const id of [...ids]) {
      const kept = this.#shards.get(id)
      if (kept === undefined) continue
      yield { id, description: Buffer.from(kept.description), payloadBytes: kept.payload.length }
    }
  }

  async markChecked(batchId: string, post?: MaintenancePost): Promise<void> {
    this.#requirePost(post)
    this.#unchecked.delete(batchId)
  }

  /** Closes none, because all batches are this process's own. */
  async closeAbandoned(_isGone: unknown, post?: MaintenancePost): Promise<number> {
    this.#requirePost(post)
    return 0
  }

  /** Memory has no space to free, but jobs expect every batch to close some time. Here it closes at the next compaction. */
  async compact(_options: unknown, post?: MaintenancePost): Promise<CompactResult> {
    this.#requirePost(post)
    this.#closeBatch()
    return { removedBatches: 0, movedShards: 0, freedBytes: 0 }
  }

  async check(): Promise<void> {
    this.#assertOpen()
  }

  async usage(): Promise<StoreUsage> {
    return { usedBytes: this.#usedBytes, freeBytes: Math.max(0, this.#bytesMax - this.#usedBytes) }
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#closeBatch()
  }

  #requirePost(post: MaintenancePost | undefined): void {
    if (post === undefined) return
    requireHeld(post)
    if (post.number < this.#maintainer) throw tookOver(post, this.#maintainer)
    this.#maintainer = post.number
  }

  #assertOpen(): void {
    if (this.#closed) throw new Error('the store is closed')
  }

  #kept(id: ShardId): Kept {
    const kept = this.#shards.get(id)
    if (kept === undefined) throw new ShardMissing(id)
    return kept
  }

  /** Returns the id of the batch. */
  #addToBatch(id: ShardId): string {
    this.#openBatch ??= [`batch-${this.#made}`, { newestMs: 0, closed: false, shards: new Set() }]
    const [batchId, batch] = this.#openBatch
    this.#unchecked.set(batchId, batch)
    batch.shards.add(id)
    batch.newestMs = this.#clock.now()
    if (batch.shards.size >= batchShardsMax) this.#closeBatch()
    return batchId
  }

  #closeBatch(): void {
    if (this.#openBatch !== undefined) this.#openBatch[1].closed = true
    this.#openBatch = undefined
  }
}

/** Gives out copies only: a reader that writes to its buffer must not change what is stored. */
function copyingSource(stored: Buffer, { start, end }: ShardRange): ByteSource {
  let cancelled = false
  return {
    size: end - start,
    async drain(sink) {
      for (let at = start; at < end; at += limits.readChunkBytes) {
        if (cancelled) throw new Error('the read was cancelled')
        await sink(Buffer.from(stored.subarray(at, Math.min(at + limits.readChunkBytes, end))))
      }
    },
    read: async () => Buffer.from(stored.subarray(start, end)),
    cancel: () => {
      cancelled = true
    },
  }
}
