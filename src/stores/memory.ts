/** Shards in memory, for tests and embedded servers: everything a store promises except that it outlives the process. */
import type { ByteSource } from '../byte-source.ts'
import { type Clock, randomId, systemClock } from '../clock.ts'
import { limits } from '../limits.ts'
import { checkedDescription, checkRange } from './shard-contract.ts'
import {
  type FoundShard,
  type ShardId,
  ShardMissing,
  type ShardRange,
  type ShardStore,
  StoreFull,
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
  /** Payload bytes that fit before `put` answers `StoreFull`. */
  bytesMax?: number
}

export function memoryShardStore({ clock = systemClock, bytesMax = Infinity }: MemoryStoreOptions = {}): ShardStore {
  const shards = new Map<ShardId, Kept>()
  const unchecked = new Map<string, Batch>()
  let made = 0
  let usedBytes = 0
  let closed = false
  let openBatch: [string, Batch] | undefined

  function addToBatch(id: ShardId): string {
    openBatch ??= [`batch-${made}`, { newestMs: 0, closed: false, shards: new Set() }]
    const [batchId, batch] = openBatch
    unchecked.set(batchId, batch)
    batch.shards.add(id)
    batch.newestMs = clock.now()
    if (batch.shards.size >= batchShardsMax) closeBatch()
    return batchId
  }

  function closeBatch(): void {
    if (openBatch !== undefined) openBatch[1].closed = true
    openBatch = undefined
  }

  function found(id: ShardId): FoundShard[] {
    const kept = shards.get(id)
    if (kept === undefined) return []
    return [{ id, description: Buffer.from(kept.description), payloadBytes: kept.payload.length }]
  }

  return {
    storeId: randomId(clock),

    async put({ payload, describe }) {
      if (closed) throw new Error('the store is closed')
      if (usedBytes + payload.size > bytesMax) {
        payload.cancel()
        throw new StoreFull(`memory store: ${bytesMax} bytes are in use`)
      }
      // Counted before the payload is awaited, so that writers side by side cannot overfill the store.
      usedBytes += payload.size
      try {
        const bytes = Buffer.from(await payload.read())
        if (bytes.length !== payload.size)
          throw new Error(`the payload has ${bytes.length} bytes in place of ${payload.size}`)
        const description = Buffer.from(checkedDescription(describe()))
        const id = `m.${made++}`
        shards.set(id, { batch: addToBatch(id), description, payload: bytes })
        return id
      } catch (error) {
        usedBytes -= payload.size
        throw error
      }
    },

    async get(id, range) {
      const kept = shards.get(id)
      if (kept === undefined) throw new ShardMissing(id)
      checkRange(range, kept.payload.length)
      return copyingSource(kept.payload, range)
    },

    async description(id) {
      const kept = shards.get(id)
      if (kept === undefined) throw new ShardMissing(id)
      return Buffer.from(kept.description)
    },

    async delete(ids) {
      for (const id of ids) {
        const kept = shards.get(id)
        if (kept === undefined) continue
        shards.delete(id)
        unchecked.get(kept.batch)?.shards.delete(id)
        usedBytes -= kept.payload.length
      }
    },

    async unchecked() {
      return [...unchecked].map(([id, { newestMs, closed }]) => ({ id, newestMs, closed }))
    },

    async *list(batchId) {
      const ids = batchId === undefined ? shards.keys() : (unchecked.get(batchId)?.shards ?? [])
      for (const id of [...ids]) yield* found(id)
    },

    async markChecked(batchId) {
      unchecked.delete(batchId)
    },

    /** Memory has no room to win back, but jobs expect that a batch ends some day: here it ends when compaction comes by. */
    async compact() {
      closeBatch()
      return { removedBatches: 0, movedShards: 0, freedBytes: 0 }
    },

    async check() {
      if (closed) throw new Error('the store is closed')
    },

    async usage() {
      return { usedBytes, freeBytes: Math.max(0, bytesMax - usedBytes) }
    },

    async close() {
      closed = true
      closeBatch()
    },
  }
}

/** Gives copies only: a reader that scribbles in its buffer must not change what is stored. */
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
