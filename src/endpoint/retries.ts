/** Retries while an endpoint is busy or away. */
import { setTimeout as delay } from 'node:timers/promises'
import { endpointLimits } from './endpoint-limits.ts'
import { isTransient } from './failures.ts'

/** For work that may be repeated. Rejects with its last failure. */
export async function withRetries<T>(work: () => Promise<T>): Promise<T> {
  for (let failures = 1; ; failures++) {
    try {
      return await work()
    } catch (error) {
      if (!isTransient(error) || failures === endpointLimits.attempts) throw error
      await pauseAfterFailure(failures)
    }
  }
}

/** Waits twice as long after each failure, up to a maximum. `failures`: how many there were in a row. */
export function pauseAfterFailure(failures: number): Promise<void> {
  return delay(Math.min(endpointLimits.pauseMaxMs, endpointLimits.pauseMs * 2 ** (failures - 1)))
}
