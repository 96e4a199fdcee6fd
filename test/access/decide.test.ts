import { describe, expect, it } from 'vitest'
import { needsOf } from '../../src/access/decide.ts'
import {
  type Grant,
  type GrantPermission,
  joinBlocks,
  noPublicAccessBlock,
  type ObjectOwnership,
} from '../../src/access/grants.ts'
import { reasonText } from '../../src/access/reason-text.ts'
import {
  type Asked,
  account,
  anonymous,
  bucketArn,
  bucketPolicy,
  catArn,
  decided,
  identityPolicy,
  owner,
  sessionPolicy,
  stranger,
  user,
  type World,
} from './policy-world.ts'

type Row = readonly [what: string, asked: Asked, world: World, answer: string]

const answer = (asked: Asked, world: World): string => {
  const { allowed, because } = decided(asked, world)
  return `${allowed ? 'allowed' : 'denied'}: ${reasonText(because)}`
}

const own = 'allowed: the key is the account’s own, and nothing denies it'
const noIdentity = 'denied: no identity policy allows it'
const noSession = 'denied: no session policy allows it'
const noResource = 'denied: no bucket policy or grant allows it'
const restricted =
  'denied: the bucket policy is public, and the public access block restricts it to the bucket owner’s account'
const bucketAllows = 'allowed: Allow by statement "B" of the bucket policy'
const bucketDenies = 'denied: Deny by statement "B" of the bucket policy'
const identityAllows = 'allowed: Allow by statement "I" of the identity policy policy 1'

const allow = { Sid: 'I', Effect: 'Allow' }
const deny = { Sid: 'I', Effect: 'Deny' }
const policyOf = (statement: Record<string, unknown> = {}) => ({ policy: bucketPolicy({ Sid: 'B', ...statement }) })
const ann = `arn:aws:iam::${owner}:user/ann`

function check(rows: readonly Row[]): void {
  it.each(rows)('%s', (_, asked, world, expected) => {
    expect(answer(asked, world)).toBe(expected)
  })
}

describe('inside one account', () => {
  check([
    ['its own key may do everything', { principal: account() }, {}, own],
    ['a user may do nothing', {}, {}, noIdentity],
    ['an identity policy is enough', {}, { identity: [identityPolicy(allow)] }, identityAllows],
    ['a bucket policy is enough', {}, { bucket: policyOf() }, bucketAllows],
    [
      'a bucket policy that names the user is enough',
      {},
      { bucket: policyOf({ Principal: { AWS: ann } }) },
      bucketAllows,
    ],
    [
      'a bucket policy that names the account is for the account to pass on',
      {},
      { bucket: policyOf({ Principal: { AWS: owner } }) },
      noIdentity,
    ],
    [
      'a narrowed key of the account is not the account',
      { principal: account() },
      { identity: [], bucket: policyOf({ Principal: { AWS: owner } }) },
      noIdentity,
    ],
    [
      'an explicit Deny of an identity policy wins',
      {},
      { identity: [identityPolicy(allow), identityPolicy(deny)], bucket: policyOf() },
      'denied: Deny by statement "I" of the identity policy policy 2',
    ],
    [
      'an explicit Deny of the bucket policy wins',
      {},
      { identity: [identityPolicy(allow)], bucket: policyOf({ Effect: 'Deny' }) },
      bucketDenies,
    ],
    [
      'an explicit Deny holds for the own key, too',
      { principal: account() },
      { bucket: policyOf({ Effect: 'Deny' }) },
      bucketDenies,
    ],
    [
      'a Deny to the account holds for its users',
      {},
      { identity: [identityPolicy(allow)], bucket: policyOf({ Effect: 'Deny', Principal: { AWS: owner } }) },
      bucketDenies,
    ],
    [
      'a statement without a Sid has a number',
      {},
      { identity: [identityPolicy({ Action: 's3:PutObject' }, {})] },
      'allowed: Allow by statement #2 of the identity policy policy 1',
    ],
  ])
})

describe('a recovered bucket that nobody has confirmed', () => {
  const unconfirmed = (statement?: Record<string, unknown>) => ({
    ...(statement === undefined ? {} : policyOf(statement)),
    unconfirmed: true,
  })
  const closed =
    'denied: the bucket was recovered, perhaps without all that guarded it: it admits only its owner’s own key until `holdfast access confirm BUCKET`'
  check([
    ['admits its account’s own key', { principal: account() }, { bucket: unconfirmed() }, own],
    [
      'admits it only as its policy does',
      { principal: account() },
      { bucket: unconfirmed({ Effect: 'Deny' }) },
      bucketDenies,
    ],
    [
      'lets it repair the policy',
      { principal: account(), action: 's3:PutBucketPolicy' },
      { bucket: unconfirmed({ Effect: 'Deny' }) },
      own,
    ],
    [
      'admits no narrowed key',
      { principal: account() },
      { identity: [identityPolicy(allow)], bucket: unconfirmed() },
      closed,
    ],
    ['admits no user', {}, { identity: [identityPolicy(allow)], bucket: unconfirmed() }, closed],
    ['admits no user whom its policy allows', {}, { bucket: unconfirmed({ Principal: { AWS: ann } }) }, closed],
    ['admits no other account', { principal: account(stranger) }, { bucket: unconfirmed({}) }, closed],
    ['admits nobody who did not sign', { principal: anonymous }, { bucket: unconfirmed({}) }, closed],
  ])
})

describe('repair', () => {
  const denying = policyOf({ Effect: 'Deny' })
  const actions = ['s3:GetBucketPolicy', 's3:PutBucketPolicy', 's3:DeleteBucketPolicy']
  check(
    actions.flatMap((action): Row[] => [
      [
        `${action} is the own key’s, whatever the policy says`,
        { principal: account(), action, resource: bucketArn },
        { bucket: denying },
        own,
      ],
      [
        `${action} is denied to a user`,
        { action, resource: bucketArn },
        { identity: [identityPolicy(allow)], bucket: denying },
        bucketDenies,
      ],
      [
        `${action} is denied to another account`,
        { principal: account(stranger), action, resource: bucketArn },
        { bucket: denying },
        bucketDenies,
      ],
      [
        `${action} is denied to a session that may not`,
        { principal: account(), action, resource: bucketArn },
        { session: sessionPolicy({ Action: 's3:GetObject' }), bucket: denying },
        noSession,
      ],
    ]),
  )
  check([
    [
      'is not PutBucketAcl',
      { principal: account(), action: 's3:PutBucketAcl', resource: bucketArn },
      { bucket: denying },
      bucketDenies,
    ],
  ])
})

describe('across accounts', () => {
  const from = user('eve', stranger)
  const identity = [identityPolicy(allow)]
  check([
    ['another account may do nothing', { principal: account(stranger) }, {}, noResource],
    ['its policies alone are not enough', { principal: from }, { identity }, noResource],
    [
      'the bucket policy is enough for the other account’s own key',
      { principal: account(stranger) },
      { bucket: policyOf({ Principal: { AWS: stranger } }) },
      bucketAllows,
    ],
    ['the bucket policy alone is not enough for a user', { principal: from }, { bucket: policyOf() }, noIdentity],
    ['both are', { principal: from }, { identity, bucket: policyOf({ Principal: { AWS: stranger } }) }, bucketAllows],
    [
      'its own policy can deny',
      { principal: from },
      { identity: [identityPolicy(deny)], bucket: policyOf() },
      'denied: Deny by statement "I" of the identity policy policy 1',
    ],
  ])
})

describe('who did not sign', () => {
  const asked = { principal: anonymous }
  check([
    ['may do nothing', asked, {}, noResource],
    ['may do what the bucket policy allows everybody', asked, { bucket: policyOf() }, bucketAllows],
    ['may not do what it allows somebody', asked, { bucket: policyOf({ Principal: { AWS: owner } }) }, noResource],
    [
      'is denied explicitly',
      asked,
      { bucket: { policy: bucketPolicy({ Sid: 'A' }, { Sid: 'B', Effect: 'Deny' }) } },
      bucketDenies,
    ],
  ])

  const none: Asked = { action: 's3:ListAllMyBuckets', resource: 'arn:aws:s3:::*' }
  it('may do nothing outside of buckets, where others may do what their policies say', () => {
    const identity = [identityPolicy({ ...allow, Resource: '*' })]
    expect(answer({ ...none, principal: anonymous }, { bucket: null })).toBe(noResource)
    expect(answer({ ...none, principal: account() }, { bucket: null })).toBe(own)
    expect(answer({ ...none }, { bucket: null })).toBe(noIdentity)
    expect(answer({ ...none }, { bucket: null, identity })).toBe(identityAllows)
  })
})

describe('a session policy', () => {
  const narrow = sessionPolicy({ Sid: 'S', Action: 's3:GetObject' })
  const put: Asked = { action: 's3:PutObject' }
  check([
    ['lets through what it allows', {}, { identity: [identityPolicy(allow)], session: narrow }, identityAllows],
    ['allows nothing by itself', {}, { session: narrow }, noIdentity],
    ['keeps from what it does not allow', put, { identity: [identityPolicy(allow)], session: narrow }, noSession],
    ['narrows the own key', { ...put, principal: account() }, { session: narrow }, noSession],
    ['narrows what the bucket policy allows', put, { bucket: policyOf(), session: narrow }, noSession],
    [
      'narrows across accounts',
      { ...put, principal: account(stranger) },
      { bucket: policyOf(), session: narrow },
      noSession,
    ],
    [
      'can deny',
      {},
      { identity: [identityPolicy(allow)], session: sessionPolicy({}, { Sid: 'S', Effect: 'Deny' }) },
      'denied: Deny by statement "S" of the session policy',
    ],
  ])
})

describe('the public access block', () => {
  const block = { ...noPublicAccessBlock, restrictPublicBuckets: true }
  const blocked = (statement: Record<string, unknown> = {}) => ({
    bucket: { ...policyOf(statement), publicAccessBlock: block },
  })
  const both = {
    bucket: {
      policy: bucketPolicy({ Sid: 'Public' }, { Sid: 'B', Principal: { AWS: stranger } }),
      publicAccessBlock: block,
    },
  }
  check([
    ['keeps everybody from a public bucket', { principal: anonymous }, blocked(), restricted],
    ['keeps other accounts from it', { principal: account(stranger) }, blocked(), restricted],
    ['keeps even those from it whom a statement names', { principal: account(stranger) }, both, restricted],
    ['leaves it to the owner’s users', {}, blocked(), bucketAllows],
    [
      'leaves buckets alone that are not public',
      { principal: account(stranger) },
      blocked({ Principal: { AWS: stranger } }),
      bucketAllows,
    ],
    [
      'leaves grants alone',
      { principal: anonymous },
      { bucket: { ...blocked().bucket, ownership: 'ObjectWriter' }, object: { owner, grants: [everyoneReads()] } },
      'allowed: READ of the object is granted to everyone',
    ],
  ])

  it('of an account counts beside that of the bucket', () => {
    expect(joinBlocks({ ...noPublicAccessBlock, blockPublicAcls: true }, block)).toEqual({
      ...noPublicAccessBlock,
      blockPublicAcls: true,
      restrictPublicBuckets: true,
    })
  })
})

function everyoneReads(): Grant {
  return { grantee: { kind: 'everyone' }, permission: 'READ' }
}

describe('a grant', () => {
  const acls = { ownership: 'ObjectWriter' } as const
  const to = (accountId: string, permission: Grant['permission']): Grant => ({
    grantee: { kind: 'account', accountId },
    permission,
  })
  const signed: Grant = { grantee: { kind: 'authenticated' }, permission: 'READ' }
  const list: Asked = { action: 's3:ListBucket', resource: bucketArn }
  const eve = user('eve', stranger)
  const ignoring = { ...acls, publicAccessBlock: { ...noPublicAccessBlock, ignorePublicAcls: true } }
  const remove: Asked = { action: 's3:DeleteObject', principal: account(stranger) }
  const put: Asked = { action: 's3:PutObject', principal: account(stranger) }
  const everyoneWrites: Grant = { grantee: { kind: 'everyone' }, permission: 'WRITE' }
  check([
    [
      'to everyone is for who did not sign',
      { principal: anonymous },
      { bucket: acls, object: { owner, grants: [everyoneReads()] } },
      'allowed: READ of the object is granted to everyone',
    ],
    [
      'is nothing where the bucket’s owner is enforced',
      { principal: anonymous },
      { object: { owner, grants: [everyoneReads()] } },
      noResource,
    ],
    [
      'is nothing for another action',
      { principal: anonymous, action: 's3:GetObjectAcl' },
      { bucket: acls, object: { owner, grants: [everyoneReads()] } },
      noResource,
    ],
    [
      'to everyone is ignored when the block says so',
      { principal: anonymous },
      { bucket: ignoring, object: { owner, grants: [everyoneReads()] } },
      noResource,
    ],
    [
      'to an account is not ignored then',
      { principal: account(stranger) },
      { bucket: ignoring, object: { owner, grants: [to(stranger, 'READ')] } },
      `allowed: READ of the object is granted to account ${stranger}`,
    ],
    [
      'to who signed is for any account',
      { principal: account(stranger) },
      { bucket: acls, object: { owner, grants: [signed] } },
      'allowed: READ of the object is granted to authenticated',
    ],
    [
      'to who signed is not for who did not',
      { principal: anonymous },
      { bucket: acls, object: { owner, grants: [signed] } },
      noResource,
    ],
    [
      'to an account needs its users’ policies',
      { principal: eve },
      { bucket: acls, object: { owner, grants: [to(stranger, 'READ')] } },
      noIdentity,
    ],
    [
      'to an account and its users’ policies are enough',
      { principal: eve },
      { identity: [identityPolicy(allow)], bucket: acls, object: { owner, grants: [to(stranger, 'FULL_CONTROL')] } },
      `allowed: FULL_CONTROL of the object is granted to account ${stranger}`,
    ],
    [
      'of the bucket to read it is to list it',
      { ...list, principal: anonymous },
      { bucket: { ...acls, grants: [everyoneReads()] } },
      'allowed: READ of the bucket is granted to everyone',
    ],
    [
      'of the bucket is none of its objects',
      { principal: anonymous },
      { bucket: { ...acls, grants: [everyoneReads()] }, object: { owner } },
      noResource,
    ],
    [
      'of the bucket to write is to put objects',
      { principal: account(stranger), action: 's3:PutObject' },
      { bucket: { ...acls, grants: [to(stranger, 'WRITE')] } },
      `allowed: WRITE of the bucket is granted to account ${stranger}`,
    ],
    [
      'of the bucket to write is to replace what is one’s own',
      put,
      { bucket: { ...acls, grants: [to(stranger, 'WRITE')] }, object: { owner: stranger } },
      `allowed: WRITE of the bucket is granted to account ${stranger}`,
    ],
    [
      'of the bucket to write is not to replace what is others’',
      put,
      { bucket: { ...acls, grants: [to(stranger, 'WRITE')] }, object: { owner } },
      noResource,
    ],
    [
      'of the bucket to everyone lets nobody replace what an account owns',
      { ...put, principal: anonymous },
      { bucket: { ...acls, grants: [everyoneWrites] }, object: { owner } },
      noResource,
    ],
    [
      'of the bucket to everyone lets nobody replace what nobody signed',
      { ...put, principal: anonymous },
      { bucket: { ...acls, grants: [everyoneWrites] }, object: { owner: 'unsigned', unsigned: true } },
      'allowed: WRITE of the bucket is granted to everyone',
    ],
    [
      'of the bucket to everyone lets no account replace what nobody signed',
      put,
      { bucket: { ...acls, grants: [everyoneWrites] }, object: { owner: 'unsigned', unsigned: true } },
      noResource,
    ],
    [
      'of the bucket to everyone lets nobody remove what nobody signed',
      { ...remove, principal: anonymous },
      { bucket: { ...acls, grants: [everyoneWrites] }, object: { owner: 'unsigned', unsigned: true } },
      noResource,
    ],
    [
      'of the bucket to write is to remove what is one’s own',
      remove,
      { bucket: { ...acls, grants: [to(stranger, 'WRITE')] }, object: { owner: stranger } },
      `allowed: WRITE of the bucket is granted to account ${stranger}`,
    ],
    [
      'of the bucket to write is not to remove what is others’',
      remove,
      { bucket: { ...acls, grants: [to(stranger, 'WRITE')] }, object: { owner } },
      noResource,
    ],
    [
      'is worth nothing against an explicit Deny',
      { principal: anonymous },
      { bucket: { ...acls, ...policyOf({ Effect: 'Deny' }) }, object: { owner, grants: [everyoneReads()] } },
      bucketDenies,
    ],
  ])
})

describe('an object of another account', () => {
  const acls = { ownership: 'ObjectWriter' } as const
  const object = { owner: stranger }
  check([
    ['is not the bucket owner’s to read', { principal: account() }, { bucket: acls, object }, noResource],
    [
      'is not the bucket policy’s to give',
      { principal: anonymous },
      { bucket: { ...acls, ...policyOf() }, object },
      noResource,
    ],
    ['is its owner’s', { principal: account(stranger) }, { bucket: acls, object }, own],
    [
      'is the bucket owner’s to deny',
      { principal: account(stranger) },
      { bucket: { ...acls, ...policyOf({ Effect: 'Deny' }) }, object },
      bucketDenies,
    ],
    [
      'is the bucket owner’s to remove',
      { principal: account(), action: 's3:DeleteObject' },
      { bucket: acls, object },
      own,
    ],
    ['is the bucket owner’s where that is enforced', { principal: account() }, { object }, own],
  ])
})

describe('an upload', () => {
  const abort: Asked = { action: 's3:AbortMultipartUpload', principal: account(stranger) }
  const began = 'allowed: the account began the upload'
  check([
    ['is its initiator’s to abort', abort, { initiator: stranger }, began],
    [
      'is its initiator’s to look at',
      { ...abort, action: 's3:ListMultipartUploadParts' },
      { initiator: stranger },
      began,
    ],
    ['is no other account’s', abort, { initiator: 'else' }, noResource],
    ['is nobody’s who does not sign', { ...abort, principal: anonymous }, { initiator: '' }, noResource],
    [
      'lets its initiator write nothing else',
      { ...abort, action: 's3:PutObject' },
      { initiator: stranger },
      noResource,
    ],
    [
      'is the initiator’s user’s as far as the user’s own policies say',
      { ...abort, principal: user('eve', stranger) },
      { initiator: stranger, identity: [] },
      noIdentity,
    ],
    [
      'is the bucket owner’s to deny',
      abort,
      { initiator: stranger, bucket: policyOf({ Effect: 'Deny', Action: abort.action }) },
      bucketDenies,
    ],
  ])
})

describe('what a decision needs', () => {
  const tagged = { Condition: { StringEquals: { 's3:ExistingObjectTag/a': 'b' } }, Action: 's3:GetObject' }

  it.each([
    ['nothing', {}, false],
    ['tags, for the bucket policy', { bucket: bucketPolicy(tagged) }, true],
    ['tags, for an identity policy', { identity: identityPolicy(tagged) }, true],
    ['tags, for a session policy', { session: sessionPolicy(tagged) }, true],
  ])('is %s', (_, { bucket, identity, session }: Record<string, ReturnType<typeof bucketPolicy>>, existingTags) => {
    const access = { owner, ownership: 'ObjectWriter', publicAccessBlock: noPublicAccessBlock, policy: bucket } as const
    const input = {
      identityPolicies: identity === undefined ? [] : [{ name: 'x', policy: identity }],
      sessionPolicy: session,
      bucket: access,
    }
    expect(needsOf(input, 's3:GetObject')).toEqual({ existingTags, object: true })
    expect(needsOf(input, 's3:PutObject')).toEqual({ existingTags: false, object: false })
  })

  it.each<[string, ObjectOwnership, GrantPermission | undefined, string, boolean]>([
    ['no object where there are no lists', 'BucketOwnerEnforced', 'WRITE', 's3:GetObject', false],
    ['the object to read it', 'ObjectWriter', undefined, 's3:GetObject', true],
    ['the object to read its list', 'BucketOwnerPreferred', undefined, 's3:GetObjectAcl', true],
    ['no object to write one', 'ObjectWriter', undefined, 's3:PutObject', false],
    ['the object to write one where others may write', 'ObjectWriter', 'WRITE', 's3:PutObject', true],
    ['no object to remove one', 'ObjectWriter', undefined, 's3:DeleteObject', false],
    ['the object to remove one where others may write', 'ObjectWriter', 'WRITE', 's3:DeleteObject', true],
  ])('is %s', (_, ownership, granted, action, object) => {
    const grants = granted && [{ grantee: { kind: 'everyone' }, permission: granted } as const]
    const bucket = { owner, ownership, publicAccessBlock: noPublicAccessBlock, grants }
    expect(needsOf({ identityPolicies: undefined, bucket }, action).object).toBe(object)
  })

  it('asks each policy once, and only for what it names', () => {
    const asked: string[] = []
    const condition = { Condition: { StringEquals: { 'aws:UserAgent': 'curl' } } }
    const { allowed } = decided(
      { principal: anonymous, values: new Proxy({}, { get: (_, key) => asked.push(String(key)) && 'curl' }) },
      { bucket: policyOf({ ...condition, Resource: catArn, Action: 's3:GetObject' }) },
    )
    expect([allowed, asked]).toEqual([true, ['aws:UserAgent']])
  })
})
