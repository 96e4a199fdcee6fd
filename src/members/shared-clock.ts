/**
 * A clock that all members agree on: the database's, measured now and then and carried on by this process's monotonic clock. Small differences are made up for
 * slowly, so that the clock never goes back for them. A large one means that the database's clock was set: the clock follows at once, and says so.
 */
import type { Clock } from '../clock.ts'
import type { LeaseTime } from '../lease-time.ts'
import { limits } from '../limits.ts'

/** The clock runs faster or slower by this share while it makes up for a difference. */
const slewRate = 0.05

export interface Measured {
  /** What the database said. */
  databaseMs: number
  /** Monotonic times before it was asked, and after it answered. */
  askedMs: number
  answeredMs: number
}

export class SharedClock implements Clock {
  readonly #own: Clock
  readonly #time: LeaseTime
  readonly #warn: (message: string) => void
  /** The clock showed this at that monotonic time. */
  #anchor: { shownMs: number; atMs: number }
  /** What is still to be made up for from the anchor on. */
  #behindMs = 0

  constructor(own: Clock, time: LeaseTime, first: Measured, warn: (message: string) => void) {
    this.#own = own
    this.#time = time
    this.#warn = warn
    this.#anchor = { shownMs: midOf(first).databaseMs, atMs: midOf(first).atMs }
  }

  now(): number {
    return Math.floor(this.#shownAt(this.#time.nowMs()))
  }

  uptime(): ReturnType<Clock['uptime']> {
    return this.#own.uptime()
  }

  random(size: number): Buffer {
    return this.#own.random(size)
  }

  learn(measured: Measured): void {
    const { databaseMs, atMs, uncertainMs } = midOf(measured)
    // The database can have read its clock at any time between question and answer, so a smaller difference may be none.
    const behindMs = beyond(databaseMs - this.#shownAt(atMs), uncertainMs)
    const nowMs = this.#time.nowMs()
    this.#anchor = { shownMs: this.#shownAt(nowMs), atMs: nowMs }
    this.#behindMs = behindMs
    if (Math.abs(behindMs) <= limits.clockDifferenceMs) return
    this.#anchor.shownMs += behindMs
    this.#behindMs = 0
    this.#warn(`the clock of the metadata database was set ${said(behindMs)}; times of records follow it`)
  }

  #shownAt(atMs: number): number {
    const passedMs = atMs - this.#anchor.atMs
    const mostMs = Math.max(0, passedMs) * slewRate
    const madeUpMs = Math.max(-mostMs, Math.min(mostMs, this.#behindMs))
    return this.#anchor.shownMs + passedMs + madeUpMs
  }
}

/** By how much the given clock is ahead of the database's, as far as the measurement can tell. */
export function aheadOf(own: Clock, time: LeaseTime, measured: Measured): number {
  const { databaseMs, atMs, uncertainMs } = midOf(measured)
  return Math.round(beyond(own.now() - (time.nowMs() - atMs) - databaseMs, uncertainMs))
}

const said = (ms: number): string => `${ms > 0 ? 'ahead' : 'back'} by ${(Math.abs(ms) / 1000).toFixed(1)} s`

function midOf({ databaseMs, askedMs, answeredMs }: Measured): {
  databaseMs: number
  atMs: number
  uncertainMs: number
} {
  const uncertainMs = (answeredMs - askedMs) / 2
  return { databaseMs, atMs: askedMs + uncertainMs, uncertainMs }
}

/** The part of a difference that its uncertainty does not explain. */
function beyond(differenceMs: number, uncertainMs: number): number {
  return differenceMs > 0 ? Math.max(0, differenceMs - uncertainMs) : Math.min(0, differenceMs + uncertainMs)
}
