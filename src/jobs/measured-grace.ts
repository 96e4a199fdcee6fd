/** Which garbage has waited for the grace, by time that was measured. The machine's clock may be set ahead meanwhile, for a minute or for good. */
import type { Backend } from '../commits/backend.ts'
import { lockNow } from '../commits/lock-clock.ts'

/** What the machine's clock said at an uptime. */
interface Look {
  machineMs: number
  uptimeMs: number
}

/** How many looks are kept for one grace. More would let garbage go sooner after the clock was set, by a part of the grace. */
const looksMax = 64

/** Of one process, which keeps it from run to run. */
export class MeasuredGrace {
  readonly #looks: Look[] = []
  /** The lowest difference of the machine's clock and the uptime, as far as this process has seen. */
  #aheadMs: number | undefined
  #lastUptimeMs = 0

  /**
   * Garbage whose id is of this time or older has waited for `graceMs`: by the machine's clock, and by the uptime as well. If the clock was set, garbage waits for the
   * grace from then on.
   */
  async dueBefore(backend: Pick<Backend, 'kv' | 'clock' | 'lockClock'>, graceMs: number): Promise<number> {
    // What the clock of locks does not believe at the start, an uptime must have measured.
    this.#aheadMs ??= Math.min(backend.clock.now(), await lockNow(backend)) - backend.clock.uptime().ms
    const look = { machineMs: backend.clock.now(), uptimeMs: backend.clock.uptime().ms }
    this.#aheadMs = Math.min(this.#aheadMs, look.machineMs - look.uptimeMs)
    // A clock that was set back gives ids anew that it had before, from what it may have said right after the last look.
    const setBackToMs = look.machineMs - (look.uptimeMs - this.#lastUptimeMs)
    for (const earlier of this.#looks) {
      if (earlier.machineMs > setBackToMs) earlier.machineMs = setBackToMs - 1
    }
    this.#lastUptimeMs = look.uptimeMs
    const newest = this.#looks.at(-1)
    if (newest === undefined || look.uptimeMs - newest.uptimeMs >= graceMs / looksMax) this.#looks.push(look)
    const waited = this.#looks.filter(({ uptimeMs }) => uptimeMs <= look.uptimeMs - graceMs)
    // Only the newest of them says anything. The others are kept for a longer grace.
    this.#looks.splice(0, Math.max(0, this.#looks.length - 2 * looksMax))
    const measuredMs = this.#aheadMs + look.uptimeMs - graceMs
    return Math.min(look.machineMs - graceMs, Math.max(measuredMs, waited.at(-1)?.machineMs ?? measuredMs))
  }
}
