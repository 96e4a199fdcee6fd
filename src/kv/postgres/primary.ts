/** Opens sessions to the primary, remembers a failure to reach it for a moment, and checks whether it is still alive. */
import { KvUnavailable } from '../kv.ts'
import { jitter } from './jitter.ts'
import type { ServerUrl } from './servers.ts'
import { Session } from './session.ts'
import { ConfigurationRefused } from './session-rules.ts'

/** How long calls fail at once after an attempt has failed. The spread keeps gateways from reconnecting at the same moment. */
const pauseMs = { least: 100, spread: 200 }

export class Primary {
  readonly #servers: readonly ServerUrl[]
  #failure: KvUnavailable | undefined
  #failedUntilMs = 0
  #probing: Promise<boolean> | undefined

  constructor(servers: readonly ServerUrl[]) {
    this.#servers = servers
  }

  /** Rejects with `KvUnavailable` or `ConfigurationRefused`. */
  async open(warn: (message: string) => void = () => {}): Promise<Session> {
    if (this.#failure !== undefined && performance.now() < this.#failedUntilMs) throw this.#failure
    try {
      return await this.#openFirst(warn)
    } catch (error) {
      if (error instanceof KvUnavailable) {
        this.#failure = error
        this.#failedUntilMs = performance.now() + pauseMs.least + jitter() * pauseMs.spread
      }
      throw error
    }
  }

  /** Tries all servers at once, because a dead one can take long to fail. Only the primary accepts; the others report that they are read-only. */
  async #openFirst(warn: (message: string) => void): Promise<Session> {
    const watch = { isAlive: () => this.isAlive() }
    const attempts = this.#servers.map((server) => Session.open(server, { warn, watch }))
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
      throw new KvUnavailable('The metadata database cannot be reached.', {
        cause: causes.length === 1 ? causes[0] : error,
      })
    }
  }

  /** Whether the primary answers a new session in time. Concurrent calls share one attempt. */
  isAlive(): Promise<boolean> {
    this.#probing ??= this.open()
      .then((session) => session.close())
      .then(
        () => true,
        () => false,
      )
      .finally(() => {
        this.#probing = undefined
      })
    return this.#probing
  }
}
