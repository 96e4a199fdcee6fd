/** Reads from PostgreSQL. Lookups of one turn of the event loop share a statement; each view or range takes one of its own. */
import { assertKey, rangeBounds } from '../bounds.ts'
import type { Entry, Fold, Key, RangeQuery, View } from '../kv.ts'
import { KvUnavailable } from '../kv.ts'
import { behindGroup, keyAfter, later, textAt } from '../ordered-key.ts'
import { isConnectionLost, isRefusedForNow, type Session, type Statement } from './session.ts'
import type { Sessions } from './sessions.ts'
import { entryIn, getStatement, Parts, viewStatement } from './statements.ts'

interface Asked {
  keys: readonly Key[]
  resolve(entries: (Entry | undefined)[]): void
  reject(error: unknown): void
}

/** Keys that one statement looks up; the next statement takes the rest. */
const keysMax = 2000
const pageOfSteps = 200

export class Reader {
  readonly #sessions: Sessions
  #asked: Asked[] = []
  #scheduled = false

  constructor(sessions: Sessions) {
    this.#sessions = sessions
  }

  /** Lookups that arrive while all sessions are busy share the next statement. */
  get(keys: readonly Key[]): Promise<(Entry | undefined)[]> {
    for (const key of keys) assertKey(key)
    if (keys.length === 0) return Promise.resolve([])
    return new Promise((resolve, reject) => {
      this.#asked.push({ keys, resolve, reject })
      this.#schedule()
    })
  }

  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    setImmediate(() => void this.#answer())
  }

  async #answer(): Promise<void> {
    let batch: Asked[] = []
    try {
      const rows = await this.#reading((session) => {
        // Taken as late as possible, to include all lookups that arrived in the meantime. A retry repeats the same batch.
        if (batch.length === 0) batch = this.#takeBatch()
        return session.run(getStatement(batch.flatMap(({ keys }) => keys)))
      })
      const found = new Parts(rows).byKey()
      for (const { keys, resolve } of batch) resolve(keys.map((key) => entryIn(found, key)))
    } catch (error) {
      for (const { reject } of batch.length === 0 ? this.#takeBatch() : batch) reject(error)
    }
  }

  #takeBatch(): Asked[] {
    let count = 0
    let keys = 0
    for (const asked of this.#asked) {
      keys += asked.keys.length
      if (count > 0 && keys > keysMax) break
      count++
    }
    const batch = this.#asked.splice(0, count)
    this.#scheduled = false
    if (this.#asked.length > 0) this.#schedule()
    return batch
  }

  /** `clock_timestamp`, because `now` would be the time at which the transaction began. */
  async now(): Promise<number> {
    const text = 'select floor(extract(epoch from clock_timestamp()) * 1000)::bigint'
    const [row] = await this.#reading((session) => session.run({ name: 'now', text }))
    return Number(row?.[0])
  }

  async range(query: RangeQuery): Promise<Entry[]> {
    const { found } = await this.view([], [query], asIs)
    return found[0] ?? []
  }

  async view<T>(
    keys: readonly Key[],
    queries: readonly RangeQuery[],
    read: (entry: Entry, query: number) => T,
  ): Promise<View<T>> {
    for (const key of keys) assertKey(key)
    const statement = viewStatement(keys, queries)
    if (queries.some(takesSteps)) return this.#viewInSteps(keys, queries, read)
    const rows = statement === undefined ? [] : await this.#reading((session) => session.run(statement))
    const parts = new Parts(rows)
    const ranges = queries.map((_, at) => parts.range(at))
    if (queries.some((query, at) => endedEarly(query, ranges[at] ?? []))) return this.#viewInSteps(keys, queries, read)
    const found = parts.byKey()
    return {
      entries: keys.map((key) => entryIn(found, key)),
      found: ranges.map((range, at) => range.map((entry) => read(entry, at))),
    }
  }

  /** For keys that hold NULs before a delimiter, which few clients ever create: several statements in one snapshot. */
  #viewInSteps<T>(
    keys: readonly Key[],
    queries: readonly RangeQuery[],
    read: (entry: Entry, query: number) => T,
  ): Promise<View<T>> {
    return this.#reading((session) =>
      atOneMoment(session, async () => {
        const found = new Parts(keys.length === 0 ? [] : await session.run(getStatement(keys))).byKey()
        const ranges: T[][] = []
        for (const [at, query] of queries.entries()) {
          const entries = await rangeInSession(session, query)
          ranges.push(entries.map((entry) => read(entry, at)))
        }
        return { entries: keys.map((key) => entryIn(found, key)), found: ranges }
      }),
    )
  }

  /** Retries once after a broken connection, because the server may only have restarted. */
  async #reading<T>(work: (session: Session) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#sessions.use(work)
      } catch (error) {
        if (error instanceof KvUnavailable) throw error
        if (isRefusedForNow(error))
          throw new KvUnavailable('The metadata database refuses to read now.', { cause: error })
        if (!isConnectionLost(error)) throw error
        if (attempt === 2) throw new KvUnavailable('The metadata database does not answer.', { cause: error })
      }
    }
  }
}

const asIs = (entry: Entry): Entry => entry

/** Runs `work` in one snapshot. */
export async function atOneMoment<T>(session: Session, work: () => Promise<T>): Promise<T> {
  await session.run({ text: 'begin transaction isolation level repeatable read, read only' })
  try {
    return await work()
  } finally {
    await session.run({ text: 'commit' })
  }
}

/** A range with any fold. It comes from one snapshot only within a transaction. */
export async function rangeInSession(session: Session, query: RangeQuery): Promise<Entry[]> {
  if (!takesSteps(query)) {
    const rows = await session.run(viewStatement([], [query]) ?? nothing)
    const range = new Parts(rows).range(0)
    if (!endedEarly(query, range)) return range
  }
  return query.fold === undefined ? [] : rangeInSteps(session, query, query.fold)
}

const nothing: Statement = { text: 'select 0 where false' }

async function rangeInSteps(session: Session, query: RangeQuery, fold: Fold): Promise<Entry[]> {
  const found: Entry[] = []
  const end = rangeBounds(query)?.end
  let start = rangeBounds(query)?.start
  while (start !== undefined && end !== undefined && found.length < query.limit) {
    const rows = await session.run(viewStatement([], [{ start, end, limit: pageOfSteps }]) ?? nothing)
    const page = new Parts(rows).range(0)
    let behind: Key | undefined
    for (const entry of page) {
      if (found.length === query.limit) break
      start = keyAfter(entry.key)
      if (behind !== undefined && entry.key.compare(behind) < 0) continue
      found.push(entry)
      behind = behindGroup(entry.key, fold)
    }
    start = page.length < pageOfSteps ? undefined : later(start, behind)
  }
  return found
}

/** Whether a fold takes several statements: the function in the database searches stored texts, in which NULs are escaped, so it cannot find a delimiter with a NUL. */
const takesSteps = ({ fold }: RangeQuery): boolean => fold?.text === 'element' && fold.delimiter.includes(0)

/** Whether the function in the database stopped at a key whose group it can't determine. */
function endedEarly({ fold, limit }: RangeQuery, entries: readonly Entry[]): boolean {
  const last = entries.at(-1)
  if (fold?.text !== 'element' || last === undefined || entries.length === limit) return false
  return textAt(last.key, fold.head.length).includes('\0')
}
