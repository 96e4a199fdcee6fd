/** Opens sessions to the primary, remembers a failure to reach it for a moment, and checks whether it is still alive. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { KvUnavailable } from '../kv.ts'
import { jitter } from './jitter.ts'
import type { ServerUrl } from './servers.ts'
import {
  connectTimeoutMs,
  hasNoConnectionLeft,
  ReadOnlyPrimary,
  ReadOnlyServer,
  ReplacedServer,
  Session,
  silentMsMax,
  type Timeline,
} from './session.ts'
import { ConfigurationRefused } from './session-rules.ts'

/** How long calls fail at once after an attempt has failed. The spread keeps gateways from reconnecting at the same moment. */
const pauseMs = { least: 100, spread: 200 }

/** How many attempts to open a session may fail while other sessions hear the server, which means that it is busy, not down. */
const busyAttemptsMax = 5

/** The primary is alive, and gives out no more connections. Those that are open go on. */
export class PrimaryFull extends KvUnavailable {}

/** The primary is alive, and takes no writes. Connections that are open go on reading. */
class PrimaryReadOnly extends PrimaryFull {}

export class Primary {
  readonly #servers: readonly ServerUrl[]
  #failure: KvUnavailable | undefined
  #failedUntilMs = 0
  #probing: Promise<boolean> | undefined
  /** When a session last heard the server, by `performance.now`. */
  #heardMs = Number.NEGATIVE_INFINITY

  /** The newest that any server has had. */
  #timeline: Timeline | undefined
  #sessions: Session[] = []

  constructor(servers: readonly ServerUrl[]) {
    this.#servers = servers
  }

  /** Rejects with `KvUnavailable` or `ConfigurationRefused`. */
  async open(warn: (message: string) => void = () => {}): Promise<Session> {
    if (this.#isPausing) await this.#failAgain()
    for (let attempt = 1; ; attempt++) {
      const beganMs = performance.now()
      try {
        return await this.#openFirst(warn)
      } catch (error) {
        if (!(error instanceof KvUnavailable)) throw error
        // Timers can fire a millisecond early.
        const timedOut = performance.now() - beganMs >= connectTimeoutMs - 2
        if (timedOut && this.#heardMs > beganMs && attempt < busyAttemptsMax) continue
        this.#remember(error)
        throw error
      }
    }
  }

  /** Whether an attempt to reach the primary has just failed. */
  get isFailing(): boolean {
    return this.#isPausing && !this.isFull
  }

  /** Whether the primary has just refused one more connection. */
  get isFull(): boolean {
    return this.#isPausing && this.#failure instanceof PrimaryFull
  }

  get #isPausing(): boolean {
    return performance.now() < this.#failedUntilMs
  }

  /** Rejects with the failure of the last attempt while `isFailing`. */
  async assertNotFailing(): Promise<void> {
    if (this.isFailing) await this.#failAgain()
  }

  async #failAgain(): Promise<never> {
    // A caller that tries again at once must not keep the process from everything else.
    await nextTurn()
    throw this.#failure
  }

  #remember(failure: KvUnavailable): void {
    this.#failure = failure
    this.#failedUntilMs = performance.now() + pauseMs.least + jitter() * pauseMs.spread
  }

  /** Tries all servers at once, because a dead one can take long to fail. Only the primary accepts; the others report that they are read-only. */
  async #openFirst(warn: (message: string) => void): Promise<Session> {
    const watch = {
      isAlive: () => this.isAlive(),
      heard: () => {
        this.#heardMs = performance.now()
      },
    }
    const attempts = this.#servers.map(async (server) => this.#admitted(await Session.open(server, { warn, watch })))
    try {
      const session = await Promise.any(attempts)
      for (const attempt of attempts)
        void attempt.then(
          (other) => (other === session ? undefined : other.close()),
          () => {},
        )
      return session
    } catch (error) {
      const causes = error instanceof AggregateError ? error.errors : [error]
      const refused = causes.find((cause) => cause instanceof ConfigurationRefused)
      if (refused !== undefined) throw refused
      const cause = causes.length === 1 ? causes[0] : error
      if (isFullPrimary(causes)) {
        watch.heard()
        throw new PrimaryFull('The metadata database takes no more connections.', { cause })
      }
      if (isReadOnlyPrimary(causes)) {
        watch.heard()
        throw new PrimaryReadOnly('The metadata database takes no writes now.', { cause })
      }
      throw new KvUnavailable('The metadata database cannot be reached.', { cause })
    }
  }

  /**
   * Of two servers that take writes, the one with the older timeline has been replaced, and may lack what the other has acknowledged since. Throws `ReplacedServer` for it, and
   * drops sessions that it has.
   */
  #admitted(session: Session): Session {
    const { timeline } = session
    this.#sessions = [...this.#sessions.filter(({ isBroken }) => !isBroken), session]
    if (timeline === undefined) return session
    const known = this.#timeline?.system === timeline.system ? this.#timeline.number : 0
    if (timeline.number >= known) this.#timeline = timeline
    for (const one of this.#sessions) if (isBehind(one.timeline, this.#timeline)) one.destroy()
    if (session.isBroken) throw new ReplacedServer()
    return session
  }

  /** Whether any session has heard the primary lately, or it answers a new one in time. Concurrent calls share one attempt. */
  async isAlive(): Promise<boolean> {
    if (performance.now() - this.#heardMs < silentMsMax) return true
    this.#probing ??= this.#openFirst(() => {})
      .then((session) => session.close())
      .then(
        () => true,
        (error) => {
          if (error instanceof KvUnavailable) this.#remember(error)
          return error instanceof PrimaryFull
        },
      )
      .finally(() => {
        this.#probing = undefined
      })
    return this.#probing
  }
}

/** A full server may be a standby, so each of the others must have said that it is one. */
const isFullPrimary = (causes: readonly unknown[]): boolean =>
  causes.some(hasNoConnectionLeft) &&
  causes.every(
    (cause) => hasNoConnectionLeft(cause) || cause instanceof ReadOnlyServer || cause instanceof ReplacedServer,
  )

const isReadOnlyPrimary = (causes: readonly unknown[]): boolean =>
  causes.some((cause) => cause instanceof ReadOnlyPrimary) && causes.every((cause) => cause instanceof ReadOnlyServer)

const isBehind = (one: Timeline | undefined, newest: Timeline | undefined): boolean =>
  one !== undefined && newest !== undefined && one.system === newest.system && one.number < newest.number
