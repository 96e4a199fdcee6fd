/** The ordered, transactional metadata store, as every engine must offer it. Knows nothing of buckets or objects. */

/**
 * Keys order by their bytes, as `Buffer.compare` does. At most `limits.kvKeyBytesMax` bytes; build them with `ordered-key`. The caller leaves them as they
 * are until the call settles: an engine may know one by its memory.
 */
export type Key = Buffer

export interface Entry {
  key: Key
  /** Owned by the caller: an engine never reuses its memory. Treat as immutable. */
  value: Buffer
  /** Changes whenever the value is written. Never reused for another value of the same key, also across deletion. */
  version: number
}

/** What must still hold when a commit applies. All checks of a commit are evaluated atomically with its writes. */
export type Check =
  /** The key holds the value that was read with this version. */
  | { key: Key; version: number }
  /** The key does not exist. */
  | { key: Key; absent: true }
  /** No key k with start <= k < end exists. */
  | { emptyFrom: Key; emptyTo: Key }

export interface Put {
  key: Key
  /** At most `limits.kvValueBytesMax` bytes. The caller leaves key and value as they are until the commit settles; then they are its own again. */
  value: Buffer
}

export interface Commit {
  checks?: readonly Check[]
  puts?: readonly Put[]
  deletes?: readonly Key[]
}

/** Bounds need not be keys: any bytes do, of any length, also none. A range whose end is not behind its start is empty. */
export interface RangeQuery {
  /** First key, inclusive. */
  start: Key
  /** Last key, exclusive. */
  end: Key
  /** Most entries to return; the engine reads no more than this. */
  limit: number
  /** From `end` down to `start`. */
  reverse?: boolean
  /** Gives one entry of each group. Not with `reverse`. */
  fold?: Fold | undefined
}

/**
 * Makes groups of keys whose text is the same up to and with the first `delimiter` at or behind byte `from`. Of a group, a range gives the first entry
 * that it meets, and goes on behind all the others without reading them. Keys without the delimiter stand for themselves.
 */
export interface Fold {
  /** What all keys of the range start with, before the text. */
  head: Key
  /** How the text lies behind the head: raw, to the key's end (`packTail`), or as one element of a tuple (`packKey`). */
  text: 'tail' | 'element'
  from: number
  /** Not empty. */
  delimiter: Buffer
}

/** The whole as it was at one moment, whatever is committed meanwhile. */
export interface Snapshot {
  range(query: RangeQuery): Promise<Entry[]>
  /** Soon, please: until then an engine may not be able to use the room of what was replaced since. Idempotent. */
  close(): Promise<void>
}

export interface Kv {
  /** The entries of `keys`, in their order, from one consistent snapshot; `undefined` where a key does not exist. One round trip. */
  get(keys: readonly Key[]): Promise<(Entry | undefined)[]>
  /** Entries in order, from one consistent snapshot. An engine may gather calls of `get` that come together; it answers a range by itself. */
  range(query: RangeQuery): Promise<Entry[]>
  /**
   * Of each query what `range` would give, as `read` makes it of each entry, all from one consistent snapshot. One round trip. `read` is told the place
   * of the query among the others. Key and value of an entry are its only during the call, in which it must not call the engine. Rejects with what it throws.
   */
  ranges<T>(queries: readonly RangeQuery[], read: (entry: Entry, query: number) => T): Promise<T[][]>
  /**
   * Applies everything or nothing. `true`: all checks held, and the writes are durable. `false`: a check failed, and nothing was written.
   * Puts and deletes of one commit never name the same key. Rejects when the outcome is a failure of the engine: the caller must not
   * claim success, and with a fatal engine error the process must stop (see `onFatal` of the engine).
   */
  commit(commit: Commit): Promise<boolean>
  /** Holds all that was committed before the call. Close it before the store. */
  snapshot(): Promise<Snapshot>
  /** Waits for commits under way, then lets go of files. */
  close(): Promise<void>
}
