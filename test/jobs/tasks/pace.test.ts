/** Work held to a rate, on a clock of the test. */
import { describe, expect, it } from 'vitest'
import { openPace, type PaceClock } from '../../../src/jobs/tasks/pace.ts'

/** Time passes only while somebody waits. */
function waitingClock(): PaceClock & { nowMs: number } {
  const clock = {
    nowMs: 0,
    monotonicMs: () => clock.nowMs,
    delay: async (ms: number, signal: AbortSignal | undefined) => {
      signal?.throwIfAborted()
      clock.nowMs += ms
    },
  }
  return clock
}

const total = 10_000_000

describe('a pace', () => {
  it.each([
    ['small steps', 10_000],
    ['steps as large as a second', 1_000_000],
    ['steps larger than a second', 2_500_000],
  ])('takes as long as its rate says, in %s', async (_, step) => {
    const clock = waitingClock()
    const pace = openPace(1_000_000, clock)
    for (let bytes = 0; bytes < total; bytes += step) await pace.take(step)
    // The last step has been let through and is not paid for yet.
    await pace.take(0)
    expect(clock.nowMs).toBeGreaterThanOrEqual(9_899)
    expect(clock.nowMs).toBeLessThanOrEqual(10_000)
  })

  it('saves nothing up while nothing is done', async () => {
    const clock = waitingClock()
    const pace = openPace(1_000, clock)
    await pace.take(1_000)
    clock.nowMs += 60_000
    await pace.take(1_000)
    const fromMs = clock.nowMs
    await pace.take(0)
    expect(clock.nowMs - fromMs).toBeGreaterThanOrEqual(899)
  })

  it('makes up for what was let through side by side', async () => {
    const clock = waitingClock()
    clock.delay = async (ms) => {
      const untilMs = clock.nowMs + ms
      await new Promise((resolve) => setImmediate(resolve))
      clock.nowMs = Math.max(clock.nowMs, untilMs)
    }
    const pace = openPace(1_000, clock)
    for (let round = 0; round < 3; round++) await Promise.all(Array.from({ length: 5 }, () => pace.take(1_000)))
    await pace.take(0)
    expect(clock.nowMs).toBeGreaterThanOrEqual(14_800)
    expect(clock.nowMs).toBeLessThanOrEqual(15_100)
  })

  it('without a limit never waits', async () => {
    const clock = waitingClock()
    const pace = openPace(Number.POSITIVE_INFINITY, clock)
    for (let i = 0; i < 100; i++) await pace.take(total)
    expect(clock.nowMs).toBe(0)
  })

  it('goes by a rate that was changed', async () => {
    const clock = waitingClock()
    const pace = openPace(1_000, clock)
    await pace.take(1_000)
    pace.bytesPerSecond = 100_000
    await pace.take(100_000)
    await pace.take(0)
    // What was owed is paid at the new rate, too.
    expect(clock.nowMs).toBeGreaterThanOrEqual(909)
    expect(clock.nowMs).toBeLessThanOrEqual(1_011)
  })

  it('lets what waits go by the new rate', async () => {
    const clock = waitingClock()
    const pace = openPace(1_000, clock)
    await pace.take(1_000_000)
    pace.bytesPerSecond = () => (clock.nowMs === 0 ? 1_000 : Number.POSITIVE_INFINITY)
    await pace.take(1)
    expect(clock.nowMs).toBeLessThanOrEqual(500)
  })

  it('ends a wait when it is aborted', async () => {
    const pace = openPace(1)
    const abort = new AbortController()
    await pace.take(1_000_000)
    const waiting = pace.take(1, abort.signal)
    abort.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
  })
})
