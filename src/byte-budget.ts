/** Limits the bytes in memory at one time. A caller that wants more than is free waits; callers are served in order. */
import { S3Error } from './errors.ts'

interface Waiting {
  bytes: number
  start(): void
}

export class ByteBudget {
  #free: number
  readonly #waiting: Waiting[] = []

  /** `bytes`: at least the most that one caller asks for. */
  constructor(bytes: number) {
    this.#free = bytes
  }

  /** Rejects with SlowDown when no room becomes free within `waitMs`. */
  async spend<T>(bytes: number, work: () => Promise<T>, waitMs?: number): Promise<T> {
    if (this.#waiting.length > 0 || bytes > this.#free) await this.#wait(bytes, waitMs)
    else this.#free -= bytes
    try {
      return await work()
    } finally {
      this.#free += bytes
      this.#admit()
    }
  }

  #wait(bytes: number, waitMs: number | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined
      const waiting = {
        bytes,
        start: () => {
          clearTimeout(timer)
          resolve()
        },
      }
      this.#waiting.push(waiting)
      if (waitMs === undefined) return
      timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1)
        reject(new S3Error('SlowDown'))
        // The next caller in line may want less.
        this.#admit()
      }, waitMs)
    })
  }

  #admit(): void {
    for (let next = this.#waiting[0]; next !== undefined && next.bytes <= this.#free; next = this.#waiting[0]) {
      this.#waiting.shift()
      this.#free -= next.bytes
      next.start()
    }
  }
}
