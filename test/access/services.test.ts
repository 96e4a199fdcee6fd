/** What policies and grants say of a service that belongs to no account. */
import { describe, expect, it } from 'vitest'
import type { AccessPrincipal } from '../../src/access/access-request.ts'
import { noPublicAccessBlock } from '../../src/access/grants.ts'
import { account, anonymous, bucketPolicy, catArn, decided, owner, type World } from './policy-world.ts'

const name = 'logging.s3.amazonaws.com'
const logging: AccessPrincipal = { kind: 'service', name }
const put = { action: 's3:PutObject', resource: catArn }
const allows = (principal: AccessPrincipal, bucket: World['bucket']): boolean =>
  decided({ ...put, principal }, { bucket, identity: [] }).allowed
const everybody = { Effect: 'Allow', Principal: '*', Action: 's3:PutObject' }

describe('a service', () => {
  it('may do what a policy allows it, or everybody, and nothing else', () => {
    const statement = { Effect: 'Allow', Action: 's3:PutObject' }
    const policyFor = (Principal: unknown) => ({ policy: bucketPolicy({ ...statement, Principal }) })
    expect(allows(logging, policyFor({ Service: name }))).toBe(true)
    expect(allows(logging, policyFor({ Service: ['a.amazonaws.com', name] }))).toBe(true)
    expect(allows(logging, policyFor('*'))).toBe(true)
    expect(allows(logging, policyFor({ Service: 'a.amazonaws.com' }))).toBe(false)
    expect(allows(logging, policyFor({ AWS: `arn:aws:iam::${owner}:root` }))).toBe(false)
    expect(allows(logging, {})).toBe(false)
  })

  it('gives nobody else what it may do', () => {
    const policy = bucketPolicy({ Effect: 'Allow', Principal: { Service: name }, Action: 's3:PutObject' })
    expect(allows(anonymous, { policy })).toBe(false)
    expect(allows(account('444455556666'), { policy })).toBe(false)
  })

  it('is spared by a denial that is for all but the service, as for any of them', () => {
    const policyBut = (NotPrincipal: object) => ({
      policy: bucketPolicy(everybody, { Effect: 'Deny', NotPrincipal, Action: 's3:PutObject' }),
    })
    expect(allows(logging, policyBut({ Service: name }))).toBe(true)
    expect(allows(logging, policyBut({ Service: 'a.amazonaws.com' }))).toBe(false)
    const unlessService = { Bool: { 'aws:PrincipalIsAWSService': 'false' } }
    const denial = { Effect: 'Deny', Principal: '*', Action: 's3:PutObject', Condition: unlessService }
    expect(allows(logging, { policy: bucketPolicy(everybody, denial) })).toBe(true)
  })

  it('is not shut out by RestrictPublicBuckets, as others are', () => {
    const publicAccessBlock = { ...noPublicAccessBlock, restrictPublicBuckets: true }
    const bucket = { policy: bucketPolicy(everybody), publicAccessBlock }
    expect([allows(logging, bucket), allows(anonymous, bucket)]).toEqual([true, false])
  })

  it('is none of the signed requests that a list can be for', () => {
    const ownership = 'ObjectWriter' as const
    const grantTo = (kind: 'authenticated' | 'everyone') => ({
      ownership,
      grants: [{ grantee: { kind }, permission: 'WRITE' as const }],
    })
    expect([allows(logging, grantTo('authenticated')), allows(logging, grantTo('everyone'))]).toEqual([false, true])
  })

  it('is nobody that an upload is of', () => {
    const asked = { action: 's3:AbortMultipartUpload', resource: catArn, principal: logging }
    expect(decided(asked, { identity: [] }).allowed).toBe(false)
  })
})
