/** Metadata in memory: the semantics of the durable engines, for tests and throw-away servers. Nothing outlives the process. */
import { systemClock } from '../clock.ts'
import { assertCommit, assertKey, rangeBounds } from './bounds.ts'
import { coversVersion, versionOfNumber } from './entry-version.ts'
import type { Check, CheckReport, Commit, Entry, Integrity, Key, Kv, RangeQuery, Snapshot, View } from './kv.ts'
import { readRange } from './read-range.ts'
import { SortedEntries } from './sorted-entries.ts'

export function memoryKv(): Kv {
  return new MemoryKv()
}

/** No method awaits anything, so each runs in one turn of the event loop and is atomic. */
class MemoryKv implements Kv {
  readonly #entries = new SortedEntries()
  #lastVersion = 0
  #lastCheck: CheckReport | undefined
  #closed = false

  /** A check only counts the entries: nothing in memory outlives the process. */
  readonly integrity: Integrity = {
    check: async () => {
      this.#lastCheck = {
        startedMs: 0,
        entries: [...this.#entries.all()].length,
        coversBelow: this.#lastVersion + 1,
        damagedRecords: 0,
        damagedKeys: [],
      }
      return this.#lastCheck
    },
    damage: async () => undefined,
    lastCheck: async () => this.#lastCheck,
    covers: coversVersion,
    beginRun: async () => {},
    endRun: async () => {},
    distrust: async () => {},
  }

  async get(keys: readonly Key[]): Promise<(Entry | undefined)[]> {
    this.#assertOpen()
    return this.#lookUp(keys)
  }

  async range(query: RangeQuery): Promise<Entry[]> {
    this.#assertOpen()
    return rangeOf(this.#entries, query, asIs)
  }

  async view<T>(
    keys: readonly Key[],
    queries: readonly RangeQuery[],
    read: (entry: Entry, query: number) => T,
  ): Promise<View<T>> {
    this.#assertOpen()
    return {
      entries: this.#lookUp(keys),
      found: queries.map((query, index) => rangeOf(this.#entries, query, (entry) => read(entry, index))),
    }
  }

  async commit(commit: Commit): Promise<boolean> {
    this.#assertOpen()
    assertCommit(commit)
    if (!(commit.checks ?? []).every((check) => this.#holds(check))) return false
    for (const { key, value } of commit.puts ?? []) {
      this.#entries.put({ key: ownCopy(key), value: ownCopy(value), version: versionOfNumber(++this.#lastVersion) })
    }
    for (const key of commit.deletes ?? []) this.#entries.delete(key)
    return true
  }

  async now(): Promise<number> {
    this.#assertOpen()
    return systemClock.now()
  }

  async snapshot(): Promise<Snapshot> {
    this.#assertOpen()
    const copy = new SortedEntries()
    for (const entry of this.#entries.all()) copy.put(entry)
    return { range: async (query) => rangeOf(copy, query, asIs), close: async () => {} }
  }

  async close(): Promise<void> {
    this.#closed = true
  }

  #assertOpen(): void {
    if (this.#closed) throw new Error('the metadata engine is closed')
  }

  #lookUp(keys: readonly Key[]): (Entry | undefined)[] {
    for (const key of keys) assertKey(key)
    return keys.map((key) => this.#entries.get(key))
  }

  #holds(check: Check): boolean {
    if ('version' in check) return this.#entries.get(check.key)?.version === check.version
    if ('absent' in check) return this.#entries.get(check.key) === undefined
    return rangeOf(this.#entries, { start: check.emptyFrom, end: check.emptyTo, limit: 1 }, asIs).length === 0
  }
}

function rangeOf<T>(entries: SortedEntries, query: RangeQuery, read: (entry: Entry) => T): T[] {
  const bounds = rangeBounds(query)
  if (bounds === undefined) return []
  return readRange(query, bounds.start, (start) => entries.walk(start, bounds.end, query.reverse ?? false), read)
}

const asIs = (entry: Entry): Entry => entry

/** A copy, because the caller can reuse its buffers after a commit. */
function ownCopy(bytes: Buffer): Buffer {
  return Buffer.from(bytes)
}
