/** A few sessions that statements take in turn. One that broke is replaced when it is needed. */
import { KvUnavailable } from '../kv.ts'
import type { ServerUrl } from './servers.ts'
import { Session } from './session.ts'

export class Sessions {
  readonly #servers: readonly ServerUrl[]
  readonly #most: number
  #idle: Session[] = []
  #count = 0
  #waiting: { resolve(): void; reject(error: Error): void }[] = []
  #closed = false
  /** While the database can't be reached, not everybody waits for a connection attempt of their own. */
  #failedUntilMs = 0
  #failure: unknown

  constructor(servers: readonly ServerUrl[], most: number) {
    this.#servers = servers
    this.#most = most
  }

  /** Whether a statement would begin at once. */
  get hasRoom(): boolean {
    return this.#idle.length > 0 || this.#count < this.#most
  }

  /** Rejects with `KvUnavailable`. */
  async use<T>(work: (session: Session) => Promise<T>): Promise<T> {
    const session = await this.#take()
    try {
      return await work(session)
    } finally {
      this.#giveBack(session)
    }
  }

  async #take(): Promise<Session> {
    while (true) {
      if (this.#closed) throw new Error('the metadata store is closed')
      const idle = this.#idle.pop()
      if (idle !== undefined) {
        if (!idle.isBroken) return idle
        this.#count--
        continue
      }
      if (this.#count < this.#most) return this.#open()
      await new Promise<void>((resolve, reject) => this.#waiting.push({ resolve, reject }))
    }
  }

  async #open(): Promise<Session> {
    if (performance.now() < this.#failedUntilMs) throw this.#failure
    this.#count++
    try {
      return await Session.open(this.#servers)
    } catch (error) {
      this.#count--
      if (error instanceof KvUnavailable) {
        this.#failure = error
        // Not all gateways at the same moment.
        this.#failedUntilMs = performance.now() + 100 + Math.random() * 200
      }
      this.#wakeOne()
      throw error
    }
  }

  #giveBack(session: Session): void {
    if (session.isBroken || this.#closed) {
      this.#count--
      void session.close()
    } else this.#idle.push(session)
    this.#wakeOne()
  }

  #wakeOne(): void {
    this.#waiting.shift()?.resolve()
  }

  /** Idle sessions end at once; the others when they are given back. */
  async close(): Promise<void> {
    this.#closed = true
    for (const { reject } of this.#waiting.splice(0)) reject(new Error('the metadata store is closed'))
    await Promise.all(this.#idle.splice(0).map((session) => session.close()))
  }
}
