/** What is done again while an endpoint is busy or away. */
import { setTimeout as delay } from 'node:timers/promises'
import { endpointLimits } from './endpoint-limits.ts'
import { isPassing } from './failures.ts'

/** For work that may be repeated. Rejects with its last failure. */
export async function persistently<T>(work: () => Promise<T>): Promise<T> {
  for (let failed = 1; ; failed++) {
    try {
      return await work()
    } catch (error) {
      if (!isPassing(error) || failed === endpointLimits.attempts) throw error
      await pauseAfter(failed)
    }
  }
}

/** Waits longer after each failure. */
export function pauseAfter(failed: number): Promise<void> {
  return delay(Math.min(endpointLimits.pauseMaxMs, endpointLimits.pauseMs * 2 ** (failed - 1)))
}
