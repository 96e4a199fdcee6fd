/**
 * The ordered, transactional key-value interface that every metadata engine offers. Knows nothing of buckets or objects.
 *
 * Freshness: a read sees every commit that any process saw resolve before the call.
 *
 * Failures, of which an engine has three kinds:
 * - It cannot be reached, or cannot write now: the call rejects with `KvUnavailable`, and nothing was written.
 * - It does not know whether a commit was applied: it finds out before the call settles. No caller ever sees this.
 * - It can no longer vouch for what is stored: every call rejects, it calls its `onFatal`, and the process ends.
 */
import { S3Error } from '../errors.ts'

/**
 * Keys sort by their bytes, as in `Buffer.compare`. A key has at most `limits.kvKeyBytesMax` bytes; build it with `ordered-key`. The caller must not
 * change it until the call settles.
 */
export type Key = Buffer

export interface Entry {
  key: Key
  /** Owned by the caller: an engine never reuses its memory. Treat as immutable. */
  value: Buffer
  /** Changes whenever the value is written. Never reused for another value of the same key, not even after a deletion. */
  version: Version
}

/** Identifies the value of a key that was read. Only engines make and compare versions; callers hand them back unchanged. */
export interface Version {
  readonly [madeByEngine]: true
}

declare const madeByEngine: unique symbol

/** The engine cannot serve the call now and has done nothing; the caller can retry. Clients get a 503 with Retry-After. */
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
  /** At most `limits.kvValueBytesMax` bytes. The caller must not change the key or the value until the commit settles. */
  value: Buffer
}

export interface Commit {
  checks?: readonly Check[]
  puts?: readonly Put[]
  deletes?: readonly Key[]
  /** The commit adds client data. Refused with `KvUnavailable` while the remaining room is reserved for commits that remove or protect data. */
  grows?: boolean
}

/** Bounds need not be valid keys: they are bytes of any length, including zero. A range is empty unless its end sorts after its start. */
export interface RangeQuery {
  /** First key, inclusive. */
  start: Key
  /** Last key, exclusive. */
  end: Key
  /** Most entries to return; the engine reads no more than this. */
  limit: number
  /** From `end` down to `start`. */
  reverse?: boolean
  /** Returns one entry per group. Cannot be combined with `reverse`. */
  fold?: Fold | undefined
}

/**
 * Groups keys whose text is the same up to and including the first `delimiter` at or after byte `from`. A range returns the first entry of each group
 * and skips the others without reading them. A key without the delimiter is a group of its own.
 */
export interface Fold {
  /** The prefix of all keys of the range; the text follows it. */
  head: Key
  /** How the text follows the head: raw to the end of the key (`packTail`), or as one element of a tuple (`packKey`). */
  text: 'tail' | 'element'
  from: number
  /** Not empty. */
  delimiter: Buffer
}

/** All entries as they were at one moment, whatever is committed afterwards. */
export interface Snapshot {
  range(query: RangeQuery): Promise<Entry[]>
  /** Close it soon: until then, an engine may be unable to reuse the space of replaced entries. Idempotent. */
  close(): Promise<void>
}

/** The result of a check of all entries. */
export interface CheckReport {
  startedMs: number
  entries: number
  /** For `covers`. Only the engine knows what it means. */
  coversBelow: number
  /** The number of records that differ from what was written under their key. */
  damagedRecords: number
  /** The keys of the first few damaged records. */
  damagedKeys: string[]
  /** What is wrong beyond single records; if present, nothing is written from then on. */
  damage?: string
}

export interface CheckHow {
  /** Called before each read, with its size. Can delay the read, or throw to end the check. Not called while another caller waits for the same check without a pace. */
  pace?(bytes: number): Promise<void>
}

/** Checks whether the engine still holds what was committed. */
export interface Integrity {
  /** Reads and verifies all entries while other work goes on. Calls that arrive before a check begins share it. */
  check(how?: CheckHow): Promise<CheckReport>
  /** The known damage beyond single records, whichever process found it; `undefined` when there is none. It stands until a check that began later finds nothing. */
  damage(): Promise<string | undefined>
  /** The last check of any process. */
  lastCheck(): Promise<CheckReport | undefined>
  /** Whether that check read every entry of this version. */
  covers(report: CheckReport, version: Version): boolean
  /** This process owns the metadata from now on. If the previous owner did not call `endRun`, a check begins, and writes wait for it. */
  beginRun(): Promise<void>
  /** The last call of an owner, after all of its work has ended. */
  endRun(): Promise<void>
  /** Damage may have ended a process: nothing is written until a check has ended. Resolves when it has. */
  distrust(): Promise<void>
}

/** Whether a check found nothing. */
export function isClean(report: CheckReport): boolean {
  return report.damage === undefined && report.damagedRecords === 0
}

/** The results of a `view`: keys and ranges as they were at one moment. */
export interface View<T> {
  /** In the order of the keys; `undefined` where a key does not exist. */
  entries: (Entry | undefined)[]
  /** In the order of the queries. */
  found: T[][]
}

/** The connections of this process, at this moment. */
export interface KvConnections {
  open: number
  idle: number
  /** How many calls wait for a connection. */
  waiting: number
  most: number
}

export interface Kv {
  readonly integrity: Integrity
  /** The entries of `keys`, in their order, from one consistent snapshot; `undefined` where a key does not exist. One round trip. */
  get(keys: readonly Key[]): Promise<(Entry | undefined)[]>
  /** Entries in order, from one consistent snapshot. One round trip. An engine may batch concurrent calls of `get`, but not of `range`. */
  range(query: RangeQuery): Promise<Entry[]>
  /**
   * Returns what `get` returns for `keys` and, for each query, the entries that `range` would return, each mapped by `read`. All come from one consistent
   * snapshot, in one round trip. `read` also gets the index of the query. It can use an entry's key and value only during its call, and must not call the
   * engine. Rejects with what `read` throws.
   */
  view<T>(
    keys: readonly Key[],
    queries: readonly RangeQuery[],
    read: (entry: Entry, query: number) => T,
  ): Promise<View<T>>
  /**
   * Applies everything or nothing. `true`: all checks held, and the writes are durable. `false`: a check failed, and nothing was written.
   * Puts and deletes of one commit must not name the same key. Rejects with `KvUnavailable` when nothing was written, and with any other error
   * when the engine has failed for good: the caller must not report success, and the process ends.
   */
  commit(commit: Commit): Promise<boolean>
  /**
   * Milliseconds since the epoch, by the one clock that all processes of this metadata share: the machine's, or the database server's. It can step. Read
   * after the call began. Rejects with `KvUnavailable`.
   */
  now(): Promise<number>
  /** The engine's connections to its server. Absent: it has none. */
  connections?(): KvConnections
  /** Contains everything that was committed before the call. Close it before the engine. */
  snapshot(): Promise<Snapshot>
  /**
   * The process is about to end: from now on, a commit whose outcome the database can't tell is rejected after a while, instead of waiting for the
   * database. Absent: there is no such commit.
   */
  beginClosing?(): void
  /** Waits for commits under way, then closes files and connections. */
  close(): Promise<void>
}
