/** The clock that members agree on, while the database's clock and the time of answers vary. */
import { beforeEach, describe, expect, it } from 'vitest'
import { memoryKv } from '../../src/kv/memory.ts'
import type { LeaseTime } from '../../src/lease-time.ts'
import { listMembers } from '../../src/members/list-members.ts'
import { aheadOf, SharedClock } from '../../src/members/shared-clock.ts'
import { seededClock, seededRandom } from '../support/seeded.ts'
import { leaseMs, World } from './world.ts'

const startMs = Date.UTC(2026, 0, 1)
let monotonicMs: number
let warnings: string[]
let clock: SharedClock
const own = seededClock(seededRandom(1), startMs)
const time: LeaseTime = {
  nowMs: () => monotonicMs,
  sleep: () => ({ ended: Promise.resolve(), cancel: () => {} }),
  every: () => () => {},
}

/** The database said that it is this time, `tookMs` after it was asked, just now. */
const measured = (databaseMs: number, tookMs = 0) => ({
  databaseMs,
  askedMs: monotonicMs - tookMs,
  answeredMs: monotonicMs,
})

beforeEach(() => {
  monotonicMs = 5_000
  warnings = []
  clock = new SharedClock(own, time, measured(startMs), (message) => void warnings.push(message))
})

describe('the shared clock', () => {
  it('goes on with the monotonic clock, in whole milliseconds', () => {
    monotonicMs += 1234.56
    expect(clock.now()).toBe(startMs + 1234)
  })

  it.each([
    ['ahead of', 400],
    ['behind', -400],
  ])('that is %s the database makes up for it slowly, and never goes back', (_, aheadMs) => {
    monotonicMs += 1_000
    const databaseAt = (): number => startMs + monotonicMs - 5_000 - aheadMs
    clock.learn(measured(databaseAt()))
    let lastMs = clock.now()
    expect(lastMs).toBe(databaseAt() + aheadMs)
    for (let i = 0; i < 100; i++) {
      monotonicMs += 100
      expect(clock.now()).toBeGreaterThan(lastMs)
      lastMs = clock.now()
    }
    expect(Math.abs(clock.now() - databaseAt())).toBeLessThanOrEqual(1)
    expect(warnings).toEqual([])
  })

  it('is not moved by an answer that took long', () => {
    monotonicMs += 1_000
    clock.learn(measured(startMs + 1_000, 600))
    monotonicMs += 60_000
    expect(clock.now()).toBe(startMs + 61_000)
  })

  it.each([
    ['ahead', 5_000],
    ['back', -5_000],
  ])('follows a database clock that was set %s at once, and says so', (said, stepMs) => {
    monotonicMs += 1_000
    clock.learn(measured(startMs + 1_000 + stepMs))
    expect(clock.now()).toBe(startMs + 1_000 + stepMs)
    expect(warnings).toEqual([expect.stringContaining(`${said} by 5.0 s`)])
  })

  it('tells by how much a host is ahead, as far as the answer can tell', () => {
    expect(aheadOf(own, time, measured(startMs - 3_000))).toBe(3_000)
    // The database can have read its clock at any time of that second.
    expect(aheadOf(own, time, measured(startMs - 3_000, 1_000))).toBe(2_000)
    expect(aheadOf(own, time, measured(startMs - 400, 1_000))).toBe(0)
  })
})

it('members agree on the time, whatever the clocks of their hosts say, and a host that differs is named', async () => {
  const world = new World(memoryKv())
  const right = await world.join('right')
  const wrong = await world.join('wrong', { clockAheadMs: 90_000 })
  await world.pass(5 * leaseMs)
  for (const { membership } of [right, wrong])
    expect(Math.abs(membership.clock.now() - world.databaseMs)).toBeLessThan(5)
  expect(right.warnings).toEqual([])
  expect(wrong.warnings).toEqual([expect.stringContaining('90.0 s ahead of the metadata database')])
  expect((await listMembers(world.kv)).map(({ clockAheadMs }) => clockAheadMs)).toEqual([0, 90_000])
})
