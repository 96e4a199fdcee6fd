/** Commits to PostgreSQL, several batches at a time. A commit settles only when its outcome is known, and resolves only when it is durable. */
import { setTimeout as delay } from 'node:timers/promises'
import { ProcessEnding } from '../../errors.ts'
import { limits } from '../../limits.ts'
import type { Commit } from '../kv.ts'
import { KvUnavailable } from '../kv.ts'
import { commitStatement, type Prepared, prepare, type Touched, takeBatch } from './commit-batch.ts'
import { jitter } from './jitter.ts'
import { type Primary, PrimaryFull } from './primary.ts'
import {
  isToBeReplaced,
  mayBePurged,
  type RegisteredWriter,
  registerWriter,
  removeWriter,
} from './registered-writer.ts'
import { fencedCode } from './schema.ts'
import { hasCode, isConnectionLost, isRefusedForNow, isToBeRepeated, type Row, type Session } from './session.ts'

interface Waiting {
  prepared: Prepared
  resolve(applied: boolean): void
  reject(error: Error): void
}

const attemptsMax = 20

/** The row that told the outcome of a batch is gone, because the question came more than a week late or the database's clock was set. */
class OutcomeUnknown extends Error {
  constructor() {
    super(
      'the metadata database no longer knows what became of a commit, because what this process had noted there was purged; start it again',
    )
    this.name = 'OutcomeUnknown'
  }
}

export class Writer {
  readonly #lanes: Lane[]
  #waiting: Waiting[] = []
  readonly #underWay = new Map<Lane, Touched>()
  #closing: Promise<void> | undefined
  #patience: NodeJS.Timeout | undefined
  #idle: (() => void) | undefined
  readonly #onFatal: (error: Error) => void
  readonly #primary: Primary

  /** `onFatal`: called when the outcome of a commit can never be known. What waits is rejected. */
  constructor(primary: Primary, lanes: number, onFatal: (error: Error) => void) {
    this.#onFatal = onFatal
    this.#primary = primary
    this.#lanes = Array.from({ length: lanes }, () => new Lane(primary))
  }

  commit(commit: Commit): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ prepared: prepare(commit), resolve, reject })
      // Commits of the same turn of the event loop join the batch.
      if (this.#waiting.length === 1) setImmediate(() => this.#start())
    })
  }

  #start(): void {
    for (const lane of this.#lanes) {
      if (this.#waiting.length === 0) break
      if (this.#underWay.has(lane) || (this.#primary.isFull && this.#isSpare(lane))) continue
      const { batch, touched } = takeBatch(this.#waiting, [...this.#underWay.values()])
      if (batch.length === 0) break
      this.#underWay.set(lane, touched)
      void this.#run(lane, batch)
    }
    if (this.#underWay.size === 0 && this.#waiting.length === 0) this.#idle?.()
  }

  /** Whether the lane has no connection, and others have one. */
  #isSpare(lane: Lane): boolean {
    return !lane.isOpen && this.#lanes.some((other) => other.isOpen)
  }

  async #run(lane: Lane, batch: readonly Waiting[]): Promise<void> {
    try {
      const refused = new Set(await lane.commit(batch.map(({ prepared }) => prepared)))
      for (const [number, { resolve }] of batch.entries()) resolve(!refused.has(number))
    } catch (error) {
      const failed = [...batch]
      // Nothing was sent, and the lanes that are open take it.
      if (error instanceof PrimaryFull && this.#isSpare(lane)) this.#waiting.unshift(...failed.splice(0))
      if (error instanceof OutcomeUnknown) {
        failed.push(...this.#waiting.splice(0))
        this.#onFatal(error)
      }
      for (const { reject } of failed) reject(error instanceof Error ? error : new Error(String(error)))
    }
    this.#underWay.delete(lane)
    this.#start()
  }

  /** Commits that the database can't answer, because it is away or waits for its standby, are rejected after a while: their outcome stays unknown. */
  beginClosing(): void {
    for (const lane of this.#lanes) lane.beginClosing()
    clearTimeout(this.#patience)
    this.#patience = setTimeout(() => {
      for (const lane of this.#lanes) lane.giveUp()
    }, limits.leavePatienceMs)
  }

  /** Begins to close, waits for the commits under way, then closes the connections. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.beginClosing()
    if (this.#waiting.length > 0 || this.#underWay.size > 0) {
      await new Promise<void>((resolve) => {
        this.#idle = resolve
      })
    }
    await Promise.all(this.#lanes.map((lane) => lane.close()))
    clearTimeout(this.#patience)
  }
}

/** One connection that commits one batch after the other, and its row in the database, which records the last of them. */
class Lane {
  readonly #primary: Primary
  #session: Session | undefined
  #writer: RegisteredWriter | undefined
  #operation = 0
  readonly #closing = new AbortController()
  #isGivenUp = false

  constructor(primary: Primary) {
    this.#primary = primary
  }

  get isOpen(): boolean {
    return this.#session?.isBroken === false
  }

  /** Resolves with the indexes of the commits whose checks failed. Rejects with `KvUnavailable` when nothing was written. */
  async commit(batch: readonly Prepared[]): Promise<number[]> {
    for (let attempt = 1; ; attempt++) {
      const { session, writer } = await this.#ready()
      const operation = ++this.#operation
      try {
        const { rows, isDurable } = await session.commit(commitStatement(batch, writer, operation))
        if (isDurable) return refusedIn(rows[0]?.[0])
        // It is applied on this server, but perhaps not on the standby. A later commit that reaches the standby proves that this one did, too.
        const outcome = await this.#outcomeOf(writer, operation)
        if (outcome !== undefined) return outcome
        // A standby without the batch has taken over, so the batch is sent again.
      } catch (error) {
        if (isToBeRepeated(error) && attempt < attemptsMax) continue
        // The epoch has moved on. Only this lane raises it, to find out the outcome of an earlier batch.
        if (hasCode(error, fencedCode)) this.#writer = undefined
        else if (isRefusedForNow(error)) throw refusedForNow(error)
        else if (!isConnectionLost(error)) throw error
        else {
          const outcome = await this.#outcomeOf(writer, operation)
          if (outcome !== undefined) return outcome
        }
        if (attempt >= attemptsMax) throw new KvUnavailable('The metadata database does not answer.', { cause: error })
      }
    }
  }

  /** Rejects with `KvUnavailable`; nothing has been sent by then. */
  async #ready(): Promise<{ session: Session; writer: RegisteredWriter }> {
    if (this.#session === undefined || this.#session.isBroken) {
      void this.#session?.close()
      this.#session = undefined
      this.#session = await this.#primary.open()
    }
    const session = this.#session
    try {
      const known = this.#writer
      const writer = known === undefined || isToBeReplaced(known) ? await registerWriter(session, known) : known
      this.#writer = writer
      return { session, writer }
    } catch (error) {
      if (isRefusedForNow(error)) throw refusedForNow(error)
      throw isConnectionLost(error)
        ? new KvUnavailable('The metadata database does not answer.', { cause: error })
        : error
    }
  }

  /**
   * Finds the outcome of a batch whose answer was lost: the indexes of its refused commits, or `undefined` when the batch was not applied and never will
   * be. Retries until a server can tell, and rejects with `OutcomeUnknown` when none ever will. Raises the writer's epoch, so that the database refuses any statement of the old epoch that is still on its way.
   */
  async #outcomeOf(writer: RegisteredWriter, operation: number): Promise<number[] | undefined> {
    for (let attempt = 0; ; attempt++) {
      try {
        if (this.#session === undefined || this.#session.isBroken) this.#session = await this.#primary.open()
        if (this.#isGivenUp) throw new Error('the metadata engine is closed')
        const { rows, isDurable } = await this.#session.commit({
          text: 'update holdfast_writers set epoch = epoch + 1 where id = $1 returning epoch, last, failed',
          values: [writer.id],
        })
        if (!isDurable) continue
        const [row] = rows
        // If the row was not purged, a standby that lacks it has taken over. Then the batch is lost too.
        if (row === undefined && (await mayBePurged(this.#session, writer))) throw new OutcomeUnknown()
        this.#writer = row && { ...writer, epoch: row[0] ?? '' }
        return row !== undefined && Number(row[1]) === operation ? refusedIn(row[2]) : undefined
      } catch (error) {
        const { signal } = this.#closing
        if (error instanceof OutcomeUnknown) throw error
        // Not `KvUnavailable`, which would say that nothing was written.
        if (signal.aborted)
          throw new ProcessEnding('the outcome of a commit is unknown: this process ends', { cause: error })
        // The jitter keeps gateways from reconnecting all at once.
        await delay(Math.min(2000, 50 * 2 ** Math.min(attempt, 6)) * (0.5 + jitter()), undefined, { signal }).catch(
          () => {},
        )
      }
    }
  }

  /** From now on, does not ask again for outcomes that the database can't tell. */
  beginClosing(): void {
    this.#closing.abort()
  }

  /** Ends the statement under way. */
  giveUp(): void {
    this.#isGivenUp = true
    this.#session?.destroy()
  }

  async close(): Promise<void> {
    const writer = this.#writer
    if (writer !== undefined && this.#session !== undefined && !this.#isGivenUp) {
      await removeWriter(this.#session, writer).catch(() => {})
    }
    await this.#session?.close()
  }
}

const refusedForNow = (cause: unknown): KvUnavailable =>
  new KvUnavailable('The metadata database takes no writes now.', { cause })

/** `{1,4}` */
const refusedIn = (array: Row[number] | undefined): number[] => (array?.match(/\d+/g) ?? []).map(Number)
