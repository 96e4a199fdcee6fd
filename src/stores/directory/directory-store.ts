/** Opens a directory as a shard store: small shards in segments, large ones in files of their own (ADR 0003). Wires the parts. */
import { resolve } from 'node:path'
import type { ByteSource } from '../../byte-source.ts'
import { ChunkPool } from '../../chunk-pool.ts'
import type { Clock } from '../../clock.ts'
import { limits } from '../../limits.ts'
import { copyToShared } from '../../shared-copy.ts'
import { Batches, type LeftOpen } from '../batches/batches.ts'
import type { Fs } from '../fs.ts'
import { nodeFs } from '../node-fs.ts'
import { checkedDescription } from '../shard-contract.ts'
import {
  type CompactOptions,
  type CompactResult,
  type FoundShard,
  type IsGone,
  type MaintenancePost,
  type NewShard,
  type ShardId,
  type ShardRange,
  type ShardStore,
  StoreReadOnly,
  type StoreUsage,
  type UncheckedBatch,
} from '../shard-store.ts'
import type { Ownership } from '../store-claim.ts'
import { openIdentity } from '../store-identity.ts'
import { alignUp, pageBytes } from './alignment.ts'
import { parseBatchId } from './batch-ids.ts'
import type { DirectorySizes, StoreContext } from './context.ts'
import { DeleteRoom } from './delete-room.ts'
import { DirectorySync } from './directory-sync.ts'
import { unlessMissing, writeFailure } from './failures.ts'
import { FreeSpace } from './free-space.ts'
import { directoryIdentity } from './identity.ts'
import { LargeFiles } from './large-files/large-files.ts'
import { Layout } from './layout.ts'
import { Maintainers, type Maintenance } from './maintenance.ts'
import { directoryMarkers } from './markers.ts'
import { SegmentLog } from './segments/segment-log.ts'
import { SegmentReads } from './segments/segment-reads.ts'
import { buildPagedRecord, buildRecord, pagedLeadBytes } from './segments/segment-record.ts'
import { parseShardId } from './shard-ids.ts'

const sweepMs = 30_000
/** The room kept for deletes is this fraction of a segment's growth step: 1 / `deleteRoomShare`. */
const deleteRoomShare = 8

export interface DirectoryStoreOptions extends Partial<DirectorySizes> {
  path: string
  clock: Clock
  fs?: Fs
  /** Create a store if the directory is absent or empty. Never overwrites other data. */
  create: boolean
  /** Who opens it. Absent: the owner is not checked. */
  ownership?: Ownership | undefined
  /**
   * The caller holds the exclusive lock over the directory and no other process has the store open yet, so everything marked
   * as being written was left by processes that died.
   */
  firstOpener: boolean
  /** Who writes here: names the batches of this process, 32 hex digits. Absent: no other host uses the store. */
  member?: string | undefined
  /** Batches that earlier openings by this process left open. */
  leftOpen?: LeftOpen | undefined
  /** Called at most once, when the store can promise nothing any more. Every later put and delete rejects. */
  onFatal: (error: Error) => void
  /** Called with a problem that an operator should know, but that does not affect requests yet. */
  warn?: (message: string) => void
}

export async function openDirectoryStore(options: DirectoryStoreOptions): Promise<ShardStore> {
  const { clock, fs = nodeFs, create, firstOpener, onFatal, warn = () => {} } = options
  const layout = new Layout(resolve(options.path))
  const sizes = chosenSizes(options)
  const { ownership, member, leftOpen } = options
  const identity = await openIdentity(directoryIdentity({ fs, layout, clock }), { create, ownership, warn })
  const directories = new DirectorySync(fs, onFatal)
  const freeSpace = new FreeSpace(fs, layout.root, clock)
  const context: StoreContext = {
    fs,
    layout,
    isLocal: process.platform === 'linux' && (await fs.isLocal(layout.root)),
    directories,
    freeSpace,
    deleteRoom: new DeleteRoom(fs, layout, Math.ceil(sizes.segmentGrowBytes / deleteRoomShare)),
    clock,
    sizes,
    identity,
    warn,
  }
  const batches = new Batches({
    storage: directoryMarkers(context),
    clock,
    member,
    leftOpen,
    requireIdentity: () => identity.require(),
  })
  if (firstOpener) await batches.closeAbandoned(() => true)
  return new DirectoryStore(context, batches)
}

function chosenSizes(options: Partial<DirectorySizes>): DirectorySizes {
  const sizes = {
    smallShardBytesMax: options.smallShardBytesMax ?? limits.smallShardBytesMax,
    recordPayloadBytesMax: options.recordPayloadBytesMax ?? limits.recordPayloadBytesMax,
    checksumBlockBytes: options.checksumBlockBytes ?? limits.checksumBlockBytes,
    readChunkBytes: options.readChunkBytes ?? limits.readChunkBytes,
    segmentBytesMax: options.segmentBytesMax ?? limits.segmentBytesMax,
    segmentGrowBytes: options.segmentGrowBytes ?? limits.segmentGrowBytes,
    segmentQueueBytesMax: options.segmentQueueBytesMax ?? limits.segmentQueueBytesMax,
    unpreparedGroupBytesMin: options.unpreparedGroupBytesMin ?? limits.unpreparedGroupBytesMin,
    batchFilesMax: options.batchFilesMax ?? limits.batchFilesMax,
    batchIdleMs: options.batchIdleMs ?? limits.batchIdleMs,
  }
  // Large files are written chunk by chunk, each of them whole blocks on whole pages.
  const { readChunkBytes, checksumBlockBytes } = sizes
  if (readChunkBytes % checksumBlockBytes === 0 && readChunkBytes % pageBytes === 0) return sizes
  throw new RangeError(`chunks of ${readChunkBytes} bytes are not whole blocks of ${checksumBlockBytes} on whole pages`)
}

class DirectoryStore implements ShardStore {
  readonly storeId: string
  readonly #context: StoreContext
  readonly #batches: Batches
  readonly #reads: SegmentReads
  readonly #log: SegmentLog
  readonly #files: LargeFiles
  /** Each chunk has room for the largest record that is written in place. */
  readonly #records: ChunkPool
  readonly #maintainers: Maintainers
  readonly #sweeping: NodeJS.Timeout
  readonly #underWay = new Set<Promise<unknown>>()
  #closed = false

  constructor(context: StoreContext, batches: Batches) {
    this.storeId = context.identity.storeId
    this.#context = context
    this.#batches = batches
    const { smallShardBytesMax, checksumBlockBytes, recordPayloadBytesMax } = context.sizes
    // Each chunk holds what is read in one piece: a small record, or the blocks of a small range, wherever it begins.
    const chunks = new ChunkPool(smallShardBytesMax + 2 * checksumBlockBytes)
    this.#records = new ChunkPool(alignUp(pagedLeadBytes + recordPayloadBytesMax, pageBytes))
    this.#reads = new SegmentReads(context, chunks, this.#records)
    this.#log = new SegmentLog(context, batches)
    this.#files = new LargeFiles(context, batches, chunks)
    this.#maintainers = new Maintainers(context, { batches, reads: this.#reads, files: this.#files })
    this.#sweeping = setInterval(() => this.#sweep(), sweepMs).unref()
  }

  async put(shard: NewShard): Promise<ShardId> {
    try {
      return await this.#change(() => this.#putBySize(shard))
    } catch (error) {
      shard.payload.cancel()
      throw error
    }
  }

  /** Not an async function, because every read comes through here and would take more turns of the microtask queue. */
  get(id: ShardId, range: ShardRange): Promise<ByteSource> {
    try {
      const address = parseShardId(id)
      return address.kind === 'file' ? this.#files.get(id, address, range) : this.#reads.get(id, address, range)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  async description(id: ShardId): Promise<Buffer> {
    const address = parseShardId(id)
    return address.kind === 'file' ? this.#files.description(id, address) : this.#reads.description(id, address)
  }

  delete(ids: readonly ShardId[], post?: MaintenancePost): Promise<void> {
    return this.#maintain(post, (maintenance) => maintenance.delete(ids))
  }

  unchecked(): Promise<UncheckedBatch[]> {
    return this.#batches.unchecked()
  }

  async *list(batchId?: string): AsyncGenerator<FoundShard> {
    const { segments } = this.#maintainers.plain
    if (batchId !== undefined) {
      const batch = parseBatchId(batchId)
      if (batch?.kind === 'segment') yield* segments.live(batch.id)
      if (batch?.kind === 'files') yield* this.#files.list(batch.id)
      return
    }
    for (const segment of await segments.names()) yield* segments.live(segment)
    for (const batch of await this.#files.batches()) yield* this.#files.list(batch)
  }

  markChecked(batchId: string, post?: MaintenancePost): Promise<void> {
    return this.#maintain(post, (maintenance) => maintenance.markChecked(batchId))
  }

  closeAbandoned(isGone: IsGone, post?: MaintenancePost): Promise<number> {
    return this.#maintain(post, (maintenance) => maintenance.closeAbandoned(isGone))
  }

  compact(options: CompactOptions, post?: MaintenancePost): Promise<CompactResult> {
    return this.#maintain(post, (maintenance) => maintenance.compact(options))
  }

  async check(): Promise<void> {
    await this.#context.identity.require()
  }

  async usage(): Promise<StoreUsage> {
    const { fs, layout } = this.#context
    let usedBytes = 0
    for (const segment of await this.#maintainers.plain.segments.names())
      usedBytes += await this.#fileBytes(layout.segment(segment))
    for (const batch of await this.#files.batches()) {
      for (const name of (await unlessMissing(fs.list(layout.batch(batch)))) ?? []) {
        usedBytes += await this.#fileBytes(layout.file(batch, name))
      }
    }
    const freeBytes = (await fs.freeBytes(layout.root)) - limits.storeReserveBytes
    return { usedBytes, freeBytes: Math.max(0, freeBytes), readOnly: await this.#readOnly() }
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    clearInterval(this.#sweeping)
    await Promise.allSettled(this.#underWay)
    await this.#log.close()
    await this.#files.close()
    await this.#batches.closeLeft().catch((error) => this.#warnOfOpenBatch(error))
    this.#reads.close()
  }

  #putBySize(shard: NewShard): Promise<ShardId> {
    const { size } = shard.payload
    const { smallShardBytesMax, recordPayloadBytesMax } = this.#context.sizes
    if (size <= smallShardBytesMax) return this.#putSmall(shard)
    return size <= recordPayloadBytesMax ? this.#putMiddle(shard) : this.#files.put(shard)
  }

  async #putSmall({ payload, describe }: NewShard): Promise<ShardId> {
    const room = this.#roomInLog(payload.size)
    if (room !== undefined) await room
    const bytes = await payload.read()
    if (bytes.length !== payload.size)
      throw new Error(`the payload has ${bytes.length} bytes in place of ${payload.size}`)
    return this.#log.append(buildRecord(checkedDescription(describe()), bytes, this.#context.sizes.checksumBlockBytes))
  }

  async #putMiddle(shard: NewShard): Promise<ShardId> {
    await this.#roomInLog(shard.payload.size)
    // A file of its own needs less memory, which counts when there are many slow clients.
    return this.#records.hasPlenty ? this.#putInPlace(shard) : this.#files.put(shard)
  }

  async #putInPlace({ payload, describe }: NewShard): Promise<ShardId> {
    const memory = this.#records.take()
    const end = pagedLeadBytes + payload.size
    let filled = pagedLeadBytes
    try {
      await payload.drain((chunk) => {
        if (filled + chunk.length > end) throw new Error('the payload is longer than it said')
        filled += copyToShared(chunk, memory, filled)
      })
      if (filled < end) throw new Error(`the payload ended ${end - filled} bytes before the end that it said`)
      const { checksumBlockBytes } = this.#context.sizes
      return await this.#log.append(
        buildPagedRecord(checkedDescription(describe()), memory, payload.size, checksumBlockBytes),
      )
    } finally {
      this.#records.give(memory)
    }
  }

  /** `undefined`: there is room now. */
  #roomInLog(bytes: number): Promise<void> | undefined {
    const sampled = this.#context.freeSpace.requireRoom(bytes)
    if (sampled !== undefined) return sampled.then(() => this.#log.room())
    return this.#log.room() ?? undefined
  }

  #maintain<T>(post: MaintenancePost | undefined, work: (maintenance: Maintenance) => Promise<T>): Promise<T> {
    const { plain } = this.#maintainers
    return this.#change(async () => work(post === undefined ? plain : await this.#maintainers.under(post)))
  }

  /** Runs a write: refuses it once the store is closed or has failed. `close` waits for it. */
  async #change<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closed) throw new Error('the store is closed')
    this.#context.directories.assertSound()
    const done = work()
    this.#underWay.add(done)
    try {
      return await done
    } catch (error) {
      throw writeFailure(error)
    } finally {
      this.#underWay.delete(done)
    }
  }

  async #readOnly(): Promise<string | undefined> {
    try {
      await this.#context.fs.requireWritable(this.#context.layout.root)
      return undefined
    } catch (error) {
      const failure = writeFailure(error)
      if (failure instanceof StoreReadOnly) return failure.message
      throw failure
    }
  }

  async #fileBytes(path: string): Promise<number> {
    return (await unlessMissing(this.#context.fs.stat(path)))?.size ?? 0
  }

  #sweep(): void {
    const idleSinceMs = this.#context.clock.now() - this.#context.sizes.batchIdleMs
    this.#reads.sweep()
    this.#files.sweep()
    Promise.all([this.#log.sealIdle(idleSinceMs), this.#files.endIdle(idleSinceMs)])
      .then(() => this.#batches.closeLeft())
      .catch((error) => this.#warnOfOpenBatch(error))
  }

  #warnOfOpenBatch(error: unknown): void {
    this.#context.warn(`an idle batch could not be ended yet: ${String(error)}`)
  }
}
