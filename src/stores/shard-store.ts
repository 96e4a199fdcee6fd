/** What every kind of store must offer. A store keeps shards and knows nothing of objects; a shard's description is opaque bytes here. */
import type { ByteSource } from '../byte-source.ts'

/** Identifies a shard in its store. Opaque to everything but the store that made it. Short, printable ASCII. */
export type ShardId = string

export interface NewShard {
  /** Bytes that make it possible to rebuild the metadata from shards alone; at most `limits.shardDescriptionBytesMax`. */
  describe(): Buffer
  /** The payload. Its size is known before it is read. */
  payload: ByteSource
}

export interface ShardRange {
  /** First byte, from 0. */
  start: number
  /** One past the last byte. */
  end: number
}

/** A shard as a store lists it. */
export interface FoundShard {
  id: ShardId
  /** As given to `put`. */
  description: Buffer
  payloadBytes: number
}

/** A batch of shards whose references have not been checked since they were written. Only such batches can hold orphans. */
export interface UncheckedBatch {
  id: string
  /** When the newest shard of the batch was written, in milliseconds since the epoch. */
  newestMs: number
  /** Whether its writer is done with it. A batch that is still open is checked again later. */
  closed: boolean
}

/** Thrown by reads when the stored bytes are not what was written: missing, truncated, flipped, or another shard's. */
export class ShardDamaged extends Error {
  readonly shardId: ShardId
  constructor(shardId: ShardId, message: string) {
    super(`shard ${shardId}: ${message}`)
    this.name = 'ShardDamaged'
    this.shardId = shardId
  }
}

/** Thrown by reads, never by deletes, when there is no such shard. It was moved (read the metadata again) or it is lost. */
export class ShardMissing extends ShardDamaged {
  constructor(shardId: ShardId) {
    super(shardId, 'not found')
    this.name = 'ShardMissing'
  }
}

/** Thrown by `put` when the store has no room left for new data. Nothing was kept, and deletes still work. */
export class StoreFull extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'StoreFull'
  }
}

/** Thrown by `put` and `delete` when the store is read-only. Its shards can still be read. */
export class StoreReadOnly extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'StoreReadOnly'
  }
}

/** Thrown by a store that can't be used now. Nothing was attempted. Another store, or a retry later, may work. */
export class StoreOut extends Error {
  constructor(name: string, reason: string) {
    super(`store ${name} is out of use: ${reason}`)
    this.name = 'StoreOut'
  }
}

/** Thrown when a store over the network failed, or did not answer in time. It may have done what was requested. A retry may work. */
export class StoreUnreachable extends Error {
  constructor(reason: string) {
    super(reason)
    this.name = 'StoreUnreachable'
  }
}

/** Thrown by maintenance under a fencing number that is no longer the greatest one: another maintainer has taken over. Nothing more is changed. */
export class StoreFenced extends Error {
  constructor(reason: string, options?: ErrorOptions) {
    super(`maintenance is refused: ${reason}`, options)
    this.name = 'StoreFenced'
  }
}

/**
 * The post of the one maintainer, in whose name a call changes a store (ADR 0043). Before each write, the store calls `assertHeld`, makes sure that it keeps `number` durably, and
 * refuses if it knows a greater one (`StoreFenced`). Without a post, as on one machine, nothing of this is checked.
 */
export interface MaintenancePost {
  readonly number: number
  /** Throws once the post may be another's. */
  assertHeld(): void
}

/** Whether nothing that this member wrote can become visible any more. `undefined`: the batch names no member, because no other host shares its writer's metadata. */
export type IsGone = (member: string | undefined) => boolean | Promise<boolean>

export interface CompactOptions {
  /** Shards written within the last `graceMs` stay where they are. */
  graceMs: number
  /** Writes the shard again (through `put`) and swaps the reference. Resolves with false if it could not; then the batch stays as it is. */
  move(shard: FoundShard): Promise<boolean>
}

export interface ShardStore {
  /** From the identity file: the same for as long as the store's data exists. */
  readonly storeId: string

  /**
   * Writes a shard. When it resolves, payload and description are on stable storage and readable by every process that has this store open.
   * Calls `describe` once, after the payload has been read, so that the description can contain digests. On rejection nothing readable is left behind.
   * Errors: `StoreFull`, `StoreReadOnly`; whatever the payload rejects with.
   */
  put(shard: NewShard): Promise<ShardId>

  /**
   * Opens a range of a shard's payload. Rejects with `ShardMissing` if there is no such shard; otherwise the shard stays readable until the source
   * is drained or cancelled, even if it is deleted or moved in the meantime. Every byte is verified by checksum before it is given out;
   * a mismatch rejects with `ShardDamaged` and gives nothing of the damaged block. A small range is already read and verified when this resolves.
   */
  get(id: ShardId, range: ShardRange): Promise<ByteSource>

  /** The description that a shard was stored with. Errors: `ShardMissing`, `ShardDamaged`. */
  description(id: ShardId): Promise<Buffer>

  /**
   * Deletes shards. Their space is freed now or by `compact`. Durable when it resolves. Idempotent: a missing shard is no error.
   * Where there are posts, only what this process itself has written may be deleted without one.
   */
  delete(ids: readonly ShardId[], post?: MaintenancePost): Promise<void>

  /** Batches that may hold orphans, oldest first. */
  unchecked(): Promise<UncheckedBatch[]>
  /** Live (not deleted) shards of a batch, or of the whole store. */
  list(batchId?: string): AsyncIterable<FoundShard>
  /** Records that every live shard of a closed batch has a reference. */
  markChecked(batchId: string, post?: MaintenancePost): Promise<void>
  /**
   * Closes the open batches of writers that are gone. Their shards are older than this call. Never closes a batch of this process. Resolves with the number of closed batches.
   */
  closeAbandoned(isGone: IsGone, post?: MaintenancePost): Promise<number>

  /** Frees space: removes batches without live shards, and moves the live shards of batches that are mostly dead. */
  compact(options: CompactOptions, post?: MaintenancePost): Promise<CompactResult>

  /** Rejects when the opened store is gone: its directory or bucket is missing, empty, or holds another store. */
  check(): Promise<void>

  usage(): Promise<StoreUsage>
  /** Waits for writes under way, then closes files and connections. */
  close(): Promise<void>
}

/** The bytes that the store's data takes, and the bytes free for new data. `undefined`: the store can't tell. */
export interface StoreUsage {
  usedBytes: number | undefined
  freeBytes: number | undefined
  /** Why nothing can be written now. Absent: no reason is known. */
  readOnly?: string | undefined
}

export interface CompactResult {
  removedBatches: number
  movedShards: number
  freedBytes: number
}
