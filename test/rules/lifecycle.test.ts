/** When lifecycle rules remove what, row by row. */
import { describe, expect, it } from 'vitest'
import type { LifecycleFilter, LifecycleRule } from '../../src/records/lifecycle.ts'
import {
  expirationHeader,
  expirationOf,
  markerExpirationOf,
  noncurrentExpirationOf,
  prefixesOf,
  type Subject,
  uploadExpirationOf,
} from '../../src/rules/lifecycle.ts'

const at = (text: string): number => Date.parse(text)
const filtered = (filter: Partial<LifecycleFilter>): LifecycleFilter => ({ form: 'filter', tags: [], ...filter })
const rule = (actions: Partial<LifecycleRule>, filter: Partial<LifecycleFilter> = {}): LifecycleRule => ({
  id: 'rule',
  enabled: true,
  filter: filtered(filter),
  ...actions,
})
const days = (count: number): Partial<LifecycleRule> => ({ expiration: { days: count } })
const modifiedMs = at('2026-01-15T10:30:00Z')
const when = (due: { dueMs: number } | undefined): string | undefined => due && new Date(due.dueMs).toISOString()

describe('the current version expires', () => {
  it.each<[what: string, rules: LifecycleRule[], modified: string, expected: string | undefined]>([
    ['at the first midnight after its days', [rule(days(3))], '2026-01-15T10:30:00Z', '2026-01-19T00:00:00.000Z'],
    ['with its days, if they end at midnight', [rule(days(3))], '2026-01-15T00:00:00Z', '2026-01-18T00:00:00.000Z'],
    ['a millisecond later, a day later', [rule(days(3))], '2026-01-15T00:00:00.001Z', '2026-01-19T00:00:00.000Z'],
    [
      'at a date, however young it is',
      [rule({ expiration: { dateMs: at('2026-01-01') } })],
      '2026-01-15T10:30:00Z',
      '2026-01-01T00:00:00.000Z',
    ],
    [
      'by the rule that comes first',
      [rule(days(9)), rule(days(1))],
      '2026-01-15T10:30:00Z',
      '2026-01-17T00:00:00.000Z',
    ],
    ['by no rule that is disabled', [rule({ ...days(1), enabled: false })], '2026-01-15T10:30:00Z', undefined],
    [
      'by none about other things',
      [rule({ noncurrent: { days: 1 }, abortUploadsDays: 1 })],
      '2026-01-15T10:30:00Z',
      undefined,
    ],
    [
      'by none about delete markers',
      [rule({ expiration: { expiredDeleteMarkers: true } })],
      '2026-01-15T10:30:00Z',
      undefined,
    ],
    [
      'never, where its days end after all dates',
      [rule(days(2 ** 31 - 1))],
      '2026-01-15T10:30:00Z',
      '+275760-09-13T00:00:00.000Z',
    ],
  ])('%s', (_, rules, modified, expected) => {
    expect(when(expirationOf(rules, { key: 'k', size: 5, tags: [], modifiedMs: at(modified) }))).toBe(expected)
  })

  it('and its header names the rule and the time', () => {
    const due = expirationOf([rule({ ...days(1), id: 'clean up, "soon"' })], { key: 'k', size: 1, modifiedMs })
    expect(due && expirationHeader(due)).toBe(
      'expiry-date="Sat, 17 Jan 2026 00:00:00 GMT", rule-id="clean%20up%2C%20%22soon%22"',
    )
  })
})

describe('a filter', () => {
  const blue = { key: 'colour', value: 'blue' }
  const big = { key: 'size', value: 'big' }
  it.each<[what: string, filter: Partial<LifecycleFilter>, subject: Partial<Subject>, concerns: boolean]>([
    ['of nothing concerns all', {}, {}, true],
    ['by prefix', { prefix: 'logs/' }, { key: 'logs/a' }, true],
    ['by another prefix', { prefix: 'logs/' }, { key: 'log' }, false],
    ['by tag', { tags: [blue] }, { tags: [big, blue] }, true],
    ['by a tag of another value', { tags: [blue] }, { tags: [{ key: 'colour', value: 'red' }] }, false],
    ['by two tags', { tags: [blue, big] }, { tags: [blue] }, false],
    ['by tags that have not been read', { tags: [blue] }, { tags: undefined }, true],
    ['by more than its size', { sizeGreaterThan: 9 }, { size: 10 }, true],
    ['by more than exactly its size', { sizeGreaterThan: 10 }, { size: 10 }, false],
    ['by less than its size', { sizeLessThan: 11 }, { size: 10 }, true],
    ['by less than exactly its size', { sizeLessThan: 10 }, { size: 10 }, false],
    ['by all of them', { prefix: 'k', tags: [blue], sizeGreaterThan: 0, sizeLessThan: 99 }, { tags: [blue] }, true],
    [
      'by all of them but one',
      { prefix: 'k', tags: [blue], sizeGreaterThan: 50, sizeLessThan: 99 },
      { tags: [blue] },
      false,
    ],
  ])('%s', (_, filter, subject, concerns) => {
    const version = { key: 'key', size: 10, tags: [], modifiedMs, ...subject }
    expect(expirationOf([rule(days(1), filter)], version) !== undefined).toBe(concerns)
  })

  it.each<[Partial<LifecycleFilter>]>([[{ tags: [blue] }], [{ sizeGreaterThan: 0 }], [{ sizeLessThan: 9 }]])(
    '%o concerns no delete marker',
    (filter) => {
      const marker = { key: 'k', noncurrentSinceMs: modifiedMs, newer: 0 }
      expect(noncurrentExpirationOf([rule({ noncurrent: { days: 1 } }, filter)], marker)).toBeUndefined()
    },
  )
})

describe('a delete marker that is the only version', () => {
  it.each<[what: string, actions: Partial<LifecycleRule>, expected: string | undefined]>([
    ['goes at once', { expiration: { expiredDeleteMarkers: true } }, '2026-01-15T10:30:00.000Z'],
    ['stays', { expiration: { expiredDeleteMarkers: false } }, undefined],
    ['goes after the days of an object', days(1), '2026-01-17T00:00:00.000Z'],
    ['stays, whatever happens to noncurrent versions', { noncurrent: { days: 1 } }, undefined],
  ])('%s', (_, actions, expected) => {
    expect(when(markerExpirationOf([rule(actions)], { key: 'k', modifiedMs }))).toBe(expected)
  })
})

describe('a noncurrent version', () => {
  it.each<[what: string, noncurrent: LifecycleRule['noncurrent'], newer: number, expected: string | undefined]>([
    ['goes after its days', { days: 2 }, 0, '2026-01-18T00:00:00.000Z'],
    ['stays among the newest', { days: 2, keeps: 3 }, 2, undefined],
    ['goes behind the newest, after its days', { days: 2, keeps: 3 }, 3, '2026-01-18T00:00:00.000Z'],
    ['goes behind the newest at once', { keeps: 3 }, 3, '2026-01-15T10:30:00.000Z'],
  ])('%s', (_, noncurrent, newer, expected) => {
    const version = { key: 'k', size: 1, tags: [], noncurrentSinceMs: modifiedMs, newer }
    expect(when(noncurrentExpirationOf([rule({ noncurrent })], version))).toBe(expected)
  })
})

it('an upload is aborted after its days, below its prefix', () => {
  const rules = [rule({ abortUploadsDays: 7 }, { prefix: 'up/' })]
  expect(when(uploadExpirationOf(rules, { key: 'up/a', initiatedMs: modifiedMs }))).toBe('2026-01-23T00:00:00.000Z')
  expect(uploadExpirationOf(rules, { key: 'a', initiatedMs: modifiedMs })).toBeUndefined()
})

it.each<[prefixes: (string | undefined)[], walked: string[]]>([
  [
    ['a', 'b'],
    ['a', 'b'],
  ],
  [['a', 'a'], ['a']],
  [
    ['a/b', 'a', 'a/c', 'b'],
    ['a', 'b'],
  ],
  [['a', undefined], ['']],
])('rules for %o are about keys below %o', (prefixes, walked) => {
  expect(prefixesOf(prefixes.map((prefix) => rule(days(1), { prefix })))).toEqual(walked)
  expect(prefixesOf(prefixes.map((prefix) => rule({ ...days(1), enabled: false }, { prefix })))).toEqual([])
})
