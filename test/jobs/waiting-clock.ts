/** A clock for paces that only their waits move. */
import type { PaceClock } from '../../src/jobs/tasks/pace.ts'

export function waitingClock(): PaceClock & { nowMs: number } {
  const clock = {
    nowMs: 0,
    monotonicMs: () => clock.nowMs,
    delay: async (ms: number) => {
      clock.nowMs += ms
    },
  }
  return clock
}
