/** Access control lists by rows: whose an object is, what canned lists stand for, and which lists are public. */
import { describe, expect, it } from 'vitest'
import { type BucketRecord, unsetBucket } from '../../src/records/bucket-record.ts'
import type { Grant, GrantPermission } from '../../src/records/grant.ts'
import {
  type CannedAcl,
  cannedGrants,
  grantsToOthers,
  isOwnersAlone,
  isPublicList,
  newOwner,
  ownerOfObject,
  ownershipOf,
} from '../../src/rules/access-list.ts'

const bucketOf = (ownership: BucketRecord['ownership']): BucketRecord => ({
  ...unsetBucket,
  name: 'bucket',
  id: 'id',
  owner: 'main',
  createdMs: 0,
  ownership,
})
const to = (accountId: string, permission: GrantPermission = 'FULL_CONTROL'): Grant => ({
  grantee: { kind: 'account', accountId },
  permission,
})
const everyone: Grant = { grantee: { kind: 'everyone' }, permission: 'READ' }
const signers: Grant = { grantee: { kind: 'authenticated' }, permission: 'READ_ACP' }
const anonymous = '65a011a29cdf8ec533ec3d1ccaae921c'

describe('what is written', () => {
  it.each<
    [ownership: BucketRecord['ownership'], writer: string, acl: CannedAcl | undefined, owner: string | undefined]
  >([
    [undefined, 'other', undefined, undefined],
    [undefined, '', undefined, undefined],
    ['ObjectWriter', 'main', 'public-read', undefined],
    ['ObjectWriter', 'other', undefined, 'other'],
    ['ObjectWriter', 'other', 'bucket-owner-full-control', 'other'],
    ['ObjectWriter', '', undefined, anonymous],
    ['none', 'other', 'bucket-owner-full-control', 'other'],
    ['BucketOwnerPreferred', 'other', undefined, 'other'],
    ['BucketOwnerPreferred', 'other', 'bucket-owner-read', 'other'],
    ['BucketOwnerPreferred', 'other', 'bucket-owner-full-control', undefined],
    ['BucketOwnerPreferred', '', 'bucket-owner-full-control', undefined],
  ])('under %s by %j with %s belongs to %s', (ownership, writer, acl, owner) => {
    expect(newOwner(bucketOf(ownership), writer, acl)).toBe(owner)
  })
})

it('an object is the bucket owner’s where it has no other, and wherever there are no lists', () => {
  expect(ownerOfObject(bucketOf('ObjectWriter'), { owner: 'other' })).toBe('other')
  expect(ownerOfObject(bucketOf('ObjectWriter'), {})).toBe('main')
  expect(ownerOfObject(bucketOf(undefined), { owner: 'other' })).toBe('main')
})

it('a bucket whose setting was removed goes by ObjectWriter, and one that never had one by BucketOwnerEnforced', () => {
  expect(
    ([undefined, 'none', 'BucketOwnerPreferred', 'ObjectWriter'] as const).map((ownership) =>
      ownershipOf({ ownership }),
    ),
  ).toEqual(['BucketOwnerEnforced', 'ObjectWriter', 'BucketOwnerPreferred', 'ObjectWriter'])
})

describe('a canned list', () => {
  it.each<[acl: CannedAcl, owner: string, bucketOwner: string | undefined, grants: readonly Grant[] | undefined]>([
    ['private', 'main', 'main', undefined],
    ['public-read', 'main', undefined, [to('main'), everyone]],
    ['bucket-owner-read', 'other', 'main', [to('other'), to('main', 'READ')]],
    ['bucket-owner-full-control', 'other', 'main', [to('other'), to('main')]],
    ['bucket-owner-full-control', 'main', 'main', undefined],
    ['bucket-owner-full-control', 'main', undefined, undefined],
  ])('%s of %s in the bucket of %s', (acl, owner, bucketOwner, grants) => {
    expect(cannedGrants(acl, owner, bucketOwner)).toEqual({ known: true, grants })
  })

  it.each<CannedAcl>(['aws-exec-read', 'log-delivery-write'])('%s is for a service that is not here', (acl) => {
    expect(cannedGrants(acl, 'main')).toEqual({ known: false })
  })
})

describe('a list', () => {
  it.each<[grants: readonly Grant[] | undefined, isPublic: boolean, toOthers: boolean]>([
    [undefined, false, false],
    [[], false, false],
    [[to('main', 'READ')], false, false],
    [[to('main'), to('other', 'READ')], false, true],
    [[everyone], true, true],
    [[to('main'), signers], true, true],
  ])('%j', (grants, isPublic, toOthers) => {
    expect([isPublicList(grants), grantsToOthers(grants, 'main')]).toEqual([isPublic, toOthers])
  })

  it.each<[grants: readonly Grant[], alone: boolean]>([
    [[to('main')], true],
    [[to('main'), to('main')], true],
    [[], false],
    [[to('main', 'READ')], false],
    [[to('main'), to('main', 'READ')], false],
    [[to('main'), to('other')], false],
    [[to('main'), { ...everyone, permission: 'FULL_CONTROL' }], false],
  ])('%j says no more than that the owner may do everything: %s', (grants, alone) => {
    expect(isOwnersAlone(grants, 'main')).toBe(alone)
  })
})
