/** Access control lists: who owns an object, what a canned list stands for, and when a list opens something to the public. Pure. */
import type { BucketOwnership, BucketRecord } from '../records/bucket-record.ts'
import type { Grant, Grantee, GrantPermission } from '../records/grant.ts'
import type { ObjectAttributes } from '../records/object-attributes.ts'

export type ObjectOwnership = 'BucketOwnerEnforced' | Exclude<BucketOwnership, 'none'>

/** S3 treats a removed setting as ObjectWriter. */
export function ownershipOf({ ownership }: Pick<BucketRecord, 'ownership'>): ObjectOwnership {
  return ownership === undefined ? 'BucketOwnerEnforced' : ownership === 'none' ? 'ObjectWriter' : ownership
}

/** The canonical id of the owner that S3 gives objects from unsigned requests. */
const anonymousId = '65a011a29cdf8ec533ec3d1ccaae921c'

export const isOfUnsigned = ({ owner }: Pick<ObjectAttributes, 'owner'>): boolean => owner === anonymousId

/** The account that a writer's objects belong to. `accountId` is empty for an unsigned request. */
const writerOf = (accountId: string): string => (accountId === '' ? anonymousId : accountId)

/** The account id of an object's owner. */
export function ownerOfObject(
  bucket: Pick<BucketRecord, 'owner' | 'ownership'>,
  { owner }: Pick<ObjectAttributes, 'owner'>,
): string {
  return bucket.ownership === undefined ? bucket.owner : (owner ?? bucket.owner)
}

/** Whether the owner of the bucket may read the object: not what another account has written, unless the object's list lets it. */
export function mayBucketOwnerRead(
  bucket: Pick<BucketRecord, 'owner' | 'ownership' | 'publicAccessBlock'>,
  attributes: Pick<ObjectAttributes, 'owner' | 'grants'>,
): boolean {
  if (ownerOfObject(bucket, attributes) === bucket.owner) return true
  const ignoresPublic = bucket.publicAccessBlock?.ignorePublicAcls === true
  return (attributes.grants ?? []).some(({ grantee, permission }) => {
    if (permission !== 'READ' && permission !== 'FULL_CONTROL') return false
    return grantee.kind === 'account' ? grantee.accountId === bucket.owner : !ignoresPublic
  })
}

export type CannedAcl =
  | 'private'
  | 'public-read'
  | 'public-read-write'
  | 'authenticated-read'
  | 'aws-exec-read'
  | 'bucket-owner-read'
  | 'bucket-owner-full-control'
  | 'log-delivery-write'

/** The owner of an object that `accountId` writes. `undefined`: the owner of the bucket. */
export function newOwner(bucket: BucketRecord, accountId: string, acl: string | undefined): string | undefined {
  const { ownership } = bucket
  if (ownership === undefined || accountId === bucket.owner) return undefined
  if (ownership === 'BucketOwnerPreferred' && acl === 'bucket-owner-full-control') return undefined
  return writerOf(accountId)
}

const everyone: Grantee = { kind: 'everyone' }
const authenticated: Grantee = { kind: 'authenticated' }

/** The grants of a canned list, in addition to the owner's. `undefined` for lists for AWS services that do not exist here. */
function granted(acl: CannedAcl, bucketOwner: string | undefined): [Grantee, GrantPermission][] | undefined {
  const bucketOwnerGrantee: Grantee | undefined = bucketOwner === undefined ? undefined : account(bucketOwner)
  switch (acl) {
    case 'private':
      return []
    case 'public-read':
      return [[everyone, 'READ']]
    case 'public-read-write':
      return [
        [everyone, 'READ'],
        [everyone, 'WRITE'],
      ]
    case 'authenticated-read':
      return [[authenticated, 'READ']]
    case 'bucket-owner-read':
      return bucketOwnerGrantee === undefined ? [] : [[bucketOwnerGrantee, 'READ']]
    case 'bucket-owner-full-control':
      return bucketOwnerGrantee === undefined ? [] : [[bucketOwnerGrantee, 'FULL_CONTROL']]
    case 'aws-exec-read':
    case 'log-delivery-write':
      return undefined
  }
}

const account = (accountId: string): Grantee => ({ kind: 'account', accountId })

export type CannedGrants = { known: true; grants: readonly Grant[] | undefined } | { known: false }

/**
 * Turns a canned list for something that `owner` owns into grants. `grants` is `undefined` when the list is the owner's alone. `bucketOwner`: the owner of the
 * object's bucket. It is absent for a bucket's own list, which ignores grants to the bucket's owner, as S3 does.
 */
export function cannedGrants(acl: CannedAcl, owner: string, bucketOwner?: string): CannedGrants {
  const others = granted(acl, bucketOwner === owner ? undefined : bucketOwner)
  if (others === undefined) return { known: false }
  if (others.length === 0) return { known: true, grants: undefined }
  const more = others.map(([grantee, permission]) => ({ grantee, permission }))
  return { known: true, grants: [...ownersGrants(owner), ...more] }
}

/** The list to show for an object or bucket without one. */
export const ownersGrants = (owner: string): readonly Grant[] => [
  { grantee: account(owner), permission: 'FULL_CONTROL' },
]

/** Whether a list grants anything to everyone or to all signed requests. S3 calls both public. */
export function isPublicList(grants: readonly Grant[] | undefined): boolean {
  return grants?.some(({ grantee }) => grantee.kind !== 'account') === true
}

/** Whether a list grants anything to anyone but the owner. */
export function grantsToOthers(grants: readonly Grant[] | undefined, owner: string): boolean {
  return grants?.some(({ grantee }) => grantee.kind !== 'account' || grantee.accountId !== owner) === true
}

/** Whether a list grants full control to the owner, and nothing else. */
export function isOwnersAlone(grants: readonly Grant[], owner: string): boolean {
  const own = grants.filter(({ permission }) => permission === 'FULL_CONTROL')
  return own.length > 0 && own.length === grants.length && !grantsToOthers(grants, owner)
}
