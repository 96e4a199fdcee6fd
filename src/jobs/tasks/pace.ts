/** Limits background work to a number of bytes per second, so that requests get the disks and processors. */
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises'
import { limits } from '../../limits.ts'
import type { TaskArguments } from '../../records/records.ts'

export interface Pace {
  /** Infinity: no limit. Can change at any time; a function is called again before each step. */
  bytesPerSecond: number | (() => number)
  /** Resolves when work on `bytes` more can begin. A call for more than one second's bytes is not split; later calls wait for it. Rejects with the reason when aborted. */
  take(bytes: number, signal?: AbortSignal): Promise<void>
}

/** The monotonic clock of a pace. */
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

/** A changed rate takes effect within this time, also for work that waits. */
const waitMsMax = 500

export function openPace(bytesPerSecond: Pace['bytesPerSecond'], clock: PaceClock = processClock): Pace {
  /** Bytes that were let through ahead of their time. */
  let owedBytes = 0
  let settledMs = clock.monotonicMs()
  const rate = (): number => (typeof pace.bytesPerSecond === 'number' ? pace.bytesPerSecond : pace.bytesPerSecond())
  const settle = (): void => {
    const nowMs = clock.monotonicMs()
    const savedBytesMax = (rate() * limits.paceBurstMs) / 1000
    const paidBytes = (rate() * (nowMs - settledMs)) / 1000
    owedBytes = Number.isFinite(savedBytesMax) ? Math.max(owedBytes - paidBytes, -savedBytesMax) : 0
    settledMs = nowMs
  }
  const pace: Pace = {
    bytesPerSecond,
    async take(bytes, signal) {
      signal?.throwIfAborted()
      // Also without a limit, lets everything that waits for this thread go first.
      await turn()
      for (settle(); owedBytes > 0; settle()) {
        await clock.delay(Math.min(waitMsMax, Math.ceil((owedBytes / rate()) * 1000)), signal)
      }
      owedBytes += bytes
    },
  }
  return pace
}

/** The rate of a task: what its request asks for, as `bytesPerSecond` or `unlimited`, or else `usual`; absent: no limit. */
export function rateOf({ arguments: asked }: { arguments: TaskArguments }, usual: number | undefined): number {
  if (asked.unlimited === true) return Number.POSITIVE_INFINITY
  return (typeof asked.bytesPerSecond === 'number' ? asked.bytesPerSecond : usual) ?? Number.POSITIVE_INFINITY
}
