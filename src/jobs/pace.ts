/** Holds work to so many bytes a second, so that it leaves disks and processors to requests. */
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises'
import { limits } from '../limits.ts'
import type { TaskArguments } from '../store/records.ts'

export interface Pace {
  /** Infinity: no limit. May be changed at any time. */
  bytesPerSecond: number
  /** Resolves when `bytes` more may be worked on. More than a second's bytes are let through at once, and paid for by those that follow. Rejects with the reason when aborted. */
  take(bytes: number, signal?: AbortSignal): Promise<void>
}

/** Time as a pace goes by it: a clock that nobody can set. */
export interface PaceClock {
  monotonicMs(): number
  /** Rejects with the reason when aborted. */
  delay(ms: number, signal: AbortSignal | undefined): Promise<void>
}

const processClock: PaceClock = {
  monotonicMs: () => performance.now(),
  delay: (ms, signal) =>
    delay(ms, undefined, signal === undefined ? {} : { signal }).catch(() => signal?.throwIfAborted()),
}

export function openPace(bytesPerSecond: number, clock: PaceClock = processClock): Pace {
  /** When all that was let through has been paid for. */
  let paidMs = Number.NEGATIVE_INFINITY
  const pace: Pace = {
    bytesPerSecond,
    async take(bytes, signal) {
      signal?.throwIfAborted()
      // Also without a limit: whoever waits for this thread goes first.
      await turn()
      const nowMs = clock.monotonicMs()
      const fromMs = Math.max(paidMs, nowMs - limits.paceBurstMs)
      paidMs = fromMs + (bytes / pace.bytesPerSecond) * 1000
      if (fromMs > nowMs) await clock.delay(fromMs - nowMs, signal)
    },
  }
  return pace
}

/** Of a task whose request may ask for one, `bytesPerSecond` or `unlimited`. `usual`: else; absent: no limit. */
export function rateOf({ arguments: asked }: { arguments: TaskArguments }, usual: number | undefined): number {
  if (asked.unlimited === true) return Number.POSITIVE_INFINITY
  return (typeof asked.bytesPerSecond === 'number' ? asked.bytesPerSecond : usual) ?? Number.POSITIVE_INFINITY
}
