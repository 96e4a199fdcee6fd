/**
 * The ordered, transactional key-value interface that every metadata engine offers. Knows nothing of buckets or objects.
 *
 * Freshness: a read sees every commit that any process saw resolve before the call.
 *
 * Failures, of which an engine has three kinds:
 * - It cannot be reached, or may not write now: the call rejects with `KvUnavailable`, and nothing was written.
 * - It does not know whether a commit was applied: it finds out before the call settles. No caller ever sees this.
 * - It can say nothing more of what is stored: every call rejects, it calls its `onFatal`, and the process ends.
 */
import { S3Error } from '../errors.ts'

/**
 * Keys order by their bytes, as `Buffer.compare` does. At most `limits.kvKeyBytesMax` bytes; build them with `ordered-key`. The caller leaves them as they
 * are until the call settles.
 */
export type Key = Buffer

export interface Entry {
  key: Key
  /** Owned by the caller: an engine never reuses its memory. Treat as immutable. */
  value: Buffer
  /** Changes whenever the value is written. Never reused for another value of the same key, also across deletion. */
  version: Version
}

/** Says which value of a key was read. Only engines make versions and compare them; others hand back what they were given. */
export interface Version {
  readonly [madeByEngine]: true
}

declare const madeByEngine: unique symbol

/** The engine cannot do it now, and did nothing; it may be asked again. Clients are told so: 503, with Retry-After. */
export class KvUnavailable extends S3Error {
  constructor(message: string, context: { cause?: unknown } = {}) {
    super('ServiceUnavailable', { ...context, message })
  }
}

/** What must still hold when a commit applies. All checks of a commit are evaluated atomically with its writes. */
export type Check =
  /** The key holds the value that was read with this version. */
  | { key: Key; version: Version }
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
  /** Adds what clients store. Refused with `KvUnavailable` while the engine has only room left for what removes or protects it. */
  grows?: boolean
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

/** What a check of the whole found. */
export interface CheckReport {
  startedMs: number
  entries: number
  /** For `covers`: what it means is the engine's own. */
  coversBelow: number
  /** Records that are not what was written under their key. */
  damagedRecords: number
  /** The first few of them. */
  damagedKeys: string[]
  /** What is wrong with the whole: from then on nothing is written. Absent: nothing. */
  damage?: string
}

export interface CheckHow {
  /** Called before so many bytes are read. May wait, and throw, which ends the check. Not called while somebody waits for the same check without a pace. */
  pace?(bytes: number): Promise<void>
}

/** What is known of whether the engine still holds what was committed. */
export interface Integrity {
  /** Reads and verifies all of it, beside everything else. Those that ask while one waits to begin share it. */
  check(how?: CheckHow): Promise<CheckReport>
  /** What is known to be wrong with the whole; `undefined`: nothing. Any process may have found it. It stays until a check that began later finds nothing. */
  damage(): Promise<string | undefined>
  /** The last check of any process. */
  lastCheck(): Promise<CheckReport | undefined>
  /** Whether that check has read every entry of this version. */
  covers(report: CheckReport, version: Version): boolean
  /** This process owns the metadata from now on. After an owner that did not say `endRun`, a check begins, for which writes wait. */
  beginRun(): Promise<void>
  /** The last thing that an owner does, once what it began is done. */
  endRun(): Promise<void>
  /** A process may have been ended by damage: nothing is written before a check has ended. Resolves with it. */
  distrust(): Promise<void>
}

/** Whether a check found nothing. */
export function isClean(report: CheckReport): boolean {
  return report.damage === undefined && report.damagedRecords === 0
}

/** Keys and ranges as they were at one moment. */
export interface View<T> {
  /** In the order of the keys; `undefined` where a key does not exist. */
  entries: (Entry | undefined)[]
  /** In the order of the queries. */
  found: T[][]
}

export interface Kv {
  readonly integrity: Integrity
  /** The entries of `keys`, in their order, from one consistent snapshot; `undefined` where a key does not exist. One round trip. */
  get(keys: readonly Key[]): Promise<(Entry | undefined)[]>
  /** Entries in order, from one consistent snapshot. An engine may gather calls of `get` that come together; it answers a range by itself. One round trip. */
  range(query: RangeQuery): Promise<Entry[]>
  /**
   * What `get` returns for `keys`, and for each query the entries that `range` would return, each mapped by `read`; all from one consistent snapshot, in one
   * round trip. `read` also gets the index of the query. It may use key and value of an entry only during the call, and must not call the engine in it.
   * Rejects with what it throws.
   */
  view<T>(
    keys: readonly Key[],
    queries: readonly RangeQuery[],
    read: (entry: Entry, query: number) => T,
  ): Promise<View<T>>
  /**
   * Applies everything or nothing. `true`: all checks held, and the writes are durable. `false`: a check failed, and nothing was written.
   * Puts and deletes of one commit never name the same key. Rejects with `KvUnavailable` when nothing was written, and with any other error
   * when the engine has failed for good: then the caller must not claim success, and the process ends.
   */
  commit(commit: Commit): Promise<boolean>
  /** Holds all that was committed before the call. Close it before the engine. */
  snapshot(): Promise<Snapshot>
  /** Waits for commits under way, then lets go of files. */
  close(): Promise<void>
}
