/**
 * The clock by which the age of requests is judged: this host's own, or the database's where more hosts agree with that one (ADR 0070). Never both, so no request is good for longer.
 */
import type { Clock } from '../clock.ts'

/** Clocks that differ by less are the same: no request is refused for so little. */
const slackMs = 60_000

/** By how much the clock of a host is ahead of the database's, as it said last. */
export interface HostClock {
  host: string
  clockAheadMs: number
}

export class RequestClock implements Clock {
  readonly #host: string
  readonly #own: Clock
  readonly #shared: Clock
  #others: readonly number[] = []

  constructor(host: string, own: Clock, shared: Clock) {
    this.#host = host
    this.#own = own
    this.#shared = shared
  }

  /** What all members said about their clocks. Processes of one host have one clock, and so one voice. */
  learn(clocks: readonly HostClock[]): void {
    const byHost = new Map(clocks.map(({ host, clockAheadMs }) => [host, clockAheadMs]))
    byHost.delete(this.#host)
    this.#others = [...byHost.values()]
  }

  now(): number {
    const ownMs = this.#own.now()
    const sharedMs = this.#shared.now()
    const aheadMs = ownMs - sharedMs
    if (isSame(aheadMs, 0)) return ownMs
    const withOwn = this.#others.filter((otherMs) => isSame(otherMs, aheadMs)).length
    const withDatabase = this.#others.filter((otherMs) => isSame(otherMs, 0)).length
    return withDatabase > withOwn ? sharedMs : ownMs
  }

  uptime(): ReturnType<Clock['uptime']> {
    return this.#own.uptime()
  }

  random(size: number): Buffer {
    return this.#own.random(size)
  }
}

const isSame = (oneMs: number, otherMs: number): boolean => Math.abs(oneMs - otherMs) <= slackMs
