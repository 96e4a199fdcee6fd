/** Opens a bucket of any S3-compatible endpoint as a shard store, each shard in an object of its own (ADR 0018). Wires the parts. */

import { ByteBudget } from '../../byte-budget.ts'
import { type ByteSource, bytesSource } from '../../byte-source.ts'
import { ChunkPool } from '../../chunk-pool.ts'
import { type Clock, timeOrderedId } from '../../clock.ts'
import { limits } from '../../limits.ts'
import { Batches, type LeftOpen } from '../batches/batches.ts'
import type { MarkerStorage } from '../batches/marker-storage.ts'
import { SharedBatch } from '../batches/shared-batch.ts'
import { checkedDescription, checkRange } from '../shard-contract.ts'
import {
  type CompactResult,
  type FoundShard,
  type IsGone,
  type MaintenancePost,
  type NewShard,
  ShardDamaged,
  type ShardId,
  ShardMissing,
  type ShardRange,
  type ShardStore,
  type StoreUsage,
  type UncheckedBatch,
} from '../shard-store.ts'
import type { Ownership } from '../store-claim.ts'
import { type HeldIdentity, openIdentity } from '../store-identity.ts'
import { type BucketAddress, openBucket, type ShardBucket } from './bucket.ts'
import { type BucketIdentity, bucketIdentity, takeNumber } from './identity.ts'
import { bucketMarkers } from './markers.ts'
import {
  batchPrefix,
  buildFooter,
  parseShardId,
  parseShardKey,
  type ShardName,
  shardId,
  shardKey,
  shardsPrefix,
} from './object-format.ts'
import { openShard, readDescription } from './object-reader.ts'
import { ObjectWriter, writerBytes } from './object-writer.ts'

const sweepMs = 30_000
const batchPattern = /^[0-9a-f]{32}$/

/** Shared by all stores of this process, because data is held in memory while it is sent. */
const writing = new ByteBudget(limits.remoteWriteBytesMax)
const chunks = new ChunkPool(limits.readChunkBytes)

export interface S3StoreOptions {
  address: BucketAddress
  clock: Clock
  /** Create a store if there is nothing yet. */
  create: boolean
  /** Who opens it. Absent: the owner is not checked. */
  ownership?: Ownership | undefined
  /** No other process has the store open yet, so everything marked as being written was left by processes that died. */
  firstOpener: boolean
  /** Who writes here: names the batches of this process, 32 hex digits. Absent: no other host uses the store. */
  member?: string | undefined
  /** From earlier openings by this process. */
  leftOpen?: LeftOpen | undefined
  /** Called with a problem that an operator should know, but that does not affect requests yet. */
  warn?: (message: string) => void
}

/** Rejects with `SdkMissing`, or with other errors when the store can't be reached or does not exist. */
export async function openS3Store(options: S3StoreOptions): Promise<ShardStore> {
  const { clock, create, ownership, firstOpener, member, leftOpen, warn = () => {} } = options
  const bucket = await openBucket(options.address)
  try {
    const identity = await openIdentity(bucketIdentity(bucket, clock), { create, ownership, warn })
    const storage = bucketMarkers(bucket)
    const batches = new Batches({ storage, clock, member, leftOpen, requireIdentity: () => identity.require() })
    if (firstOpener) await batches.closeAbandoned(() => true)
    return new S3Store({ bucket, batches, identity }, options)
  } catch (error) {
    bucket.close()
    throw error
  }
}

interface Parts {
  bucket: ShardBucket
  batches: Batches
  identity: HeldIdentity<BucketIdentity>
}

class S3Store implements ShardStore {
  readonly storeId: string
  readonly #bucket: ShardBucket
  readonly #batches: Batches
  readonly #batch: SharedBatch
  readonly #identity: HeldIdentity<BucketIdentity>
  readonly #clock: Clock
  readonly #warn: (message: string) => void
  readonly #sweeping: NodeJS.Timeout
  readonly #underWay = new Set<Promise<unknown>>()
  #closed = false

  constructor(parts: Parts, { clock, warn = () => {} }: S3StoreOptions) {
    this.storeId = parts.identity.storeId
    this.#bucket = parts.bucket
    this.#batches = parts.batches
    this.#identity = parts.identity
    const { batches } = parts
    this.#batch = new SharedBatch({ batches, clock, shardsMax: limits.batchFilesMax, batchIdOf: (id) => id })
    this.#clock = clock
    this.#warn = warn
    this.#sweeping = setInterval(() => void this.#endIdle(this.#clock.now() - limits.batchIdleMs), sweepMs).unref()
  }

  async put(shard: NewShard): Promise<ShardId> {
    try {
      const bytes = writerBytes(shard.payload.size)
      return await this.#change(() => writing.spend(bytes, () => this.#write(shard), limits.remoteWriteWaitMs))
    } catch (error) {
      shard.payload.cancel()
      throw error
    }
  }

  async get(id: ShardId, range: ShardRange): Promise<ByteSource> {
    const name = parseShardId(id)
    if (name === undefined) throw new ShardMissing(id)
    checkRange(range, name.payloadBytes)
    const source = await openShard(this.#bucket, name, range, chunks)
    return source.size > limits.smallShardBytesMax ? source : bytesSource(await source.readSoon())
  }

  async description(id: ShardId): Promise<Buffer> {
    const name = parseShardId(id)
    if (name === undefined) throw new ShardMissing(id)
    return readDescription(this.#bucket, name, chunks)
  }

  async delete(ids: readonly ShardId[], post?: MaintenancePost): Promise<void> {
    // For an id that this store cannot have made, there is nothing to delete.
    const keys = ids.flatMap((id) => parseShardId(id) ?? []).map(shardKey)
    await this.#change(async () => {
      await this.#takeNumber(post)
      await this.#bucket.delete(keys)
    })
  }

  unchecked(): Promise<UncheckedBatch[]> {
    return this.#batches.unchecked()
  }

  async *list(batchId?: string): AsyncGenerator<FoundShard> {
    if (batchId !== undefined && !batchPattern.test(batchId)) return
    const under = batchId === undefined ? shardsPrefix : batchPrefix(batchId)
    for await (const page of this.#bucket.pages(under)) {
      const names = page.flatMap(({ key }) => parseShardKey(key) ?? [])
      for (let at = 0; at < names.length; at += limits.remoteRequestsAtOnce) {
        const some = await Promise.all(
          names.slice(at, at + limits.remoteRequestsAtOnce).map((name) => this.#find(name)),
        )
        yield* some.flatMap((found) => found ?? [])
      }
    }
  }

  /** Also aborts multipart uploads that were never completed. */
  markChecked(batchId: string, post?: MaintenancePost): Promise<void> {
    const settle = async (): Promise<void> => {
      await this.#takeNumber(post)
      await this.#bucket.abortUploads(batchPrefix(batchId))
    }
    return this.#change(() => this.#batches.markChecked(batchId, settle, this.#markers(post)))
  }

  closeAbandoned(isGone: IsGone, post?: MaintenancePost): Promise<number> {
    return this.#change(async () => {
      await this.#takeNumber(post)
      return this.#batches.closeAbandoned(isGone, this.#markers(post))
    })
  }

  /** Does not free space: every shard is an object, so a delete frees its space at once. */
  async compact(_options: unknown, post?: MaintenancePost): Promise<CompactResult> {
    await this.#takeNumber(post)
    return { removedBatches: 0, movedShards: 0, freedBytes: 0 }
  }

  async check(): Promise<void> {
    try {
      await this.#identity.require()
    } catch (error) {
      this.#bucket.giveUp()
      throw error
    }
  }

  /** `usedBytes` is unknown when counting the objects would take too many requests. S3 does not report free space. */
  async usage(): Promise<StoreUsage> {
    let usedBytes = 0
    let pages = 0
    for await (const page of this.#bucket.pages(shardsPrefix)) {
      if (++pages > limits.remoteUsagePagesMax) return { usedBytes: undefined, freeBytes: undefined }
      for (const { bytes } of page) usedBytes += bytes
    }
    return { usedBytes, freeBytes: undefined }
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    clearInterval(this.#sweeping)
    await Promise.allSettled(this.#underWay)
    await this.#endIdle(Number.POSITIVE_INFINITY)
    this.#bucket.close()
  }

  async #write({ payload, describe }: NewShard): Promise<ShardId> {
    const { batch, release } = await this.#batch.reserve()
    const name = { batch, shard: timeOrderedId(this.#clock), payloadBytes: payload.size }
    const writer = new ObjectWriter(this.#bucket, name)
    try {
      await payload.drain((chunk) => writer.write(chunk))
      await writer.finish((seed) => buildFooter(checkedDescription(describe()), this.#clock.now(), seed))
      return shardId(name)
    } catch (error) {
      await writer.abort()
      throw error
    } finally {
      await release()
    }
  }

  /** `undefined` for a shard that is gone by now or damaged. */
  async #find(name: ShardName): Promise<FoundShard | undefined> {
    try {
      const description = await readDescription(this.#bucket, name, chunks)
      return { id: shardId(name), description, payloadBytes: name.payloadBytes }
    } catch (error) {
      if (!(error instanceof ShardDamaged)) throw error
      if (!(error instanceof ShardMissing)) this.#warn(error.message)
      return undefined
    }
  }

  /** Runs a write: refuses it once the store is closed. `close` waits for it. */
  async #change<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closed) throw new Error('the store is closed')
    const done = work()
    this.#underWay.add(done)
    try {
      return await done
    } finally {
      this.#underWay.delete(done)
    }
  }

  async #takeNumber(post: MaintenancePost | undefined): Promise<void> {
    if (post !== undefined) await takeNumber(this.#bucket, this.#identity, post)
  }

  #markers(post: MaintenancePost | undefined): MarkerStorage {
    return bucketMarkers(this.#bucket, () => this.#takeNumber(post))
  }

  /** Also closes batches whose closing has failed before. Never rejects. */
  async #endIdle(beforeMs: number): Promise<void> {
    try {
      await this.#batch.endIdle(beforeMs)
      await this.#batches.closeLeft()
    } catch (error) {
      this.#warn(`${this.#bucket.name}: an idle batch could not be ended yet: ${String(error)}`)
    }
  }
}
