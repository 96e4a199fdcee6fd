/** Refuses new data while there is still room for what deletes need to write. Asks the file system rarely, and more often near the end. */
import type { Clock } from '../../clock.ts'
import { limits } from '../../limits.ts'
import type { Fs } from '../fs.ts'
import { StoreFull } from '../shard-store.ts'

const sampleAgeMsMax = 1000

export class FreeSpace {
  readonly #fs: Fs
  readonly #path: string
  readonly #clock: Clock
  #sampledMs = Number.NEGATIVE_INFINITY
  #free = 0
  #sampling: Promise<void> | undefined

  constructor(fs: Fs, path: string, clock: Clock) {
    this.#fs = fs
    this.#path = path
    this.#clock = clock
  }

  /** Throws `StoreFull` when writing `bytes` would cut into the reserve. Returns a promise when it must ask the file system first. */
  requireRoom(bytes: number): Promise<void> | void {
    if (!this.#mustSample(bytes)) return this.#requireKnownRoom(bytes)
    this.#sampling ??= this.#sample().finally(() => {
      this.#sampling = undefined
    })
    return this.#sampling.then(() => this.#requireKnownRoom(bytes))
  }

  #requireKnownRoom(bytes: number): void {
    if (this.#free - bytes >= limits.storeReserveBytes) return
    throw new StoreFull(
      `${this.#path}: ${this.#free} bytes are free, and ${limits.storeReserveBytes} are kept for deletes`,
    )
  }

  /** Counts what was written since the last look at the file system. */
  wrote(bytes: number): void {
    this.#free -= bytes
  }

  #mustSample(bytes: number): boolean {
    const ageMs = this.#clock.now() - this.#sampledMs
    return ageMs < 0 || ageMs > sampleAgeMsMax || this.#free - bytes < 2 * limits.storeReserveBytes
  }

  async #sample(): Promise<void> {
    this.#free = await this.#fs.freeBytes(this.#path)
    this.#sampledMs = this.#clock.now()
  }
}
