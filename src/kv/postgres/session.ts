/** One connection to the primary: opens, checks and configures it, and classifies its failures. */
import type { Socket } from 'node:net'
import type pg from 'pg'
import { type Connecting, clientOf, type ServerUrl } from './servers.ts'
import { ConfigurationRefused, refusalOf, type ServerSettings, warningOf } from './session-rules.ts'

/** Rows as arrays of texts; `null` for NULL. */
export type Row = (string | null)[]

export interface Statement {
  /** Prepared under this name once per session. Absent: not prepared. */
  name?: string
  text: string
  values?: readonly (Buffer | string | number | bigint | boolean | null)[]
}

export interface Watch {
  /** Called when the server has answered. */
  heard(): void
  /** Called when a session has heard nothing for a while. */
  isAlive(): Promise<boolean>
}

const successCode = '00000'
/** Clients learn within two seconds that the database is down. This time, the silence, and the time between two looks must fit into those two seconds. */
export const connectTimeoutMs = 900
/** After this silence the session checks that the server is alive: a long statement alone proves nothing. */
export const silentMsMax = 800
const lookMs = 250

/**
 * Ends no statement, transaction or session because it takes long, whatever the role's settings are. Older servers lack some of those settings.
 * Forbids plans that read more than the rows wanted: the planner's statistics are out of date while a table grows fast.
 */
const setUp = `
select set_config(name, '0', false) from unnest(array['transaction_timeout', 'idle_session_timeout']) as name
  where current_setting(name, true) is not null;
set bytea_output = 'hex'; set synchronous_commit = on; set statement_timeout = 0; set lock_timeout = 0;
set idle_in_transaction_session_timeout = 0; set default_transaction_isolation = 'read committed';
set enable_seqscan = off; set enable_bitmapscan = off; set enable_hashjoin = off; set enable_mergejoin = off;
set max_parallel_workers_per_gather = 0; set jit = off`
const settingsQuery = `select current_setting('server_version_num'), current_setting('fsync'), current_setting('full_page_writes'),
  current_setting('synchronous_commit'), current_setting('synchronous_standby_names'), current_setting('transaction_read_only'), pg_is_in_recovery()`

/** Of the history that a server writes. Each promotion of a standby begins the next one. */
export interface Timeline {
  /** Of the server and all its copies. */
  system: string
  number: number
}
const timelineQuery = `select system_identifier, ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint
  from pg_control_system()`

const asText = { getTypeParser: () => (text: string) => text }

/** A standby, or a server that the operator has made read-only. */
export class ReadOnlyServer extends Error {
  constructor() {
    super('the server is read-only')
    this.name = 'ReadOnlyServer'
  }
}

/** A primary that takes no writes for now: what it holds can be read. */
export class ReadOnlyPrimary extends ReadOnlyServer {}

/** A server that takes writes although another one was promoted in its place. */
export class ReplacedServer extends Error {
  constructor() {
    super('another server was promoted in its place')
    this.name = 'ReplacedServer'
  }
}

export class Session {
  /** Absent: the server does not say. */
  timeline: Timeline | undefined
  /** The server has warned that a transaction was committed but may be missing on the standby. */
  #warned = false
  readonly #client: pg.Client
  readonly #socket: Socket
  readonly #watch: Watch
  #failure: Error | undefined

  private constructor({ client, socket }: Connecting, watch: Watch) {
    this.#client = client
    this.#socket = socket
    this.#watch = watch
    client.on('error', (error) => {
      this.#failure ??= error
    })
    client.on('end', () => {
      this.#failure ??= new Error('the connection to PostgreSQL ended')
    })
    // By the code, because the driver knows the severity only in the server's language. A mere notice has the code of success.
    client.on('notice', ({ code }) => {
      if (code !== successCode) this.#warned = true
    })
  }

  /** Rejects with `ConfigurationRefused`, or with whatever else keeps the server from accepting writes. */
  static async open(
    server: ServerUrl,
    { warn, watch }: { warn: (message: string) => void; watch: Watch },
  ): Promise<Session> {
    const session = new Session(clientOf(server, connectTimeoutMs), watch)
    // The driver's own timeout covers only the connection. This one also covers a server that accepts it and then stays silent.
    const timeout = setTimeout(() => session.destroy(), connectTimeoutMs)
    try {
      await session.#client.connect()
      await session.#makeReady(warn)
      return session
    } catch (error) {
      session.destroy()
      throw error
    } finally {
      clearTimeout(timeout)
    }
  }

  /** Configures the session. Rejects with `ReadOnlyServer` when the server takes no writes. */
  async #makeReady(warn: (message: string) => void): Promise<void> {
    await this.run({ text: setUp })
    const [row = []] = await this.run({ text: settingsQuery })
    const [version, fsync, fullPageWrites, synchronousCommit, synchronousStandbyNames, readOnly, isStandby] =
      row.map(String)
    if (readOnly !== 'off') throw isStandby === 'f' ? new ReadOnlyPrimary() : new ReadOnlyServer()
    const settings: ServerSettings = {
      versionNumber: Number(version),
      fsync: fsync ?? '',
      fullPageWrites: fullPageWrites ?? '',
      synchronousCommit: synchronousCommit ?? '',
      synchronousStandbyNames: synchronousStandbyNames ?? '',
    }
    const refusal = refusalOf(settings)
    if (refusal !== undefined) throw new ConfigurationRefused(refusal)
    const warning = warningOf(settings)
    if (warning !== undefined) warn(warning)
    this.timeline = await this.#timelineNow()
  }

  async #timelineNow(): Promise<Timeline | undefined> {
    try {
      const [row] = await this.run({ text: timelineQuery })
      return { system: row?.[0] ?? '', number: Number(row?.[1]) }
    } catch (error) {
      if (isConnectionLost(error)) throw error
      // Some services hide it, or keep it from their users.
      return undefined
    }
  }

  get isBroken(): boolean {
    return this.#failure !== undefined
  }

  /** Rejects with what the server or the connection said. */
  async run({ name, text, values }: Statement): Promise<Row[]> {
    if (this.#failure !== undefined) throw this.#failure
    const sentMs = performance.now()
    const silence = setInterval(() => {
      if (performance.now() - sentMs >= silentMsMax) void this.#giveUpIfDead()
    }, lookMs)
    try {
      const result = await this.#client.query<Row>({
        text,
        rowMode: 'array',
        types: asText,
        ...(name === undefined ? {} : { name }),
        ...(values === undefined ? {} : { values: [...values] }),
      })
      this.#watch.heard()
      // Several statements in one text give a list of results.
      return Array.isArray(result) ? [] : result.rows
    } catch (error) {
      if (isConnectionLost(error)) this.#failure ??= error instanceof Error ? error : new Error(String(error))
      throw error
    } finally {
      clearInterval(silence)
    }
  }

  async #giveUpIfDead(): Promise<void> {
    if (!(await this.#watch.isAlive())) this.destroy()
  }

  /** Runs a statement that commits. `isDurable`: the server did not give up waiting for a standby. */
  async commit(statement: Statement): Promise<{ rows: Row[]; isDurable: boolean }> {
    this.#warned = false
    const rows = await this.run(statement)
    return { rows, isDurable: !this.#warned }
  }

  /** Drops the connection, and with it the statement under way. */
  destroy(): void {
    this.#failure ??= new Error('the connection to PostgreSQL was given up')
    this.#socket.destroy()
  }

  /** The driver says goodbye, and waits for the server to hang up. One that says nothing is not waited for. */
  async close(): Promise<void> {
    this.#failure ??= new Error('the metadata engine is closed')
    const silence = setTimeout(() => this.destroy(), silentMsMax)
    await this.#client.end().catch(() => {})
    clearTimeout(silence)
  }
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''

/** Connection exceptions; shutdown, crash or recovery of the server; timeouts that end the session; a write on a server that has become a standby; no free connection. */
const lostCodes = /^(?:08...|57P0[1-5]|25P0[34]|25006|53300)$/

/** Whether the session can no longer be used. An error without an SQLSTATE (five characters) came from the connection, not from the server. */
export function isConnectionLost(error: unknown): boolean {
  const code = codeOf(error)
  return lostCodes.test(code) || !/^[0-9A-Z]{5}$/.test(code) || code === 'EPIPE'
}

/** Whether the transaction did nothing and can be retried: serialization failure or deadlock. */
export const isToBeRepeated = (error: unknown): boolean => /^40(?:001|P01)$/.test(codeOf(error))

/** Whether the server did nothing, and may do it later: its disk is full, it is out of memory or locks, it takes no writes, somebody has cancelled the statement, or it waited too long for a lock. */
export const isRefusedForNow = (error: unknown): boolean => /^(?:53...|25006|57014|55P03)$/.test(codeOf(error))

/** Whether the server, or this role, has as many connections as it may. Those that are open go on. */
export const hasNoConnectionLeft = (error: unknown): boolean => hasCode(error, '53300')

export const hasCode = (error: unknown, code: string): boolean => codeOf(error) === code
