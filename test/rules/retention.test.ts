/** What Object Lock allows, by rows of what AWS documents. */
import { describe, expect, it } from 'vitest'
import type { DefaultRetention } from '../../src/records/bucket-record.ts'
import type { Retention, RetentionMode } from '../../src/records/object-attributes.ts'
import {
  checkPeriod,
  checkRemovable,
  checkRetentionChange,
  checkRetentionDate,
  retentionFrom,
} from '../../src/rules/retention.ts'
import { outcomeOf } from '../objects/fixture.ts'

const nowMs = Date.UTC(2026, 6, 1)
const past = nowMs - 1
const future = nowMs + 1000
const later = nowMs + 2000

const governance = (untilMs: number): Retention => ({ mode: 'GOVERNANCE', untilMs })
const compliance = (untilMs: number): Retention => ({ mode: 'COMPLIANCE', untilMs })

const claim = (bypassGovernance: boolean) => ({ nowMs, bypassGovernance })

/** As a record comes back from the metadata. */
const stored = <T>(record: T): T => JSON.parse(JSON.stringify(record)) as T

describe('a version may be removed', () => {
  it.each<[string, Retention | undefined, boolean | undefined, without: string, withBypass: string]>([
    ['that was never locked', undefined, undefined, 'ok', 'ok'],
    ['whose hold was lifted', undefined, false, 'ok', 'ok'],
    ['under a hold', undefined, true, 'AccessDenied', 'AccessDenied'],
    ['under governance', governance(future), undefined, 'AccessDenied', 'ok'],
    ['under governance whose hold was lifted', governance(future), false, 'AccessDenied', 'ok'],
    ['under governance and a hold', governance(future), true, 'AccessDenied', 'AccessDenied'],
    ['under compliance', compliance(future), undefined, 'AccessDenied', 'AccessDenied'],
    ['under compliance and a hold', compliance(future), true, 'AccessDenied', 'AccessDenied'],
    ['whose governance has expired', governance(past), undefined, 'ok', 'ok'],
    ['whose compliance has expired', compliance(past), undefined, 'ok', 'ok'],
    ['whose compliance ends right now', compliance(nowMs), undefined, 'ok', 'ok'],
    ['whose compliance ends next', compliance(nowMs + 1), undefined, 'AccessDenied', 'AccessDenied'],
    ['whose compliance has expired, under a hold', compliance(past), true, 'AccessDenied', 'AccessDenied'],
    ['with a date that is none', compliance(Number.NaN), undefined, 'AccessDenied', 'AccessDenied'],
    [
      'with a date that was none when stored',
      stored(compliance(Number.NaN)),
      undefined,
      'AccessDenied',
      'AccessDenied',
    ],
    ['retained forever', compliance(Number.POSITIVE_INFINITY), undefined, 'AccessDenied', 'AccessDenied'],
  ])('%s', (_, retention, legalHold, without, withBypass) => {
    expect(outcomeOf(() => checkRemovable({ retention, legalHold }, claim(false)))).toBe(without)
    expect(outcomeOf(() => checkRemovable({ retention, legalHold }, claim(true)))).toBe(withBypass)
  })

  it('only by a clock that is a number', () => {
    const locked = { retention: compliance(past), legalHold: undefined }
    expect(outcomeOf(() => checkRemovable(locked, { nowMs: Number.NaN, bypassGovernance: false }))).toBe('AccessDenied')
    expect(outcomeOf(() => checkRemovable(locked, { nowMs: -Infinity, bypassGovernance: false }))).toBe('AccessDenied')
  })
})

describe('a retention may change', () => {
  const shorter = nowMs + 500
  it.each<[string, Retention | undefined, Retention | undefined, without: string, withBypass: string]>([
    ['from none to governance', undefined, governance(future), 'ok', 'ok'],
    ['from none to compliance', undefined, compliance(future), 'ok', 'ok'],
    ['from none to none', undefined, undefined, 'ok', 'ok'],
    ['from governance to longer governance', governance(future), governance(later), 'ok', 'ok'],
    ['from governance to the same', governance(future), governance(future), 'ok', 'ok'],
    ['from governance to shorter governance', governance(future), governance(shorter), 'AccessDenied', 'ok'],
    ['from governance to none', governance(future), undefined, 'AccessDenied', 'ok'],
    ['from governance to longer compliance', governance(future), compliance(later), 'AccessDenied', 'ok'],
    ['from governance to shorter compliance', governance(future), compliance(shorter), 'AccessDenied', 'ok'],
    ['from compliance to longer compliance', compliance(future), compliance(later), 'ok', 'ok'],
    ['from compliance to the same', compliance(future), compliance(future), 'ok', 'ok'],
    ['from compliance to shorter compliance', compliance(future), compliance(shorter), 'AccessDenied', 'AccessDenied'],
    [
      'from compliance to one millisecond less',
      compliance(future),
      compliance(future - 1),
      'AccessDenied',
      'AccessDenied',
    ],
    ['from compliance to none', compliance(future), undefined, 'AccessDenied', 'AccessDenied'],
    ['from compliance to longer governance', compliance(future), governance(later), 'AccessDenied', 'AccessDenied'],
    [
      'from compliance to the same in governance',
      compliance(future),
      governance(future),
      'AccessDenied',
      'AccessDenied',
    ],
    ['from expired governance to none', governance(past), undefined, 'ok', 'ok'],
    ['from expired compliance to none', compliance(past), undefined, 'ok', 'ok'],
    ['from expired compliance to governance', compliance(past), governance(future), 'ok', 'ok'],
    [
      'from compliance to a date that is none',
      compliance(future),
      compliance(Number.NaN),
      'AccessDenied',
      'AccessDenied',
    ],
    ['from a date that was none', stored(compliance(Number.NaN)), undefined, 'AccessDenied', 'AccessDenied'],
  ])('%s', (_, retention, next, without, withBypass) => {
    for (const legalHold of [undefined, true, false]) {
      const version = { retention, legalHold }
      expect(outcomeOf(() => checkRetentionChange(version, next, claim(false)))).toBe(without)
      expect(outcomeOf(() => checkRetentionChange(version, next, claim(true)))).toBe(withBypass)
    }
  })

  it('to a date in the future only', () => {
    expect(outcomeOf(() => checkRetentionDate(governance(nowMs + 1), nowMs))).toBe('ok')
    expect(outcomeOf(() => checkRetentionDate(governance(nowMs), nowMs))).toBe('InvalidArgument')
    expect(outcomeOf(() => checkRetentionDate(governance(nowMs - 1), nowMs))).toBe('InvalidArgument')
  })
})

describe('a default retention', () => {
  const rule = (mode: RetentionMode, period: DefaultRetention['period']): DefaultRetention => ({ mode, period })

  it.each<[string, DefaultRetention['period'], string, string]>([
    ['a day', { days: 1 }, '2026-07-01T12:34:56.789Z', '2026-07-02T12:34:56.789Z'],
    ['a day over the end of a month', { days: 1 }, '2026-01-31T00:00:00.000Z', '2026-02-01T00:00:00.000Z'],
    ['a day over a leap day', { days: 1 }, '2028-02-28T00:00:00.000Z', '2028-02-29T00:00:00.000Z'],
    ['a day where there is no leap day', { days: 1 }, '2027-02-28T00:00:00.000Z', '2027-03-01T00:00:00.000Z'],
    ['365 days in a leap year', { days: 365 }, '2028-01-01T00:00:00.000Z', '2028-12-31T00:00:00.000Z'],
    ['a year', { years: 1 }, '2026-07-01T12:34:56.789Z', '2027-07-01T12:34:56.789Z'],
    ['a year in a leap year', { years: 1 }, '2028-01-01T00:00:00.000Z', '2029-01-01T00:00:00.000Z'],
    ['a year from a leap day', { years: 1 }, '2028-02-29T00:00:00.000Z', '2029-03-01T00:00:00.000Z'],
    ['four years from a leap day', { years: 4 }, '2028-02-29T00:00:00.000Z', '2032-02-29T00:00:00.000Z'],
    ['the longest in days', { days: 36_500 }, '2026-01-01T00:00:00.000Z', '2125-12-08T00:00:00.000Z'],
    ['the longest in years', { years: 100 }, '2026-01-01T00:00:00.000Z', '2126-01-01T00:00:00.000Z'],
  ])('lasts %s', (_, period, from, until) => {
    for (const mode of ['GOVERNANCE', 'COMPLIANCE'] as const) {
      const retention = retentionFrom(rule(mode, period), Date.parse(from))
      expect(retention).toEqual({ mode, untilMs: Date.parse(until) })
    }
  })

  it('is none where there is no rule', () => {
    expect(retentionFrom(undefined, nowMs)).toBeUndefined()
  })

  it.each<[DefaultRetention['period'], string]>([
    [{ days: 1 }, 'ok'],
    [{ days: 36_500 }, 'ok'],
    [{ days: 36_501 }, 'InvalidArgument'],
    [{ days: 0 }, 'InvalidArgument'],
    [{ days: -1 }, 'InvalidArgument'],
    [{ days: Number.NaN }, 'InvalidArgument'],
    [{ years: 1 }, 'ok'],
    [{ years: 100 }, 'ok'],
    [{ years: 101 }, 'InvalidArgument'],
    [{ years: 0 }, 'InvalidArgument'],
    [{ years: -1 }, 'InvalidArgument'],
  ])('of %o is %s', (period, answer) => {
    expect(outcomeOf(() => checkPeriod(period))).toBe(answer)
  })
})
