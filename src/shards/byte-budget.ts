/** Bounds the bytes that are held in memory at a time: who wants more than is free waits, in order. */
export class ByteBudget {
  #free: number
  readonly #waiting: { bytes: number; start: () => void }[] = []

  /** At least as much as anybody ever asks for at once. */
  constructor(bytes: number) {
    this.#free = bytes
  }

  async spend<T>(bytes: number, work: () => Promise<T>): Promise<T> {
    if (this.#waiting.length > 0 || bytes > this.#free) {
      await new Promise<void>((start) => this.#waiting.push({ bytes, start }))
    } else this.#free -= bytes
    try {
      return await work()
    } finally {
      this.#free += bytes
      this.#admit()
    }
  }

  #admit(): void {
    for (let next = this.#waiting[0]; next !== undefined && next.bytes <= this.#free; next = this.#waiting[0]) {
      this.#waiting.shift()
      this.#free -= next.bytes
      next.start()
    }
  }
}
