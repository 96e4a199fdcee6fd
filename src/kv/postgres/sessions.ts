/** A pool of sessions. A broken one is replaced when it is needed. */
import type { KvConnections } from '../kv.ts'
import { type Primary, PrimaryFull } from './primary.ts'
import type { Session } from './session.ts'

/** How long a caller waits for one of the sessions that are open, while the primary gives out no more connections, and how often it tries to open one meanwhile. */
const fullPatienceMs = 2000
const fullLookMs = 100

export class Sessions {
  readonly #primary: Primary
  readonly #most: number
  #idle: Session[] = []
  #count = 0
  #waiting: { resolve(): void; reject(error: Error): void }[] = []
  #closed = false

  constructor(primary: Primary, most: number) {
    this.#primary = primary
    this.#most = most
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

  state(): KvConnections {
    return { open: this.#count, idle: this.#idle.length, waiting: this.#waiting.length, most: this.#most }
  }

  async #take(): Promise<Session> {
    const givesUpMs = performance.now() + fullPatienceMs
    while (true) {
      if (this.#closed) throw new Error('the metadata engine is closed')
      // An idle session of a server that is down would take as long to find that out.
      if (this.#primary.isFailing) await this.#primary.assertNotFailing()
      const idle = this.#idle.pop()
      if (idle !== undefined) {
        if (!idle.isBroken) return idle
        this.#count--
        continue
      }
      if (this.#count >= this.#most) await this.#oneGivenBack()
      else {
        try {
          return await this.#open()
        } catch (error) {
          if (!(error instanceof PrimaryFull) || this.#count === 0 || performance.now() > givesUpMs) throw error
        }
        await this.#oneGivenBack(fullLookMs)
      }
    }
  }

  /** Resolves after `ms` at the latest, if given. */
  #oneGivenBack(ms?: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting = { resolve, reject }
      this.#waiting.push(waiting)
      if (ms === undefined) return
      setTimeout(() => {
        this.#waiting = this.#waiting.filter((other) => other !== waiting)
        resolve()
      }, ms)
    })
  }

  async #open(): Promise<Session> {
    this.#count++
    try {
      return await this.#primary.open()
    } catch (error) {
      this.#count--
      // While others are open, callers wait for one of those.
      if (!(error instanceof PrimaryFull) || this.#count === 0) this.#wakeOne()
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

  /** Closes idle sessions at once, and the others when they are returned. */
  async close(): Promise<void> {
    this.#closed = true
    for (const { reject } of this.#waiting.splice(0)) reject(new Error('the metadata engine is closed'))
    await Promise.all(this.#idle.splice(0).map((session) => session.close()))
  }
}
