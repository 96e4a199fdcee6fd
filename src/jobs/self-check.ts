/** Decides when all metadata is checked: soon after each start, at intervals, and when a job needs the result. */
import { setMaxListeners } from 'node:events'
import type { Backend } from '../commits/backend.ts'
import { limits } from '../limits.ts'
import { openPace } from './tasks/pace.ts'

export interface SelfCheckOptions {
  backend: Backend
  /** Absent: as fast as it goes. */
  scrubBytesPerSecond?: number | undefined
  monotonicMs(): number
  warn?(message: string): void
}

export class SelfCheck {
  readonly #options: SelfCheckOptions
  readonly #stopping = new AbortController()
  #lastMs: number | undefined

  constructor(options: SelfCheckOptions) {
    this.#options = options
    // Each read of a page adds a listener.
    setMaxListeners(0, this.#stopping.signal)
  }

  async runIfDue(): Promise<void> {
    const everyMs = (await this.found()) === undefined ? limits.selfCheckIntervalMs : limits.selfCheckAgainMs
    const { monotonicMs } = this.#options
    if (this.#lastMs === undefined || monotonicMs() - this.#lastMs >= everyMs) await this.run()
  }

  stop(): void {
    this.#stopping.abort(new Error('the process ends'))
  }

  /** Whether a run failed because it was stopped. */
  isCutOff(error: unknown): boolean {
    return this.#stopping.signal.aborted && error === this.#stopping.signal.reason
  }

  /** What the last check found wrong with the metadata; `undefined`: nothing. */
  async found(): Promise<string | undefined> {
    const { integrity } = this.#options.backend.kv
    const damage = await integrity.damage()
    if (damage !== undefined) return damage
    const records = (await integrity.lastCheck())?.damagedRecords ?? 0
    return records === 0 ? undefined : `${records} records are not what was written`
  }

  async run(): Promise<void> {
    const { backend, scrubBytesPerSecond = Number.POSITIVE_INFINITY, monotonicMs, warn = () => {} } = this.#options
    const pace = openPace(scrubBytesPerSecond)
    const { damagedRecords, damagedKeys } = await backend.kv.integrity.check({
      pace: (bytes) => pace.take(bytes, this.#stopping.signal),
    })
    this.#lastMs = monotonicMs()
    // The engine itself reports any other damage.
    if (damagedRecords > 0) {
      warn(
        `${damagedRecords} records of the metadata are damaged, among them ${damagedKeys.slice(0, 3).join(', ')}: nothing is reclaimed. Restore a backup, or run holdfast recover`,
      )
    }
  }
}
