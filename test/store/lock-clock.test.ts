/** The time that locks are judged by, while the machine's clock is set back, set ahead, or believed. */
import * as fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Clock } from '../../src/clock.ts'
import { limits } from '../../src/limits.ts'
import { createBucket } from '../../src/store/buckets.ts'
import { setRetention } from '../../src/store/change-version.ts'
import { deleteObject } from '../../src/store/delete-object.ts'
import { lockClockKey } from '../../src/store/keyspace.ts'
import {
  advanced,
  advanceLockClock,
  confirmLockClock,
  lockClockState,
  lockNow,
  trustedTime,
} from '../../src/store/lock-clock.ts'
import type { Store } from '../../src/store/store.ts'
import { seededClock, seededRandom } from '../shards/seeded.ts'
import { memoryStore, outcome, put, scope, type TestStore } from './fixture.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const stepMs = limits.lockClockStepMs
const known = { trustedMs: 10 * stepMs }

describe('the trusted time', () => {
  it.each<[string, ahead: number, believed: boolean]>([
    ['is the machine’s when both agree', 0, true],
    ['is the machine’s when it went on', minuteMs, true],
    ['is the machine’s at a full step ahead', stepMs, true],
    ['stays when the machine’s is further ahead', stepMs + 1, false],
    ['stays when the machine’s is years ahead', 1000 * stepMs, false],
    ['stays when the machine’s was set back', -1, false],
    ['stays when the machine’s was set back for years', -1000 * stepMs, false],
    ['stays when the machine’s is no number', Number.NaN, false],
  ])('%s', (_, ahead, believed) => {
    const machineMs = known.trustedMs + ahead
    expect(trustedTime(known, machineMs)).toBe(believed ? machineMs : known.trustedMs)
  })

  it.each<[string, elapsedMs: number, machineAhead: number, trustedAhead: number]>([
    ['goes on with the machine’s', minuteMs, minuteMs, minuteMs],
    ['follows the machine’s within a step of what was measured', minuteMs, minuteMs + stepMs, minuteMs + stepMs],
    ['goes on as measured when the machine’s is further ahead', minuteMs, minuteMs + stepMs + 1, minuteMs],
    ['goes on as measured when the machine’s was set back', minuteMs, -hourMs, minuteMs],
    ['goes on as measured when the machine’s is a little behind', minuteMs, minuteMs - 1, minuteMs],
    ['goes on as measured when the machine’s is no number', minuteMs, Number.NaN, minuteMs],
    ['stays when nothing has passed', 0, -1, 0],
  ])('%s', (_, elapsedMs, machineAhead, trustedAhead) => {
    const next = advanced(known, known.trustedMs + machineAhead, elapsedMs)
    expect(next).toEqual({ trustedMs: known.trustedMs + trustedAhead })
  })
})

describe('a lock of an hour', () => {
  let made: TestStore
  let versionId: string

  beforeEach(async () => {
    made = memoryStore()
    versionId = await lockedForAnHour(made)
  })

  async function lockedForAnHour(store: TestStore): Promise<string> {
    const objectLock = { defaultRetention: undefined }
    const location = { location: 'default', locationConstraint: undefined }
    await createBucket(store.store, { name: 'bucket', owner: 'main', ...location, objectLock })
    const { versionId: written } = await put(store, 'key')
    const untilMs = (await lockNow(store.store)) + hourMs
    await setRetention(store.store, scope, { key: 'key' }, { mode: 'COMPLIANCE', untilMs }, false)
    return written
  }

  const removal = (store = made.store): Promise<string> =>
    outcome(deleteObject(store, scope, { key: 'key', versionId, bypassGovernance: true }))

  /** The server runs, and its jobs tell the time once a minute, whatever the machine's clock says. */
  async function runs(ms: number, machineRunsMs = ms): Promise<void> {
    for (let passed = 0; passed < ms; passed += minuteMs) {
      made.clock.advance((machineRunsMs * minuteMs) / ms)
      await advanceLockClock(made.store, minuteMs)
    }
  }

  /** Another process over the same data: it knows what is stored, and nothing else. */
  const restarted = ({ now }: Pick<Clock, 'now'>): Store => ({ ...made.store, clock: { ...made.clock, now } })

  it('ends after an hour', async () => {
    made.clock.advance(hourMs - 1)
    expect(await removal()).toBe('AccessDenied')
    made.clock.advance(1)
    expect(await removal()).toBe('ok')
  })

  it('neither ends sooner nor later when the clock is set back', async () => {
    made.clock.advance(-1000 * stepMs)
    expect(await removal()).toBe('AccessDenied')
    await runs(59 * minuteMs)
    expect(await removal()).toBe('AccessDenied')
    await runs(minuteMs)
    expect(await removal()).toBe('ok')
  })

  it('neither ends sooner nor later when the clock stands still', async () => {
    await runs(59 * minuteMs, 0)
    expect(await removal()).toBe('AccessDenied')
    await runs(minuteMs, 0)
    expect(await removal()).toBe('ok')
  })

  it('ends when the clock goes ahead within the step', async () => {
    made.clock.advance(stepMs)
    expect(await removal()).toBe('ok')
  })

  it('does not end when the clock goes ahead by more, but when its hour has been measured', async () => {
    made.clock.advance(stepMs + 1)
    expect(await removal()).toBe('AccessDenied')
    await runs(59 * minuteMs)
    expect(await removal()).toBe('AccessDenied')
    await runs(minuteMs)
    expect(await removal()).toBe('ok')
  })

  it('ends when an operator confirms the step', async () => {
    made.clock.advance(1000 * stepMs)
    expect(await lockClockState(made.store)).toMatchObject({ awaitsConfirmation: true })
    expect(await removal()).toBe('AccessDenied')
    expect(await confirmLockClock(made.store)).toMatchObject({ awaitsConfirmation: false })
    expect(await removal()).toBe('ok')
  })

  it('does not end by a confirmation of a clock that was set back', async () => {
    made.clock.advance(-1000 * stepMs)
    const before = await lockNow(made.store)
    expect(await confirmLockClock(made.store)).toEqual({
      trustedMs: before,
      machineMs: made.clock.now(),
      awaitsConfirmation: false,
    })
    expect(await removal()).toBe('AccessDenied')
  })

  it('does not end by a restart, whatever the clock says then', async () => {
    for (const machineAheadMs of [-1000 * stepMs, stepMs + 1, 1000 * stepMs, 0]) {
      const store = restarted({ now: () => made.clock.now() + machineAheadMs })
      await advanceLockClock(store, 0)
      expect(await removal(store)).toBe('AccessDenied')
    }
    await runs(hourMs)
    expect(await removal(restarted(made.clock))).toBe('ok')
  })

  it('is given and judged by the trusted time, not by the machine’s', async () => {
    made.clock.advance(-1000 * stepMs)
    const untilMs = made.clock.now() + hourMs
    const retention = { mode: 'COMPLIANCE', untilMs } as const
    await put(made, 'other')
    expect(await outcome(setRetention(made.store, scope, { key: 'other' }, retention, false))).toBe('InvalidArgument')
  })

  it('stays when the record of the time is damaged', async () => {
    made.clock.advance(2 * hourMs)
    const [entry] = await made.kv.get([lockClockKey])
    const damaged = Buffer.from(entry?.value ?? '')
    damaged[damaged.length - 2] = (damaged.at(-2) ?? 0) ^ 1
    await made.kv.commit({ puts: [{ key: lockClockKey, value: damaged }] })
    await expect(removal()).rejects.toThrow('checksum mismatch')
  })
})

it('the trusted time follows the true one, however the machine’s clock is set', async () => {
  const jump = fc.oneof(
    fc.constant(0),
    fc.integer({ min: -400 * stepMs, max: -1 }),
    // Beyond the step also for a server that has yet to hear of the minutes since its last job.
    fc.integer({ min: stepMs + 1, max: 400 * stepMs }),
  )
  const events = fc.array(fc.record({ offsetMs: jump, passedMs: fc.nat(20 * minuteMs), job: fc.boolean() }), {
    maxLength: 30,
  })
  await fc.assert(
    fc.asyncProperty(events, async (history) => {
      const startMs = Date.UTC(2026, 0)
      let trueMs = startMs
      let machineMs = startMs
      let lastJobMs = startMs
      const clock = { ...seededClock(seededRandom(1)), now: () => machineMs }
      const { store } = memoryStore({ clock })
      await advanceLockClock(store, 0)
      for (const { offsetMs, passedMs, job } of history) {
        trueMs += passedMs
        machineMs = trueMs + offsetMs
        if (job) {
          await advanceLockClock(store, trueMs - lastJobMs)
          lastJobMs = trueMs
        }
        const trustedMs = await lockNow(store)
        expect(trustedMs).toBeLessThanOrEqual(trueMs)
        expect(trustedMs).toBeGreaterThanOrEqual(lastJobMs)
      }
    }),
    { numRuns: 300 },
  )
})
