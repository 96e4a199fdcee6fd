/** Metadata in PostgreSQL, which any number of processes on any hosts can share. A commit resolves when it is as durable as the server is configured to make it. Knows nothing of what is stored. */
import { assertCommit } from './bounds.ts'
import type { Commit, Entry, Integrity, Key, Kv, KvConnections, RangeQuery, Snapshot, View } from './kv.ts'
import { PostgresIntegrity } from './postgres/integrity.ts'
import { Primary } from './postgres/primary.ts'
import { Reader, rangeInSession } from './postgres/reader.ts'
import { purgeWriters } from './postgres/registered-writer.ts'
import { openSchema } from './postgres/schema.ts'
import { serversOf } from './postgres/servers.ts'
import { ConfigurationRefused } from './postgres/session-rules.ts'
import { Sessions } from './postgres/sessions.ts'
import { Writer } from './postgres/writer.ts'

export interface PostgresOptions {
  /** `postgres://user:password@host:5432,other:5432/database?sslmode=verify-full` */
  url: string
  /** Connections that this process may hold. At least 4. */
  connections?: number
  /** Whether a record is what was written under its key, as far as the record itself can tell. Absent: records are not verified. */
  isWhole?(key: Key, value: Buffer): boolean
  /** Called with one line about what an operator should change. */
  warn?(message: string): void
  /** Called once, when the outcome of a commit can never be known. All calls reject from then on, and the process must end. */
  onFatal?(error: Error): void
}

const defaultConnections = 10
/** Enough for commits, reads, and one snapshot at the same time. */
const connectionsMin = 4
const writersMax = 4

/** Rejects with `KvUnavailable`, or with `ConfigurationRefused` for a server that would lose what it acknowledges. */
export async function openPostgres({
  url,
  connections = defaultConnections,
  isWhole,
  warn,
  onFatal = () => {},
}: PostgresOptions): Promise<Kv> {
  if (connections < connectionsMin) {
    throw new ConfigurationRefused(`${connections} connections are too few: ${connectionsMin} are the least`)
  }
  const primary = new Primary(serversOf(url))
  const first = await primary.open(warn)
  try {
    await openSchema(first)
    await purgeWriters(first)
  } finally {
    await first.close()
  }
  return new PostgresKv(primary, connections, { isWhole: isWhole ?? (() => true), onFatal })
}

class PostgresKv implements Kv {
  readonly integrity: Integrity
  readonly #primary: Primary
  readonly #sessions: Sessions
  readonly #reader: Reader
  readonly #writer: Writer
  #closing: Promise<void> | undefined
  #failure: Error | undefined

  constructor(
    primary: Primary,
    connections: number,
    { isWhole, onFatal }: Required<Pick<PostgresOptions, 'isWhole' | 'onFatal'>>,
  ) {
    const writers = Math.min(writersMax, Math.floor(connections / 2))
    this.#primary = primary
    this.#sessions = new Sessions(primary, connections - writers - 1)
    this.#reader = new Reader(this.#sessions)
    this.#writer = new Writer(primary, writers, (error) => {
      if (this.#failure !== undefined) return
      this.#failure = error
      onFatal(error)
    })
    this.integrity = new PostgresIntegrity(this.#sessions, isWhole)
  }

  async get(keys: readonly Key[]): Promise<(Entry | undefined)[]> {
    this.#assertOpen()
    return this.#reader.get(keys)
  }

  async range(query: RangeQuery): Promise<Entry[]> {
    this.#assertOpen()
    return this.#reader.range(query)
  }

  async view<T>(
    keys: readonly Key[],
    queries: readonly RangeQuery[],
    read: (entry: Entry, query: number) => T,
  ): Promise<View<T>> {
    this.#assertOpen()
    return this.#reader.view(keys, queries, read)
  }

  async commit(commit: Commit): Promise<boolean> {
    this.#assertOpen()
    assertCommit(commit)
    return this.#writer.commit(commit)
  }

  async now(): Promise<number> {
    this.#assertOpen()
    return this.#reader.now()
  }

  connections(): KvConnections {
    return this.#sessions.state()
  }

  /** Takes a connection of its own and runs in one transaction. */
  async snapshot(): Promise<Snapshot> {
    this.#assertOpen()
    const session = await this.#primary.open()
    await session.run({ text: 'begin transaction isolation level repeatable read, read only' })
    // PostgreSQL takes the snapshot at the transaction's first statement.
    await session.run({ text: 'select 1 from holdfast_notes limit 1' })
    return { range: (query) => rangeInSession(session, query), close: () => session.close() }
  }

  beginClosing(): void {
    this.#writer.beginClosing()
  }

  close(): Promise<void> {
    this.#closing ??= (async () => {
      await this.#writer.close()
      await this.#sessions.close()
    })()
    return this.#closing
  }

  #assertOpen(): void {
    if (this.#closing !== undefined) throw new Error('the metadata engine is closed')
    if (this.#failure !== undefined) throw this.#failure
  }
}
