// biome-ignore-all lint/suspicious/noTemplateCurlyInString: policy variables look like placeholders
import { describe, expect, it } from 'vitest'
import { bucketPolicy, identityPolicy, type StatementSpec } from './policy-world.ts'

const when = (operator: string, key: string, value: unknown): StatementSpec => ({
  Condition: { [operator]: { [key]: value } },
})

describe('a bucket policy', () => {
  it.each<[string, StatementSpec, boolean]>([
    ['allows everybody', {}, true],
    ['allows everybody, as AWS', { Principal: { AWS: ['1', '*'] } }, true],
    ['allows all but one', { NotPrincipal: { AWS: '1' } }, true],
    ['denies everybody', { Effect: 'Deny' }, false],
    ['allows one account', { Principal: { AWS: '1' } }, false],
    ['allows addresses', when('IpAddress', 'aws:SourceIp', ['203.0.113.0/24', '2001:db8::/32']), false],
    ['allows a wide range of addresses', when('IpAddress', 'aws:SourceIp', '0.0.0.0/1'), true],
    ['allows the widest range that is not', when('IpAddress', 'aws:SourceIp', '9.0.0.0/8'), false],
    ['allows a wide range of IPv6', when('IpAddress', 'aws:SourceIp', '2001::/31'), true],
    ['allows one range and a wide one', when('IpAddress', 'aws:SourceIp', ['203.0.113.0/24', '0.0.0.0/0']), true],
    ['allows all other addresses', when('NotIpAddress', 'aws:SourceIp', '203.0.113.0/24'), true],
    ['allows addresses, if there are any', when('IpAddressIfExists', 'aws:SourceIp', '203.0.113.0/24'), true],
    ['allows one principal', when('ArnEquals', 'aws:PrincipalArn', 'arn:aws:iam::1:user/x'), false],
    ['allows principals by a pattern', when('ArnLike', 'aws:PrincipalArn', 'arn:aws:iam::1:user/*'), true],
    ['allows an account by a condition', when('StringEquals', 'aws:PrincipalAccount', '1'), false],
    ['allows a star that is only one for StringEquals', when('StringEquals', 'aws:userid', '*'), false],
    ['allows user ids by a pattern', when('StringLike', 'aws:userid', 'AROA:*'), true],
    ['allows by a variable', when('StringEquals', 'aws:userid', '${aws:PrincipalTag/id}'), true],
    ['allows who did not sign, by account', when('StringEquals', 'aws:PrincipalAccount', ['1', 'anonymous']), true],
    ['allows who did not sign, by id', when('StringEqualsIgnoreCase', 'aws:userid', 'Anonymous'), true],
    ['allows accounts below a number', when('NumericLessThan', 'aws:PrincipalAccount', '999999999999'), true],
    ['allows all values of none', when('ForAllValues:StringEquals', 'aws:userid', 'x'), true],
    ['allows by what anybody can send', when('StringLike', 'aws:referer', 'https://example.com/x'), true],
    ['allows by agent', when('StringEquals', 'aws:UserAgent', 'secret'), true],
  ])('that %s', (_, statement, expected) => {
    expect(bucketPolicy(statement).isPublic).toBe(expected)
  })

  it('is public by one of its statements', () => {
    expect(bucketPolicy({ Principal: { AWS: '1' } }, { Action: 's3:GetObject' }).isPublic).toBe(true)
  })
})

it('an identity policy is never public', () => {
  expect(identityPolicy({}).isPublic).toBe(false)
})
