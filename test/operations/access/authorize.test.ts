/** Whether a request may do what it asks: by its key, by whose bucket it is, and by the bucket's policy. */
import { describe, expect, it } from 'vitest'
import { nobody, type Principal } from '../../../src/auth/principal.ts'
import { authorize, type ExistingObject, ObjectNeeded } from '../../../src/operations/access/authorize.ts'
import { BucketlessScope, RequestScope } from '../../../src/operations/access/request-scope.ts'
import { resourceId } from '../../../src/operations/context.ts'
import { type BucketRecord, unsetBucket } from '../../../src/records/bucket-record.ts'
import type { ObjectAttributes } from '../../../src/records/object-attributes.ts'
import { outcomeOf } from '../../objects/fixture.ts'

const bucketOf = (owner: string, over: Partial<BucketRecord> = {}): BucketRecord => ({
  ...unsetBucket,
  name: 'bucket',
  id: 'id',
  owner,
  createdMs: 0,
  ...over,
})
const principalOf = (accountId: string, permissions?: readonly string[]): Principal => ({
  accountId,
  displayName: accountId,
  accessKeyId: 'key',
  permissions,
})
const own = bucketOf('main')

const asked = (permissions: readonly string[] | undefined, permission: string, bucket = own): string | undefined =>
  outcomeOf(() =>
    authorize(
      { principal: principalOf('main', permissions), conditionValue: () => undefined },
      { permission, name: 'bucket', bucket, key: 'key' },
    ),
  )

describe('a key', () => {
  it.each<[string, readonly string[] | undefined, string, string]>([
    ['without patterns may do all', undefined, 's3:BypassGovernanceRetention', 'ok'],
    ['with an empty list may do nothing', [], 's3:GetObject', 'AccessDenied'],
    ['may do what is named', ['s3:GetObject'], 's3:GetObject', 'ok'],
    ['may do no more than is named', ['s3:GetObject'], 's3:GetObjectVersion', 'AccessDenied'],
    ['may do nothing by a name’s beginning', ['s3:GetObjectVersion'], 's3:GetObject', 'AccessDenied'],
    ['may do what any of its patterns names', ['s3:Get*', 's3:PutObject'], 's3:PutObject', 'ok'],
    ['may do all that a star stands for', ['s3:Get*'], 's3:GetObjectRetention', 'ok'],
    ['may do what a star stands for nothing in', ['s3:GetObject*'], 's3:GetObject', 'ok'],
    ['may not do what begins otherwise', ['s3:Get*'], 's3:PutObjectRetention', 'AccessDenied'],
    ['may not do what begins otherwise though it contains it', ['s3:Object*'], 's3:GetObject', 'AccessDenied'],
    ['with a star in the middle matches both ends', ['s3:*Tagging'], 's3:PutBucketTagging', 'ok'],
    ['with a star in the middle matches no other end', ['s3:*Tagging'], 's3:PutObject', 'AccessDenied'],
    ['with a star between matches both', ['s3:Put*Retention'], 's3:PutObjectRetention', 'ok'],
    ['with ends that would overlap does not match', ['s3:GetOb*bject'], 's3:GetObject', 'AccessDenied'],
    ['with a star for all may do all', ['s3:*'], 's3:BypassGovernanceRetention', 'ok'],
    ['may write it in any case, as in AWS’s policies', ['S3:getobject'], 's3:GetObject', 'ok'],
    [
      'with all Puts and Deletes lacks the bypass',
      ['s3:Put*', 's3:Delete*'],
      's3:BypassGovernanceRetention',
      'AccessDenied',
    ],
    ['may bypass when it is named', ['s3:BypassGovernanceRetention'], 's3:BypassGovernanceRetention', 'ok'],
    ['that may delete may not remove versions', ['s3:DeleteObject'], 's3:DeleteObjectVersion', 'AccessDenied'],
    ['takes a dot for a dot', ['s3:Get.bject'], 's3:GetObject', 'AccessDenied'],
  ])('%s', (_, permissions, permission, answer) => {
    expect(asked(permissions, permission)).toBe(answer)
    // The same where the bucket is still to be made.
    const request = { principal: principalOf('main', permissions), conditionValue: () => undefined }
    expect(
      outcomeOf(
        () => new BucketlessScope({ ...request, expectedBucketOwner: undefined, requestId: '' }, 'new', [permission]),
      ),
    ).toBe(answer)
  })

  it('gets nothing from its patterns that its account lacks', () => {
    expect(asked(['s3:*'], 's3:GetObject', bucketOf('other'))).toBe('AccessDenied')
    expect(asked(undefined, 's3:GetObject', bucketOf('other'))).toBe('AccessDenied')
  })

  it('is told which permission it lacks', () => {
    const principal = principalOf('main', ['s3:Get*'])
    const put = { permission: 's3:PutObject', name: 'bucket', bucket: own, key: 'key' }
    expect(() => authorize({ principal, conditionValue: () => undefined }, put)).toThrow('s3:PutObject')
  })
})

describe('a bucket', () => {
  const admit = (owner: string, expectedBucketOwner?: string, asked: readonly string[] = ['s3:GetObject']) => {
    const request = {
      principal: principalOf('alice'),
      conditionValue: () => undefined,
      expectedBucketOwner,
      requestId: '',
    }
    const scope = new RequestScope(request, { bucket: 'bucket', key: 'key' }, asked)
    return outcomeOf(() => scope.admit(bucketOf(owner)))
  }

  it.each([
    ['its own bucket', 'alice', undefined],
    ['its own bucket, said to be its own', 'alice', 'alice'],
  ])('lets an account use %s', (_, owner, expectedOwner) => {
    expect(admit(owner, expectedOwner)).toBe('ok')
    expect(admit(owner, expectedOwner, [])).toBe('ok')
  })

  it.each([
    ['the bucket of another', 'bob', undefined],
    ['the bucket of another, said to be theirs', 'bob', 'bob'],
    ['its own bucket, said to be another’s', 'alice', 'bob'],
    ['its own bucket, said to be nobody’s', 'alice', ''],
    ['a bucket whose owner differs in case', 'Alice', undefined],
  ])('keeps an account from %s', (_, owner, expectedOwner) => {
    expect(admit(owner, expectedOwner)).toBe('AccessDenied')
    // Where each thing is asked for by itself, too.
    expect(admit(owner, expectedOwner, [])).toBe('AccessDenied')
  })

  it('is asked for everything that a request asks for, before and after it is read', () => {
    const request = {
      principal: principalOf('alice', ['s3:GetObject']),
      conditionValue: () => undefined,
      expectedBucketOwner: undefined,
      requestId: '',
    }
    const scope = new RequestScope(request, { bucket: 'bucket', key: 'key' }, ['s3:GetObject'])
    scope.admit(bucketOf('alice'))
    expect(outcomeOf(() => scope.ask('s3:PutObject'))).toBe('AccessDenied')
    const asking = new RequestScope(request, { bucket: 'bucket', key: 'key' }, ['s3:GetObject'])
    asking.ask('s3:PutObject')
    expect(outcomeOf(() => asking.admit(bucketOf('alice')))).toBe('AccessDenied')
  })
})

describe('the policy of a bucket', () => {
  const policy = (...statements: object[]): string => JSON.stringify({ Version: '2012-10-17', Statement: statements })
  const open = { Effect: 'Allow', Principal: '*', Action: 's3:GetObject', Resource: 'arn:aws:s3:::bucket/public/*' }
  const outcome = (
    text: string,
    principal: Principal,
    permission: string,
    key: string,
    tags?: { key: string; value: string }[],
  ) =>
    outcomeOf(() =>
      authorize(
        { principal, conditionValue: () => undefined, existing: () => tags && { headers: {}, metadata: {}, tags } },
        { permission, name: 'bucket', bucket: bucketOf('main', { policy: text }), key },
      ),
    )

  it('opens to anybody what it names, and nothing else', () => {
    for (const principal of [nobody, principalOf('other'), principalOf('main', [])]) {
      expect(outcome(policy(open), principal, 's3:GetObject', 'public/a')).toBe('ok')
      expect(outcome(policy(open), principal, 's3:GetObject', 'private')).toBe('AccessDenied')
      expect(outcome(policy(open), principal, 's3:PutObject', 'public/a')).toBe('AccessDenied')
    }
  })

  it('denies the owner, too, but leaves him the policy', () => {
    const closed = policy({
      Effect: 'Deny',
      Principal: '*',
      Action: 's3:*',
      Resource: ['arn:aws:s3:::bucket', 'arn:aws:s3:::bucket/*'],
    })
    expect(outcome(closed, principalOf('main'), 's3:GetObject', 'a')).toBe('AccessDenied')
    expect(outcome(closed, principalOf('main'), 's3:DeleteBucketPolicy', '')).toBe('ok')
  })

  it('asks for the tags of the object only where it has a condition on them', () => {
    const tagged = policy({ ...open, Condition: { StringEquals: { 's3:ExistingObjectTag/public': 'yes' } } })
    expect(() =>
      authorize(
        { principal: nobody, conditionValue: () => undefined },
        { permission: 's3:GetObject', name: 'bucket', bucket: bucketOf('main', { policy: tagged }), key: 'public/a' },
      ),
    ).toThrow(ObjectNeeded)
    expect(outcome(tagged, nobody, 's3:GetObject', 'public/a', [{ key: 'public', value: 'yes' }])).toBe('ok')
    expect(outcome(tagged, nobody, 's3:GetObject', 'public/a', [])).toBe('AccessDenied')
    expect(outcome(tagged, nobody, 's3:PutObject', 'public/a')).toBe('AccessDenied')
  })

  it('that was stored before S3’s rule for its conditions was kept goes on', () => {
    const Condition = { StringEquals: { 's3:ExistingObjectTag/public': 'yes' } }
    const mixed = policy({ ...open, Action: ['s3:GetObject', 's3:DeleteObject'], Condition })
    expect(outcome(mixed, nobody, 's3:GetObject', 'public/a', [{ key: 'public', value: 'yes' }])).toBe('ok')
  })

  it('that this version cannot read denies all but its replacement', () => {
    const unknown = policy({ ...open, Condition: { StringEqualsSometime: { 'aws:SourceIp': 'x' } } })
    expect(outcome(unknown, nobody, 's3:GetObject', 'public/a')).toBe('AccessDenied')
    expect(outcome(unknown, principalOf('main'), 's3:GetObject', 'public/a')).toBe('AccessDenied')
    expect(outcome(unknown, principalOf('main'), 's3:PutBucketPolicy', '')).toBe('ok')
  })
})

describe('a bucket with access control lists', () => {
  const everyone = { grantee: { kind: 'everyone' }, permission: 'READ' } as const
  const listed = bucketOf('main', { ownership: 'ObjectWriter' })
  const object = (over: Partial<ObjectAttributes> = {}): ExistingObject => ({
    headers: {},
    metadata: {},
    tags: [],
    ...over,
  })
  const outcome = (
    principal: Principal,
    permission: string,
    existing: ExistingObject | undefined,
    { bucket = listed, written = false } = {},
  ) =>
    outcomeOf(() =>
      authorize(
        { principal, conditionValue: () => undefined, existing: () => existing },
        { permission, name: 'bucket', bucket, key: 'key', written },
      ),
    )
  const [main, other] = [principalOf('main'), principalOf('other')]

  it('needs to know the object before even its owner reads it, and nothing of it before he writes', () => {
    expect(() => outcome(main, 's3:GetObject', undefined)).toThrow(ObjectNeeded)
    expect(outcome(main, 's3:PutObject', undefined)).toBe('ok')
    expect(outcome(main, 's3:DeleteObject', undefined)).toBe('ok')
    // Nobody needs to know anything of it where there are no lists.
    expect(outcome(main, 's3:GetObject', undefined, { bucket: own })).toBe('ok')
  })

  it.each<[string, Principal, string, Partial<ObjectAttributes>, string]>([
    ['its owner reads it', main, 's3:GetObject', {}, 'ok'],
    ['another account does not', other, 's3:GetObject', {}, 'AccessDenied'],
    ['nobody does', nobody, 's3:GetObject', {}, 'AccessDenied'],
    ['everyone does as its list says', nobody, 's3:GetObject', { grants: [everyone] }, 'ok'],
    ['a list to read is none to write', nobody, 's3:PutObjectAcl', { grants: [everyone] }, 'AccessDenied'],
    ['another writer reads what is his', other, 's3:GetObjectVersion', { owner: 'other' }, 'ok'],
    ['the owner of the bucket reads nothing of it', main, 's3:GetObject', { owner: 'other' }, 'AccessDenied'],
    ['but removes it', main, 's3:DeleteObject', { owner: 'other' }, 'ok'],
  ])('%s', (_, principal, permission, over, answer) => {
    expect(outcome(principal, permission, object(over))).toBe(answer)
  })

  it('tells that an object is missing to whoever may list it', () => {
    expect(outcome(nobody, 's3:GetObject', 'none')).toBe('AccessDenied')
    expect(outcome(nobody, 's3:GetObject', 'none', { bucket: { ...listed, grants: [everyone] } })).toBe('ok')
    expect(outcome(nobody, 's3:GetObject', object(), { bucket: { ...listed, grants: [everyone] } })).toBe(
      'AccessDenied',
    )
  })

  it('asks the writer’s own policies, and no others, about the list of what he writes', () => {
    expect(outcome(other, 's3:PutObjectAcl', object(), { written: true })).toBe('ok')
    expect(outcome(principalOf('other', ['s3:PutObject']), 's3:PutObjectAcl', object(), { written: true })).toBe(
      'AccessDenied',
    )
    expect(outcome(nobody, 's3:PutObjectAcl', object(), { written: true })).toBe('AccessDenied')
  })

  it('goes by the object that was read with it, not by one that was read before', () => {
    const request = {
      principal: other,
      conditionValue: () => undefined,
      expectedBucketOwner: undefined,
      requestId: '',
      existing: new Map([[resourceId({ bucket: 'bucket', key: 'key' }), object({ owner: 'other' })]]),
    }
    const scope = new RequestScope(request, { bucket: 'bucket', key: 'key' }, ['s3:GetObject'])
    const replaced: ObjectAttributes = { headers: {}, metadata: {}, tags: [] }
    expect(outcomeOf(() => scope.admit(listed))).toBe('ok')
    expect(outcomeOf(() => scope.admit(listed, () => replaced))).toBe('AccessDenied')
  })
})
