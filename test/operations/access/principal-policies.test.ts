/** What a user, a key's own policy and a session let a request do, together. */
import { describe, expect, it } from 'vitest'
import type { IdentityPolicy, Principal, PrincipalSession } from '../../../src/auth/principal.ts'
import { authorize, ObjectNeeded } from '../../../src/operations/access/authorize.ts'
import { policiesOf } from '../../../src/operations/access/principal-policies.ts'
import { type BucketRecord, unsetBucket } from '../../../src/records/bucket-record.ts'
import { outcomeOf } from '../../objects/fixture.ts'

const bucket: BucketRecord = { ...unsetBucket, name: 'bucket', id: 'id', owner: 'main', createdMs: 0 }
const document = (...Statement: object[]): string => JSON.stringify({ Version: '2012-10-17', Statement })
const allow = (Action: string, more: object = {}): object => ({ Effect: 'Allow', Action, Resource: '*', ...more })
const deny = (Action: string): object => ({ ...allow(Action), Effect: 'Deny' })

const own: Principal = { accountId: 'main', displayName: 'Main', accessKeyId: 'key' }
const policies = (...documents: string[]): IdentityPolicy[] =>
  documents.map((text, i) => ({ name: `p${i}`, document: text }))
const session = (policy?: string): PrincipalSession => ({ kind: 'assumed-role', policy, issuedMs: 0, expiresMs: 1 })

const asked = (principal: Partial<Principal>, permission = 's3:GetObject', in_ = bucket): string =>
  outcomeOf(() =>
    authorize(
      { principal: { ...own, ...principal }, conditionValue: () => undefined },
      { permission, name: 'bucket', bucket: in_, key: 'key' },
    ),
  )

const all = document(allow('s3:*'))
const reads = document(allow('s3:Get*'))
const writes = document(allow('s3:Put*'))

describe('of identity policies', () => {
  it.each<[string, Partial<Principal>, string]>([
    ['none allows nothing', { policies: [] }, 'AccessDenied'],
    ['one allows', { policies: policies(writes, reads) }, 'ok'],
    ['none allows this', { policies: policies(writes) }, 'AccessDenied'],
    ['one denies', { policies: policies(all, document(deny('s3:GetObject'))) }, 'AccessDenied'],
    ['one is not to be read, as if it denied all', { policies: policies(all, '{"later":1}') }, 'AccessDenied'],
    ['a user’s allow', { user: { name: 'ann', id: 'AIDA' }, policies: policies(reads) }, 'ok'],
  ])('%s', (_, principal, answer) => {
    expect(asked(principal)).toBe(answer)
  })
})

describe('of session policies', () => {
  it.each<[string, Partial<Principal>, string]>([
    ['none narrows a session of the account’s own key', { session: session() }, 'ok'],
    ['one narrows the account’s own key', { session: session(writes) }, 'AccessDenied'],
    ['one that allows gives nothing', { policies: [], session: session(all) }, 'AccessDenied'],
    ['one of a key narrows it', { policies: policies(all), keyPolicy: writes }, 'AccessDenied'],
    [
      'one of a key, and one of its session, both allow',
      { policies: policies(all), keyPolicy: all, session: session(reads) },
      'ok',
    ],
    [
      'one of a key does not allow',
      { policies: policies(all), keyPolicy: writes, session: session(all) },
      'AccessDenied',
    ],
    [
      'one of a session does not allow',
      { policies: policies(all), keyPolicy: all, session: session(writes) },
      'AccessDenied',
    ],
    [
      'one of a key denies',
      { policies: policies(all), keyPolicy: document(allow('s3:*'), deny('s3:Get*')), session: session(all) },
      'AccessDenied',
    ],
    [
      'one of a session denies',
      { policies: policies(all), keyPolicy: all, session: session(document(allow('s3:*'), deny('s3:Get*'))) },
      'AccessDenied',
    ],
    [
      'one is not to be read, as if it denied all',
      { policies: policies(all), session: session('{"later":1}') },
      'AccessDenied',
    ],
  ])('%s', (_, principal, answer) => {
    expect(asked(principal)).toBe(answer)
  })

  it('either may ask for the tags of the object', () => {
    const byTag = document(allow('s3:*', { Condition: { StringEquals: { 's3:ExistingObjectTag/a': 'b' } } }))
    for (const two of [
      { keyPolicy: byTag, session: session(all) },
      { keyPolicy: all, session: session(byTag) },
    ]) {
      const principal = { ...own, policies: policies(all), ...two }
      const ask = { permission: 's3:GetObject', name: 'bucket', bucket, key: 'key' }
      expect(() => authorize({ principal, conditionValue: () => undefined }, ask)).toThrow(ObjectNeeded)
    }
  })
})

it('a user can’t repair the policy of a bucket as its account can', () => {
  const Resource = ['arn:aws:s3:::bucket', 'arn:aws:s3:::bucket/*']
  const closed = { ...bucket, policy: document({ Effect: 'Deny', Principal: '*', Action: 's3:*', Resource }) }
  expect(asked({}, 's3:PutBucketPolicy', closed)).toBe('ok')
  const user = { name: 'ann', id: 'AIDA' }
  expect(asked({ user, policies: policies(all) }, 's3:PutBucketPolicy', closed)).toBe('AccessDenied')
})

it('policies that several have are compiled once', () => {
  const shared = policies(all)
  const [one, other] = ['one', 'other'].map((accessKeyId) => policiesOf({ ...own, accessKeyId, policies: shared }))
  expect(one?.identityPolicies?.[0]?.policy).toBe(other?.identityPolicies?.[0]?.policy)
})
