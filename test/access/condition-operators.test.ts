import { describe, expect, it } from 'vitest'
import type { ContextValue } from '../../src/access/access-request.ts'
import { conditionOperators } from '../../src/access/condition-operators.ts'
import { identityPolicy, request } from './policy-world.ts'

type Row = readonly [operator: string, key: string, wanted: unknown, given: ContextValue, holds: boolean]

const ip = 'aws:SourceIp'
const agent = 'aws:UserAgent'
const age = 's3:signatureAge'
const now = 'aws:CurrentTime'
const tls = 'aws:SecureTransport'
const arn = 's3:x-amz-server-side-encryption-aws-kms-key-id'
const tags = 's3:RequestObjectTagKeys'

function holds(operator: string, key: string, wanted: unknown, given: ContextValue): boolean {
  const compiled = identityPolicy({ Condition: { [operator]: { [key]: wanted } } })
  return compiled.evaluate(request({ action: 's3:PutObject', values: { [key]: given } })).allows !== undefined
}

const rows: readonly Row[] = [
  ['StringEquals', agent, 'curl', 'curl', true],
  ['StringEquals', agent, 'curl', 'Curl', false],
  ['StringEquals', agent, ['wget', 'curl'], 'curl', true],
  ['StringEquals', agent, 'cu*', 'curl', false],
  ['StringEquals', agent, 'cu*', 'cu*', true],
  ['StringNotEquals', agent, 'curl', 'wget', true],
  ['StringNotEquals', agent, 'curl', 'curl', false],
  ['StringNotEquals', agent, ['wget', 'curl'], 'curl', false],
  ['StringEqualsIgnoreCase', agent, 'CURL', 'curl', true],
  ['StringEqualsIgnoreCase', agent, 'CURL', 'curly', false],
  ['StringNotEqualsIgnoreCase', agent, 'CURL', 'curl', false],
  ['StringNotEqualsIgnoreCase', agent, 'CURL', 'wget', true],
  ['StringLike', agent, 'c*l', 'curl', true],
  ['StringLike', agent, 'c*l', 'CURL', false],
  ['StringLike', agent, 'c??l', 'curl', true],
  ['StringLike', agent, 'c?l', 'curl', false],
  ['StringNotLike', agent, 'c*', 'wget', true],
  ['StringNotLike', agent, ['w*', 'c*'], 'curl', false],
  ['NumericEquals', age, '10', '10.0', true],
  ['NumericEquals', age, 10, '10', true],
  ['NumericEquals', age, '10', '11', false],
  ['NumericEquals', age, '10', 'ten', false],
  ['NumericNotEquals', age, '10', '11', true],
  ['NumericNotEquals', age, '10', '10', false],
  ['NumericLessThan', age, '10', '9', true],
  ['NumericLessThan', age, '10', '10', false],
  ['NumericLessThan', age, '10', '-1', true],
  ['NumericLessThanEquals', age, '10', '10', true],
  ['NumericLessThanEquals', age, '10', '10.5', false],
  ['NumericGreaterThan', age, '10', '10', false],
  ['NumericGreaterThan', age, '9', '10', true],
  ['NumericGreaterThanEquals', age, '10', '10', true],
  ['NumericGreaterThanEquals', age, '10', '9', false],
  ['DateEquals', now, '2026-01-02T03:04:05Z', '2026-01-02T03:04:05.000Z', true],
  ['DateEquals', now, '2026-01-02T04:04:05+01:00', '2026-01-02T03:04:05Z', true],
  ['DateEquals', now, '1767323045', '2026-01-02T03:04:05Z', true],
  ['DateEquals', now, 1767323045, '2026-01-02T03:04:05Z', true],
  ['DateEquals', now, '2026-01-02', '2026-01-02T00:00:00Z', true],
  ['DateEquals', now, '2026-01-02', '2026-01-02T00:00:01Z', false],
  ['DateNotEquals', now, '2026-01-02', '2026-01-03T00:00:00Z', true],
  ['DateNotEquals', now, '2026-01-02', '2026-01-02T00:00:00Z', false],
  ['DateLessThan', now, '2026-01-02T00:00:00Z', '2026-01-01T23:59:59Z', true],
  ['DateLessThan', now, '2026-01-02T00:00:00Z', '2026-01-02T00:00:00Z', false],
  ['DateLessThanEquals', now, '2026-01-02T00:00:00Z', '2026-01-02T00:00:00Z', true],
  ['DateLessThanEquals', now, '2026-01-02T00:00:00Z', '2026-01-02T00:00:01Z', false],
  ['DateGreaterThan', now, '2026-01-02T00:00:00Z', '2026-01-02T00:00:00.001Z', true],
  ['DateGreaterThan', now, '2026-01-02T00:00:00Z', '2026-01-02T00:00:00Z', false],
  ['DateGreaterThanEquals', now, '2026-01-02T00:00:00Z', '2026-01-02T00:00:00Z', true],
  ['DateGreaterThanEquals', now, '2026-01-02T00:00:00Z', '2025-01-02T00:00:00Z', false],
  ['Bool', tls, 'true', 'true', true],
  ['Bool', tls, true, 'true', true],
  ['Bool', tls, 'TRUE', 'true', true],
  ['Bool', tls, 'true', 'false', false],
  ['Bool', tls, 'false', 'false', true],
  ['BinaryEquals', agent, 'QmluYXJ5', 'QmluYXJ5', true],
  ['BinaryEquals', agent, 'QmluYXJ5', 'QmluYXJ6', false],
  ['IpAddress', ip, '203.0.113.0/24', '203.0.113.9', true],
  ['IpAddress', ip, '203.0.113.0/24', '203.0.114.9', false],
  ['IpAddress', ip, '203.0.113.9', '203.0.113.9', true],
  ['IpAddress', ip, '0.0.0.0/0', '198.51.100.1', true],
  ['IpAddress', ip, ['198.51.100.0/24', '2001:db8::/32'], '2001:db8:1::7', true],
  ['IpAddress', ip, '2001:db8::/32', '2001:db9::7', false],
  ['IpAddress', ip, '2001:db8::/32', '203.0.113.9', false],
  ['IpAddress', ip, '203.0.113.0/24', '::ffff:203.0.113.9', true],
  ['IpAddress', ip, '203.0.113.0/24', 'nowhere', false],
  ['IpAddress', ip, '203.0.112.0/23', '203.0.113.9', true],
  ['IpAddress', ip, '203.0.112.0/23', '203.0.114.9', false],
  ['IpAddress', ip, '203.0.113.77/24', '203.0.113.9', true],
  ['IpAddress', ip, '128.0.0.0/1', '127.255.255.255', false],
  ['IpAddress', ip, '2001:db8::/33', '2001:db8:7fff::1', true],
  ['IpAddress', ip, '2001:db8::/33', '2001:db8:8000::1', false],
  ['IpAddress', ip, '2001:db8:1:2:3:4:5:6', '2001:DB8:1:2:3:4:5:6', true],
  ['IpAddress', ip, '2001:db8:1:2:3:4:5:6', '2001:db8:1:2:3:4:5:7', false],
  ['IpAddress', ip, '::/0', '2001:db8::1', true],
  ['IpAddress', ip, '::/0', '203.0.113.9', false],
  ['IpAddress', ip, '::ffff:0:0/95', '203.0.113.9', false],
  ['IpAddress', ip, '::ffff:0:0/96', '203.0.113.9', true],
  ['NotIpAddress', ip, '::/0', '203.0.113.9', true],
  ['IpAddress', ip, '::1', '::1', true],
  ['IpAddress', ip, '1::', '1:0::0:0', true],
  ['IpAddress', ip, '0.0.0.0/0', '2001:db8::1', false],
  ['IpAddress', ip, '::ffff:203.0.113.0/120', '203.0.113.9', true],
  ['NotIpAddress', ip, '203.0.113.0/24', '203.0.113.9', false],
  ['NotIpAddress', ip, ['198.51.100.0/24', '203.0.113.0/24'], '192.0.2.1', true],
  ['ArnEquals', arn, 'arn:aws:kms:eu-west-1:111122223333:key/a', 'arn:aws:kms:eu-west-1:111122223333:key/a', true],
  ['ArnEquals', arn, 'arn:aws:kms:*:111122223333:key/*', 'arn:aws:kms:eu-west-1:111122223333:key/a:b', true],
  ['ArnEquals', arn, 'arn:aws:kms:*:111122223333:key/a', 'arn:aws:kms:eu-west-1:444455556666:key/a', false],
  ['ArnLike', arn, 'arn:aws:kms:??-west-1:*:key/a', 'arn:aws:kms:eu-west-1:111122223333:key/a', true],
  ['ArnLike', arn, 'arn:*:key/a:*:*:*', 'arn:aws:kms:eu-west-1:111122223333:key/a', false],
  ['ArnLike', arn, 'arn:aws:kms:*:*:key/a', 'no arn', false],
  ['ArnNotEquals', arn, 'arn:aws:kms:*:*:key/a', 'arn:aws:kms:eu-west-1:111122223333:key/a', false],
  ['ArnNotEquals', arn, 'arn:aws:kms:*:*:key/a', 'arn:aws:kms:eu-west-1:111122223333:key/b', true],
  ['ArnNotLike', arn, 'arn:aws:kms:*:*:key/?', 'arn:aws:kms:eu-west-1:111122223333:key/ab', true],
  ['ArnNotLike', arn, 'arn:aws:kms:*:*:key/?', 'arn:aws:kms:eu-west-1:111122223333:key/a', false],
  ['Null', agent, 'true', undefined, true],
  ['Null', agent, 'true', 'curl', false],
  ['Null', agent, false, 'curl', true],
  ['Null', agent, 'false', undefined, false],
  ['Null', agent, 'false', '', true],
  ['Null', tags, 'true', [], true],
]

describe('a condition operator', () => {
  it.each(rows)('%s on %s %j, given %j: %s', (operator, key, wanted, given, expected) => {
    expect(holds(operator, key, wanted, given)).toBe(expected)
  })

  it('has a row that holds and one that does not', () => {
    for (const { name } of conditionOperators)
      expect([...new Set(rows.filter(([operator]) => operator === name).map((row) => row[4]))].sort(), name).toEqual([
        false,
        true,
      ])
  })

  it('ignores case in its name and in that of the key', () => {
    const compiled = identityPolicy({ Condition: { stringequals: { 'AWS:USERAGENT': 'curl' } } })
    expect(compiled.evaluate(request({ values: { 'aws:UserAgent': 'curl' } })).allows).toBe('#1')
  })
})

const values: Readonly<Record<string, [value: unknown, other: string]>> = {
  String: ['a', 'b'],
  Numeri: ['1', '2'],
  DateEq: ['2026-01-01', '2026-01-02'],
  DateNo: ['2026-01-01', '2026-01-02'],
  DateLe: ['2026-01-01', '2025-01-01'],
  DateGr: ['2026-01-01', '2027-01-01'],
}

describe('a missing key', () => {
  it.each(conditionOperators)('is what $name says: negated, it holds', ({ name, negated }) => {
    const wanted = valueFor(name)
    expect(holds(name, agent, wanted, undefined)).toBe(negated)
    expect(holds(`${name}IfExists`, agent, wanted, undefined)).toBe(true)
    expect(holds(`ForAllValues:${name}`, agent, wanted, undefined)).toBe(true)
    expect(holds(`ForAnyValue:${name}`, agent, wanted, undefined)).toBe(false)
    expect(holds(`ForAnyValue:${name}IfExists`, agent, wanted, undefined)).toBe(true)
  })
})

function valueFor(operator: string): unknown {
  const [value] = values[operator.slice(0, 6)] ?? []
  if (value !== undefined) return value
  if (operator.includes('Ip')) return '203.0.113.0/24'
  if (operator.startsWith('Arn')) return 'arn:aws:kms:*:*:key/a'
  return operator === 'Bool' ? 'true' : 'QmluYXJ5'
}

describe('a key with several values', () => {
  it.each([
    ['ForAllValues:StringEquals', ['a', 'b'], ['a', 'b'], true],
    ['ForAllValues:StringEquals', ['a', 'b'], ['a'], true],
    ['ForAllValues:StringEquals', ['a', 'b'], ['a', 'c'], false],
    ['ForAllValues:StringEquals', ['a', 'b'], [], true],
    ['ForAnyValue:StringEquals', ['a', 'b'], ['c', 'b'], true],
    ['ForAnyValue:StringEquals', ['a', 'b'], ['c', 'd'], false],
    ['ForAnyValue:StringEquals', ['a', 'b'], [], false],
    ['ForAllValues:StringNotEquals', ['a', 'b'], ['c', 'd'], true],
    ['ForAllValues:StringNotEquals', ['a', 'b'], ['c', 'a'], false],
    ['ForAnyValue:StringNotEquals', ['a', 'b'], ['a', 'c'], true],
    ['ForAnyValue:StringNotEquals', ['a', 'b'], ['a', 'b'], false],
    ['ForAnyValue:StringLike', ['proj*'], ['project'], true],
    ['ForAllValues:StringLike', ['proj*'], ['project', 'cost'], false],
    // Without a quantifier: one value that matches is enough.
    ['StringEquals', ['a'], ['b', 'a'], true],
    ['StringNotEquals', ['a'], ['b', 'a'], false],
    ['StringNotEquals', ['a'], ['b', 'c'], true],
  ])('%s %j, given %j: %s', (operator, wanted, given, expected) => {
    expect(holds(operator, tags, wanted, given)).toBe(expected)
  })

  it('is one value where it has one', () => {
    expect(holds('ForAllValues:StringEquals', agent, ['a'], 'a')).toBe(true)
    expect(holds('ForAnyValue:StringEquals', agent, ['a'], 'b')).toBe(false)
  })
})

describe('conditions of one statement', () => {
  const compiled = identityPolicy({
    Condition: {
      StringEquals: { 'aws:UserAgent': 'curl', 'aws:referer': 'here' },
      Bool: { 'aws:SecureTransport': true },
    },
  })
  const all = { 'aws:UserAgent': 'curl', 'aws:referer': 'here', 'aws:SecureTransport': 'true' }

  it('must all hold', () => {
    expect(compiled.evaluate(request({ values: all })).allows).toBe('#1')
    for (const key of Object.keys(all))
      expect(compiled.evaluate(request({ values: { ...all, [key]: 'false' } })).allows, key).toBeUndefined()
  })
})
