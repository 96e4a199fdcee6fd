/** Counts failed log-ins by address and by key, and refuses more of them for a while. */
import { limits } from '../limits.ts'
import { LogInRefused } from './log-in-refused.ts'

interface Failures {
  count: number
  /** When the first of them was, on a monotonic clock. */
  sinceMs: number
}

interface Attempt {
  /** Reports success, so that this attempt no longer counts as failed, nor `attempts - 1` others of the same address. */
  succeeded(attempts?: number): void
}

/** Each server counts for itself, because only its first process has an admin port. With several gateways, an attacker can try as often as all their limits allow together. */
export class Attempts {
  /** By address or key. The least recently changed is first. */
  readonly #failures = new Map<string, Failures>()
  readonly #nowMs: () => number

  /** `nowMs`: milliseconds of a monotonic clock. */
  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs
  }

  /**
   * Counts the attempt as failed until its `succeeded` is called, so that many concurrent attempts can't slip through. Throws `LogInRefused`.
   */
  begin({ address, accessKeyId }: { address: string; accessKeyId?: string }): Attempt {
    const counted: [string, number][] = [[`address ${address}`, limits.logInsFailedOfAddressMax]]
    if (accessKeyId !== undefined) counted.push([`key ${accessKeyId}`, limits.logInsFailedOfKeyMax])
    for (const [name, max] of counted) this.#refuseBeyond(name, max)
    for (const [name] of counted) this.#add(name, 1)
    return {
      succeeded: (attempts = 1) => {
        for (const [name] of counted) for (let i = 0; i < attempts; i++) this.#add(name, -1)
      },
    }
  }

  #refuseBeyond(name: string, max: number): void {
    const known = this.#known(name)
    if (known === undefined || known.count < max) return
    const retryAfterSeconds = Math.ceil((known.sinceMs + limits.logInsFailedWindowMs - this.#nowMs()) / 1000)
    throw new LogInRefused('TooManyLogIns', 'Too many log-ins have failed. Try again later.', { retryAfterSeconds })
  }

  #known(name: string): Failures | undefined {
    const known = this.#failures.get(name)
    if (known === undefined || this.#nowMs() - known.sinceMs < limits.logInsFailedWindowMs) return known
    this.#failures.delete(name)
    return undefined
  }

  #add(name: string, by: 1 | -1): void {
    const { count, sinceMs } = this.#known(name) ?? { count: 0, sinceMs: this.#nowMs() }
    // Keeps the order: the longest unchanged first.
    this.#failures.delete(name)
    if (count + by > 0) this.#failures.set(name, { count: count + by, sinceMs })
    if (this.#failures.size <= limits.logInsRemembered) return
    for (const oldest of this.#failures.keys()) {
      this.#failures.delete(oldest)
      return
    }
  }
}
