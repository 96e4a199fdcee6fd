/** The time that locks are judged by, while the machine's clock is set back, set ahead, or believed. */
import * as fc from 'fast-check'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { Clock } from '../../src/clock.ts'
import type { Backend } from '../../src/commits/backend.ts'
import { advanceLockClock, confirmLockClock, lockClockState, lockNow } from '../../src/commits/lock-clock.ts'
import { limits } from '../../src/limits.ts'
import { createBucket } from '../../src/objects/buckets.ts'
import { setRetention } from '../../src/objects/change-version.ts'
import { deleteObject } from '../../src/objects/delete-object.ts'
import { lockClockKey } from '../../src/records/keyspace.ts'
import { lockClockCodec } from '../../src/records/record-codecs.ts'
import { contentAt, seal } from '../../src/records/record-format.ts'
import type { LockClockRecord } from '../../src/records/records.ts'
import { type ClockReading, firstMark, nextMark } from '../../src/rules/lock-time.ts'
import { memoryStore, outcome, put, scope, type TestStore } from '../objects/fixture.ts'
import { seededClock, seededRandom } from '../support/seeded.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
const stepsMs = limits.lockClockStepsMs
const downtimeMs = limits.lockClockDowntimeMs
const boot = 'boot'

const known: LockClockRecord = {
  trustedMs: 100 * dayMs,
  measured: { boot, ms: dayMs },
  stepsUsedMs: 0,
  downtimeUsedMs: 0,
}

/** Later by what was measured, with the machine's clock so far ahead of the mark. */
const later = (measuredMs: number, aheadMs: number, bootNow = boot): ClockReading => ({
  machineMs: known.trustedMs + aheadMs,
  uptime: { boot: bootNow, ms: bootNow === boot ? dayMs + measuredMs : measuredMs },
})

describe('the mark', () => {
  it.each<[string, reading: ClockReading, trustedAhead: number]>([
    ['goes on with the machine’s clock', later(minuteMs, minuteMs), minuteMs],
    ['follows a step within the allowance', later(minuteMs, minuteMs + stepsMs), minuteMs + stepsMs],
    ['goes on as measured when the step is greater', later(minuteMs, minuteMs + stepsMs + 1), minuteMs],
    ['goes on as measured when the clock is years ahead', later(minuteMs, 1000 * dayMs), minuteMs],
    ['goes on as measured when the clock was set back', later(minuteMs, -hourMs), minuteMs],
    ['goes on as measured when the clock is a little behind', later(minuteMs, minuteMs - 1), minuteMs],
    ['goes on as measured when the clock is not a number', later(minuteMs, Number.NaN), minuteMs],
    ['stays when nothing has passed', later(0, -1), 0],
    ['follows a month that the machine slept through', later(30 * dayMs, 30 * dayMs), 30 * dayMs],
    ['follows days that the machine was off', later(minuteMs, downtimeMs, 'next boot'), downtimeMs],
    ['stays when the machine was off for longer', later(minuteMs, downtimeMs + 1, 'next boot'), 0],
    ['stays when the clock was set back while the machine was off', later(minuteMs, -dayMs, 'next boot'), 0],
    ['takes an uptime that went back for another boot', later(-1, downtimeMs), downtimeMs],
  ])('%s', (_, reading, trustedAhead) => {
    expect(nextMark(known, reading).trustedMs).toBe(known.trustedMs + trustedAhead)
  })

  it.each<[string, usedMs: number, measuredMs: number, isBelieved: boolean]>([
    ['of all steps together no more than the allowance is followed', stepsMs, 0, false],
    ['the last of the allowance is', stepsMs - hourMs, 0, true],
    ['the allowance comes back with measured time', stepsMs, hourMs * (limits.lockClockStepsAgainMs / stepsMs), true],
    ['and not sooner', stepsMs, hourMs * (limits.lockClockStepsAgainMs / stepsMs) - minuteMs, false],
  ])('%s', (_, stepsUsedMs, measuredMs, isBelieved) => {
    const aheadMs = measuredMs + hourMs
    const mark = nextMark({ ...known, stepsUsedMs }, later(measuredMs, aheadMs))
    expect(mark.trustedMs).toBe(known.trustedMs + (isBelieved ? aheadMs : measuredMs))
  })

  it('goes on from the first format, which says neither boot nor allowance', () => {
    const first = Buffer.from(JSON.stringify({ trustedMs: known.trustedMs }))
    const bytes = seal(lockClockKey, Buffer.concat([Buffer.alloc(contentAt), first]))
    const upgraded = lockClockCodec.decode(lockClockKey, bytes)
    expect(nextMark(upgraded, later(0, downtimeMs)).trustedMs).toBe(known.trustedMs + downtimeMs)
    const written = lockClockCodec.encode(lockClockKey, upgraded)
    expect(lockClockCodec.decode(lockClockKey, written)).toEqual(upgraded)
  })
})

describe('over months', () => {
  /** What happens to a machine: time passes, its clock is set, it is off. */
  type Event = ['runs' | 'is off', ms: number] | ['is set', aheadMs: number] | ['restarts']

  /** How far ahead of the true time the mark is in the end. The server looks at the clock every hour that it runs. */
  function end(events: readonly Event[]): { ahead: number; awaits: boolean } {
    const clock = seededClock(seededRandom(1))
    const reading = (): ClockReading => ({ machineMs: clock.now(), uptime: clock.uptime() })
    let trueMs = clock.now()
    let mark = firstMark(reading())
    const look = (): void => {
      mark = nextMark(mark, reading())
    }
    for (const [what, ms = 0] of events) {
      if (what === 'is set') clock.set(ms)
      if (what === 'restarts') clock.reboot()
      if (what === 'is off') {
        clock.set(ms)
        clock.reboot()
        trueMs += ms
      }
      for (let passed = 0; what === 'runs' && passed < ms; passed += hourMs) {
        clock.advance(hourMs)
        trueMs += hourMs
        look()
      }
      look()
    }
    return { ahead: mark.trustedMs - trueMs, awaits: clock.now() - mark.trustedMs > limits.lockClockLagMs }
  }
  const times = (count: number, events: Event[]): Event[] => Array.from({ length: count }, () => events).flat()

  it('100 steps of 23 hours, one after the other, gain no more than the allowance', () => {
    expect(end(times(100, [['is set', 23 * hourMs]])).ahead).toBeLessThanOrEqual(stepsMs)
  })

  it('nor do steps of any size, forth and back', () => {
    const steps = times(1000, [
      ['is set', hourMs],
      ['is set', -minuteMs],
    ])
    expect(end(steps).ahead).toBeLessThanOrEqual(stepsMs)
  })

  it('a step each hour for a month gains the allowance twice: what there is, and what comes back', () => {
    const steps = times(30 * 24, [
      ['is set', hourMs],
      ['runs', hourMs],
    ])
    expect(end(steps).ahead).toBeLessThanOrEqual(2 * stepsMs + hourMs)
  })

  it('a step at each of 100 restarts of the machine gains no more than the allowance for downtime', () => {
    const steps = times(100, [['is set', 23 * hourMs], ['restarts']])
    expect(end(steps).ahead).toBeLessThanOrEqual(downtimeMs + stepsMs)
  })

  it.each<[string, Event[], behind: number, awaits: boolean]>([
    [
      'half a year of weekends off needs no confirmation',
      times(26, [
        ['runs', 5 * dayMs],
        ['is off', 2 * dayMs],
      ]),
      0,
      false,
    ],
    [
      'nor do corrections of a second an hour',
      times(26 * 7 * 24, [
        ['runs', hourMs],
        ['is set', 1000],
        ['is set', -1000],
      ]),
      -1000,
      false,
    ],
    [
      'nor does an update of the machine each night',
      times(180, [
        ['runs', dayMs],
        ['is off', 5 * minuteMs],
      ]),
      0,
      false,
    ],
    [
      'a month off does',
      [
        ['runs', dayMs],
        ['is off', 30 * dayMs],
        ['runs', dayMs],
      ],
      30 * dayMs,
      true,
    ],
  ])('%s', (_, events, behind, awaits) => {
    expect(end(events)).toMatchObject({ ahead: 0 - behind, awaits })
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
    await createBucket(store.backend, { name: 'bucket', owner: 'main', ...location, objectLock })
    const { versionId: written } = await put(store, 'key')
    const untilMs = (await lockNow(store.backend)) + hourMs
    await setRetention(store.backend, scope, { key: 'key' }, { mode: 'COMPLIANCE', untilMs }, false)
    return written
  }

  const removal = (backend = made.backend): Promise<string> =>
    outcome(deleteObject(backend, scope, { key: 'key', versionId, bypassGovernance: true }))

  /** The server runs, and its jobs tell the time once a minute, whatever the machine's clock says. */
  async function runs(ms: number, machineRunsMs = ms): Promise<void> {
    for (let passed = 0; passed < ms; passed += minuteMs) {
      made.clock.advance(minuteMs)
      made.clock.set((machineRunsMs * minuteMs) / ms - minuteMs)
      await advanceLockClock(made.backend)
    }
  }

  /** Another process over the same data: it knows what is stored, and nothing else. */
  const restarted = ({ now }: Pick<Clock, 'now'>): Backend => ({ ...made.backend, clock: { ...made.clock, now } })

  it('ends after an hour', async () => {
    made.clock.advance(hourMs - 1)
    expect(await removal()).toBe('AccessDenied')
    made.clock.advance(1)
    expect(await removal()).toBe('ok')
  })

  it('neither ends sooner nor later when the clock is set back', async () => {
    made.clock.set(-1000 * dayMs)
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
    made.clock.set(stepsMs)
    expect(await removal()).toBe('ok')
  })

  it('does not end when the clock goes ahead by more, but when its hour has been measured', async () => {
    made.clock.set(stepsMs + 1)
    expect(await removal()).toBe('AccessDenied')
    await runs(59 * minuteMs)
    expect(await removal()).toBe('AccessDenied')
    await runs(minuteMs)
    expect(await removal()).toBe('ok')
  })

  it('ends when an operator confirms the step', async () => {
    made.clock.set(1000 * dayMs)
    expect(await lockClockState(made.backend)).toMatchObject({ awaitsConfirmation: true })
    expect(await removal()).toBe('AccessDenied')
    expect(await confirmLockClock(made.backend)).toMatchObject({ awaitsConfirmation: false })
    expect(await removal()).toBe('ok')
  })

  it('does not end by a confirmation of a clock that was set back', async () => {
    made.clock.set(-1000 * dayMs)
    const before = await lockNow(made.backend)
    expect(await confirmLockClock(made.backend)).toEqual({
      trustedMs: before,
      machineMs: made.clock.now(),
      awaitsConfirmation: false,
    })
    expect(await removal()).toBe('AccessDenied')
  })

  it('does not end by a restart, whatever the clock says then', async () => {
    for (const machineAheadMs of [-1000 * dayMs, stepsMs + 1, 1000 * dayMs, 0]) {
      const backend = restarted({ now: () => made.clock.now() + machineAheadMs })
      await advanceLockClock(backend)
      expect(await removal(backend)).toBe('AccessDenied')
    }
    await runs(hourMs)
    expect(await removal(restarted(made.clock))).toBe('ok')
  })

  it('is given and judged by the trusted time, not by the machine’s', async () => {
    made.clock.set(-1000 * dayMs)
    const untilMs = made.clock.now() + hourMs
    const retention = { mode: 'COMPLIANCE', untilMs } as const
    await put(made, 'other')
    expect(await outcome(setRetention(made.backend, scope, { key: 'other' }, retention, false))).toBe('InvalidArgument')
  })

  /** While the clock is years ahead. */
  async function loseTheMark(): Promise<void> {
    await made.kv.commit({ deletes: [lockClockKey] })
    made.clock.set(1000 * dayMs)
  }

  it('stays when the record of the time is not there, though nothing seems to be wrong', async () => {
    await loseTheMark()
    await advanceLockClock(made.backend)
    expect(await removal()).toBe('AccessDenied')
    expect(await lockClockState(made.backend)).toMatchObject({ awaitsConfirmation: true })
    made.clock.advance(hourMs)
    expect(await removal()).toBe('ok')
  })

  it('stays when the record of the time is not there, and can be ended by an operator who confirms the clock', async () => {
    await loseTheMark()
    expect(await removal()).toBe('AccessDenied')
    await confirmLockClock(made.backend)
    expect(await removal()).toBe('ok')
  })

  it('stays when the record of the time is hidden: nobody is told a time then', async () => {
    await loseTheMark()
    const damaged = { startedMs: 0, entries: 0, coversBelow: 0, damagedRecords: 0, damagedKeys: [], damage: 'a page' }
    vi.spyOn(made.kv.integrity, 'check').mockImplementation(async () => damaged)
    expect(await removal()).toBe('ServiceUnavailable')
    expect(await outcome(advanceLockClock(made.backend))).toBe('ServiceUnavailable')
    expect(await outcome(confirmLockClock(made.backend))).toBe('ServiceUnavailable')
    expect(await made.kv.get([lockClockKey])).toEqual([undefined])
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
    fc.integer({ min: -400 * dayMs, max: -1 }),
    fc.integer({ min: stepsMs + 1, max: 400 * dayMs }),
  )
  const events = fc.array(fc.record({ offsetMs: jump, passedMs: fc.nat(20 * minuteMs), job: fc.boolean() }), {
    maxLength: 30,
  })
  await fc.assert(
    fc.asyncProperty(events, async (history) => {
      const clock = seededClock(seededRandom(1))
      let offsetNowMs = 0
      const { backend } = memoryStore({ clock })
      await advanceLockClock(backend)
      for (const { offsetMs, passedMs, job } of history) {
        clock.advance(passedMs)
        clock.set(offsetMs - offsetNowMs)
        offsetNowMs = offsetMs
        if (job) await advanceLockClock(backend)
        expect(await lockNow(backend)).toBe(clock.now() - offsetMs)
      }
    }),
    { numRuns: 300 },
  )
})
