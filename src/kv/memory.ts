/** The metadata store in memory: the semantics of the durable engines for tests and throw-away servers, and nothing kept. */
import { assertCommit, assertKey, rangeBounds } from './bounds.ts'
import { coversVersion, versionOfNumber } from './entry-version.ts'
import type { Check, CheckReport, Entry, Key, Kv, RangeQuery } from './kv.ts'
import { readRange } from './read-range.ts'
import { SortedEntries } from './sorted-entries.ts'

export function memoryKv(): Kv {
  const entries = new SortedEntries()
  let lastVersion = 0
  let closed = false

  function assertOpen(): void {
    if (closed) throw new Error('the metadata store is closed')
  }

  function lookUp(key: Key): Entry | undefined {
    assertKey(key)
    return entries.get(key)
  }

  const range = <T>(query: RangeQuery, read: (entry: Entry) => T): T[] => rangeOf(entries, query, read)

  function holds(check: Check): boolean {
    if ('version' in check) return entries.get(check.key)?.version === check.version
    if ('absent' in check) return entries.get(check.key) === undefined
    return range({ start: check.emptyFrom, end: check.emptyTo, limit: 1 }, asIs).length === 0
  }

  let lastCheck: CheckReport | undefined
  const check = async (): Promise<CheckReport> => {
    const { length } = [...entries.all()]
    lastCheck = { startedMs: 0, entries: length, coversBelow: lastVersion + 1, damagedRecords: 0, damagedKeys: [] }
    return lastCheck
  }

  // No method awaits anything: each sees and leaves one state of the map, which is all that atomicity takes here.
  return {
    // Memory is not checked: what is wrong with it ends with the process.
    integrity: {
      check,
      damage: async () => undefined,
      lastCheck: async () => lastCheck,
      covers: coversVersion,
      beginRun: async () => {},
      endRun: async () => {},
      distrust: async () => {},
    },

    async get(keys) {
      assertOpen()
      return keys.map(lookUp)
    },

    async range(query) {
      assertOpen()
      return range(query, asIs)
    },

    async view(keys, queries, read) {
      assertOpen()
      return {
        entries: keys.map(lookUp),
        found: queries.map((query, place) => range(query, (entry) => read(entry, place))),
      }
    },

    async commit(commit) {
      assertOpen()
      assertCommit(commit)
      if (!(commit.checks ?? []).every(holds)) return false
      for (const { key, value } of commit.puts ?? []) {
        entries.put({ key: ownCopy(key), value: ownCopy(value), version: versionOfNumber(++lastVersion) })
      }
      for (const key of commit.deletes ?? []) entries.delete(key)
      return true
    },

    async snapshot() {
      assertOpen()
      const copy = new SortedEntries()
      for (const entry of entries.all()) copy.put(entry)
      return { range: async (query) => rangeOf(copy, query, asIs), close: async () => {} }
    },

    async close() {
      closed = true
    },
  }
}

function rangeOf<T>(entries: SortedEntries, query: RangeQuery, read: (entry: Entry) => T): T[] {
  const bounds = rangeBounds(query)
  if (bounds === undefined) return []
  return readRange(query, bounds.start, (start) => entries.walk(start, bounds.end, query.reverse ?? false), read)
}

const asIs = (entry: Entry): Entry => entry

/** The caller may reuse its buffers once a commit is through. */
function ownCopy(bytes: Buffer): Buffer {
  return Buffer.from(bytes)
}
