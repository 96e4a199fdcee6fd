// biome-ignore-all lint/suspicious/noTemplateCurlyInString: policy variables look like placeholders
import { describe, expect, it } from 'vitest'
import type { AccessPrincipal } from '../../src/access/access-request.ts'
import { conditionKeys, evaluatedKeys, findConditionKey } from '../../src/access/condition-keys.ts'
import { account, anonymous, identityPolicy, request, user } from './policy-world.ts'

const tagged = (key: string): string => (key.endsWith('/') ? `${key}Team` : key)
const rowOf = (key: string) => findConditionKey(tagged(key))?.row
const actionOf = (key: string): string => [...(rowOf(key)?.actions ?? ['s3:getobject'])][0] ?? 's3:getobject'

/** An operator for keys of a type, a value, and another. */
const samples: Readonly<Record<string, readonly [operator: string, value: string, other: string]>> = {
  String: ['StringEquals', 'this', 'that'],
  ArrayOfString: ['ForAnyValue:StringEquals', 'this', 'that'],
  Numeric: ['NumericEquals', '7', '8'],
  Date: ['DateEquals', '2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'],
  Bool: ['Bool', 'true', 'false'],
  IPAddress: ['IpAddress', '203.0.113.7', '203.0.113.8'],
  ARN: ['ArnEquals', 'arn:aws:iam::1:user/x', 'arn:aws:iam::1:user/y'],
}

const principalKeys = [
  'aws:PrincipalAccount',
  'aws:PrincipalArn',
  'aws:PrincipalIsAWSService',
  'aws:PrincipalServiceName',
  'aws:PrincipalTag/',
  'aws:PrincipalType',
  'aws:userid',
  'aws:username',
  'aws:ViaAWSService',
]
const requestKeys = evaluatedKeys.filter((key) => !principalKeys.includes(key))

describe('a key that the request says', () => {
  it.each(requestKeys)('%s is compared, under exactly this name', (key) => {
    const [operator, value, other] = samples[rowOf(key)?.type ?? ''] ?? []
    const compiled = identityPolicy({
      Condition: { [operator ?? '']: { [tagged(key).toUpperCase().replace('TEAM', 'Team')]: value } },
    })
    const allows = (given: string | undefined): boolean =>
      compiled.evaluate(request({ action: actionOf(key), values: { [tagged(key)]: given } })).allows !== undefined
    expect([allows(value), allows(other), allows(undefined)]).toEqual([true, false, false])
    expect([...compiled.keys]).toEqual([tagged(key)])
  })
})

describe('a key that the principal says', () => {
  const ann = user('ann', '1', { team: 'red' })
  const logging: AccessPrincipal = { kind: 'service', name: 'logging.s3.amazonaws.com' }
  it.each([
    ['aws:PrincipalAccount', ann, '1'],
    ['aws:PrincipalAccount', account('2'), '2'],
    ['aws:PrincipalAccount', anonymous, 'anonymous'],
    ['aws:PrincipalArn', ann, 'arn:aws:iam::1:user/ann'],
    ['aws:PrincipalArn', account('2'), 'arn:aws:iam::2:root'],
    ['aws:PrincipalArn', anonymous, undefined],
    ['aws:PrincipalType', ann, 'User'],
    ['aws:PrincipalType', account('2'), 'Account'],
    ['aws:PrincipalType', anonymous, 'Anonymous'],
    ['aws:PrincipalTag/Team', ann, 'red'],
    ['aws:PrincipalTag/color', ann, undefined],
    ['aws:PrincipalTag/Team', anonymous, undefined],
    ['aws:userid', ann, 'ID-ann'],
    ['aws:userid', account('2'), '2'],
    ['aws:userid', anonymous, 'anonymous'],
    ['aws:username', ann, 'ann'],
    ['aws:username', account('2'), undefined],
    ['aws:username', anonymous, undefined],
    ['aws:PrincipalIsAWSService', ann, 'false'],
    ['aws:PrincipalIsAWSService', anonymous, undefined],
    ['aws:PrincipalIsAWSService', logging, 'true'],
    ['aws:PrincipalServiceName', logging, 'logging.s3.amazonaws.com'],
    ['aws:PrincipalServiceName', ann, undefined],
    ['aws:PrincipalAccount', logging, undefined],
    ['aws:PrincipalArn', logging, undefined],
    ['aws:PrincipalType', logging, undefined],
    ['aws:username', logging, undefined],
    ['aws:PrincipalTag/Team', logging, undefined],
    ['aws:ViaAWSService', ann, 'false'],
    ['aws:ViaAWSService', anonymous, 'false'],
  ])('%s of %j is %s', (key, principal, value) => {
    // A request that says otherwise is not believed.
    const asked = request({ principal, values: { [key]: 'forged' } })
    const isMissing = identityPolicy({ Condition: { Null: { [key]: 'true' } } }).evaluate(asked).allows !== undefined
    expect(isMissing).toBe(value === undefined)
    const equals = (wanted: string): boolean =>
      identityPolicy({ Condition: { StringEquals: { [key]: wanted } } }).evaluate(asked).allows !== undefined
    expect([equals(value ?? 'forged'), equals('forged')]).toEqual([value !== undefined, false])
  })

  it('has a row', () => {
    expect(principalKeys.filter((key) => rowOf(key)?.use !== 'evaluated')).toEqual([])
  })
})

describe('a key that temporary keys say', () => {
  const claims = new Map<string, string | readonly string[]>([
    ['sub', 'f:1/ann'],
    ['groups', ['red', 'blue']],
  ])
  const web = { ...user('oidc/ann', '1'), session: { issuedMs: Date.UTC(2026, 0, 2), claims } }
  const allows = (condition: unknown, principal: AccessPrincipal): boolean =>
    identityPolicy({ Condition: condition }).evaluate(
      request({ principal, values: { 'jwt:sub': 'forged', 'jwt:sub2': 'forged' } }),
    ).allows !== undefined

  it.each<[condition: unknown, temporary: boolean, lasting: boolean]>([
    [{ DateLessThan: { 'aws:TokenIssueTime': '2026-01-03T00:00:00Z' } }, true, false],
    [{ DateLessThan: { 'aws:TokenIssueTime': '2026-01-01T00:00:00Z' } }, false, false],
    [{ Null: { 'aws:TokenIssueTime': 'true' } }, false, true],
    [{ Bool: { 'aws:MultiFactorAuthPresent': 'false' } }, true, false],
    [{ Null: { 'aws:MultiFactorAuthAge': 'true' } }, true, true],
    [{ StringEquals: { 'jwt:sub': 'f:1/ann' } }, true, false],
    [{ StringEquals: { 'JWT:Sub': 'f:1/ann' } }, true, false],
    [{ StringEquals: { 'jwt:sub': ['forged', 'ann'] } }, false, false],
    [{ StringEquals: { 'jwt:sub2': 'forged' } }, false, false],
    [{ 'ForAnyValue:StringEquals': { 'jwt:groups': 'blue' } }, true, false],
    [{ 'ForAllValues:StringEquals': { 'jwt:groups': 'blue' } }, false, true],
    [{ Null: { 'jwt:groups': 'true' } }, false, true],
  ])('%j holds of temporary ones: %s, of others: %s', (condition, temporary, lasting) => {
    expect([allows(condition, web), allows(condition, user('ann', '1'))]).toEqual([temporary, lasting])
  })

  it('is a variable, if it has one value', () => {
    const home = identityPolicy({ Resource: 'arn:aws:s3:::photos/${jwt:sub}/*' })
    const inHome = (principal: AccessPrincipal, folder: string) =>
      home.evaluate(request({ principal, resource: `arn:aws:s3:::photos/${folder}/a` })).allows
    expect([inHome(web, 'f:1/ann'), inHome(web, 'bob'), inHome(user('ann', '1'), '')]).toEqual([
      '#1',
      undefined,
      undefined,
    ])
    const list = identityPolicy({ Resource: 'arn:aws:s3:::photos/${jwt:groups}/*' })
    expect(list.evaluate(request({ principal: web, resource: 'arn:aws:s3:::photos/red/a' })).allows).toBeUndefined()
  })
})

describe('a policy variable', () => {
  const single = requestKeys.filter((key) => !rowOf(key)?.type.startsWith('ArrayOf'))

  it.each(single)('can be %s', (key) => {
    const compiled = identityPolicy({ Resource: `arn:aws:s3:::photos/\${${tagged(key)}}/*` })
    const asked = request({ resource: 'arn:aws:s3:::photos/mine/a', values: { [tagged(key)]: 'mine' } })
    expect(compiled.evaluate(asked).allows).toBe('#1')
    expect(compiled.evaluate({ ...asked, value: () => undefined }).allows).toBeUndefined()
  })

  it.each([
    ['aws:username', 'ann'],
    ['AWS:USERID', 'ID-ann'],
    ['aws:principaltag/TEAM', 'red'],
    ["aws:PrincipalTag/color, 'blue'", 'blue'],
    ['*', '*'],
    ['?', '?'],
    ['$', '$'],
  ])('%s is %s', (variable, value) => {
    const principal = user('ann', '1', { team: 'red' })
    const inResource = identityPolicy({ Resource: `arn:aws:s3:::photos/\${${variable}}` })
    const inValue = identityPolicy({ Condition: { StringEquals: { 'aws:UserAgent': `<\${${variable}}>` } } })
    const like = identityPolicy({ Condition: { StringLike: { 'aws:UserAgent': `*\${${variable}}>` } } })
    const asked = (said: string) =>
      request({ principal, resource: `arn:aws:s3:::photos/${said}`, values: { 'aws:UserAgent': `<${said}>` } })
    for (const compiled of [inResource, inValue, like]) {
      expect(compiled.evaluate(asked(value)).allows).toBe('#1')
      expect(compiled.evaluate(asked('other')).allows).toBeUndefined()
    }
  })

  it.each(['s3:RequestObjectTagKeys', 'aws:SourceVpce', 'jwt:', ''])('cannot be %j', (key) => {
    expect(() => identityPolicy({ Resource: `arn:aws:s3:::photos/\${${key}}` })).toThrow(
      `The policy variable is not evaluated by this server: statement #1, Resource "${key}"`,
    )
  })
})

describe('a key that is not evaluated', () => {
  const refused = [...conditionKeys.values()].filter(({ use }) => use === 'refused').map(({ name }) => tagged(name))

  it.each(refused)('%s is refused by name', (key) => {
    expect(() => identityPolicy({ Condition: { Null: { [key]: 'true' } } })).toThrow(
      `Policy has a condition key that this server does not evaluate: statement #1, Condition Null "${key}"`,
    )
  })
})
