/** The load of a process: what one report shows, the next shows too, and for long enough that no scraper misses it. */
import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { openProcessLoad } from '../../src/metrics/process-load.ts'

const minuteMs = 60_000
const blockedMs = 400

/** Keeps the event loop from its work, and waits until the monitor has seen that. */
async function block(): Promise<void> {
  await delay(100)
  for (const beganMs = performance.now(); performance.now() - beganMs < blockedMs; );
  await delay(100)
}

it('a late event loop is in the reports of everybody who asks, until the next minute is over', async () => {
  let nowMs = 0
  const load = openProcessLoad(() => nowMs)
  const latest = (): number => load.report().loopDelayMs.max
  try {
    await block()
    const seen = latest()
    expect(seen).toBeGreaterThan(blockedMs / 2)
    expect(latest()).toBe(seen)
    nowMs = minuteMs
    expect([latest(), latest()]).toEqual([seen, seen])
    nowMs = 2 * minuteMs
    expect(latest()).toBe(seen)
    expect(latest()).toBeLessThan(seen)
  } finally {
    load.stop()
  }
})
