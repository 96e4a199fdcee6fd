/** A pool of sessions. A broken one is replaced when it is needed. */
import type { KvConnections } from '../kv.ts'
import type { Primary } from './primary.ts'
import type { Session } from './session.ts'

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
      if (this.#count < this.#most) return this.#open()
      await new Promise<void>((resolve, reject) => this.#waiting.push({ resolve, reject }))
    }
  }

  async #open(): Promise<Session> {
    this.#count++
    try {
      return await this.#primary.open()
    } catch (error) {
      this.#count--
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

  /** Closes idle sessions at once, and the others when they are returned. */
  async close(): Promise<void> {
    this.#closed = true
    for (const { reject } of this.#waiting.splice(0)) reject(new Error('the metadata engine is closed'))
    await Promise.all(this.#idle.splice(0).map((session) => session.close()))
  }
}
