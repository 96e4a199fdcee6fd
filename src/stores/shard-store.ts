/** What every kind of store must offer. A store keeps shards and knows nothing of objects; a shard's description is opaque bytes here. */
import type { ByteSource } from '../byte-source.ts'

/** Where a shard lies in its store. Opaque to everything but the store that made it. Short, printable ASCII. */
export type ShardId = string

export interface NewShard {
  /** Bytes that let the metadata index be rebuilt from shards alone; at most `limits.shardDescriptionBytesMax`. */
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

/** Shards that were written since the last check, and whose references nobody has confirmed yet. Orphans can be nowhere else. */
export interface UncheckedBatch {
  id: string
  /** When the newest shard of the batch was written, in milliseconds since the epoch. */
  newestMs: number
  /** Whether its writer is done with it. A batch that is still open is walked again later. */
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

/** Thrown by reads and never by deletes: there is no such shard. Either it was moved (read the metadata again) or it is lost. */
export class ShardMissing extends ShardDamaged {
  constructor(shardId: ShardId) {
    super(shardId, 'not found')
    this.name = 'ShardMissing'
  }
}

/** Thrown by `put` when the store has no room left for new data. Nothing was kept; deletes still work. */
export class StoreFull extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'StoreFull'
  }
}

/** Thrown by `put` and `delete` when the store may not be written to. Its shards can be read. */
export class StoreReadOnly extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'StoreReadOnly'
  }
}

/** Thrown by a store that can't be used now. Nothing was tried; another store, or another time, may work. */
export class StoreOut extends Error {
  constructor(name: string, reason: string) {
    super(`store ${name} is out of use: ${reason}`)
    this.name = 'StoreOut'
  }
}

export interface ShardStore {
  /** From the identity file: the same for as long as the store's data exists. */
  readonly storeId: string

  /**
   * Writes a shard. When it resolves, payload and description are on stable storage and readable by every process that has this store open.
   * `describe` is called once, after the payload has been read (so that it may hold digests). On rejection nothing readable is left behind.
   * Errors: `StoreFull`, `StoreReadOnly`; whatever the payload rejects with.
   */
  put(shard: NewShard): Promise<ShardId>

  /**
   * Opens a range of a shard's payload for reading. Opening finds the shard (else `ShardMissing`) and keeps it readable until the source
   * is drained or cancelled, even when the shard is deleted or moved meanwhile. Every byte is verified by checksum before it is given out;
   * a mismatch rejects with `ShardDamaged` and gives nothing of the damaged block. Small ranges resolve already read and verified.
   */
  get(id: ShardId, range: ShardRange): Promise<ByteSource>

  /** The description that a shard was stored with. Errors: `ShardMissing`, `ShardDamaged`. */
  description(id: ShardId): Promise<Buffer>

  /** Forgets a shard; its room is won back now or by `compact`. Durable when it resolves. Idempotent: a missing shard is no error. */
  delete(ids: readonly ShardId[]): Promise<void>

  /** Batches that may hold orphans, oldest first. */
  unchecked(): Promise<UncheckedBatch[]>
  /** Live (not deleted) shards of a batch, or of the whole store. */
  list(batchId?: string): AsyncIterable<FoundShard>
  /** Records that every live shard of a closed batch is known to be referenced. */
  markChecked(batchId: string): Promise<void>

  /**
   * Wins back room: removes batches in which nothing is alive, and calls `move` for each live shard of batches that are mostly dead. `move` writes it again elsewhere (through `put`)
   * and swaps the reference. It resolves with false when it could not; then the batch stays as it is. Shards written within `graceMs` stay.
   */
  compact(options: { graceMs: number; move: (shard: FoundShard) => Promise<boolean> }): Promise<CompactResult>

  /** Rejects when what was opened is gone: its directory or bucket is missing, empty, or holds another store. */
  check(): Promise<void>

  usage(): Promise<StoreUsage>
  /** Waits for writes under way, then lets go of files. */
  close(): Promise<void>
}

/** The bytes that this store's data takes, and the bytes free for new data. `undefined`: it can't tell. */
export interface StoreUsage {
  usedBytes: number | undefined
  freeBytes: number | undefined
  /** Why nothing may be written there now. Absent: nothing is known to prevent it. */
  readOnly?: string | undefined
}

export interface CompactResult {
  removedBatches: number
  movedShards: number
  freedBytes: number
}
