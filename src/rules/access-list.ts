/** Access control lists: who owns an object, what a canned list stands for, and when a list opens something to the public. Pure. */
import type { BucketOwnership, BucketRecord } from '../records/bucket-record.ts'
import type { Grant, Grantee, GrantPermission } from '../records/grant.ts'
import type { ObjectAttributes } from '../records/object-attributes.ts'

export type ObjectOwnership = 'BucketOwnerEnforced' | Exclude<BucketOwnership, 'none'>

/** Where the setting was removed, S3 goes by ObjectWriter. */
export function ownershipOf({ ownership }: Pick<BucketRecord, 'ownership'>): ObjectOwnership {
  return ownership === undefined ? 'BucketOwnerEnforced' : ownership === 'none' ? 'ObjectWriter' : ownership
}

/** The canonical id that S3 gives whoever signs nothing, as an owner. */
const anonymousId = '65a011a29cdf8ec533ec3d1ccaae921c'

/** The account that a writer's objects belong to. Empty: nobody signed. */
const writerOf = (accountId: string): string => (accountId === '' ? anonymousId : accountId)

/** Account id. */
export function ownerOfObject(
  bucket: Pick<BucketRecord, 'owner' | 'ownership'>,
  { owner }: Pick<ObjectAttributes, 'owner'>,
): string {
  return bucket.ownership === undefined ? bucket.owner : (owner ?? bucket.owner)
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

/** The owner of what is written now. `undefined`: the owner of the bucket. */
export function newOwner(bucket: BucketRecord, accountId: string, acl: string | undefined): string | undefined {
  const { ownership } = bucket
  if (ownership === undefined || accountId === bucket.owner) return undefined
  if (ownership === 'BucketOwnerPreferred' && acl === 'bucket-owner-full-control') return undefined
  return writerOf(accountId)
}

const everyone: Grantee = { kind: 'everyone' }
const authenticated: Grantee = { kind: 'authenticated' }

/** What a canned list stands for, in addition to what the owner may do. Of lists for services that there are none of here, `undefined`. */
function granted(acl: CannedAcl, bucketOwner: string | undefined): [Grantee, GrantPermission][] | undefined {
  const ofBucket: Grantee | undefined = bucketOwner === undefined ? undefined : account(bucketOwner)
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
      return ofBucket === undefined ? [] : [[ofBucket, 'READ']]
    case 'bucket-owner-full-control':
      return ofBucket === undefined ? [] : [[ofBucket, 'FULL_CONTROL']]
    case 'aws-exec-read':
    case 'log-delivery-write':
      return undefined
  }
}

const account = (accountId: string): Grantee => ({ kind: 'account', accountId })

export type CannedGrants = { known: true; grants: readonly Grant[] | undefined } | { known: false }

/**
 * A canned list of what `owner` owns, as grants; no grants: the owner alone. `bucketOwner`: of an object's bucket, where that is another account; a
 * bucket's own list ignores what is for the owner of the bucket, as S3 does.
 */
export function cannedGrants(acl: CannedAcl, owner: string, bucketOwner?: string): CannedGrants {
  const others = granted(acl, bucketOwner === owner ? undefined : bucketOwner)
  if (others === undefined) return { known: false }
  if (others.length === 0) return { known: true, grants: undefined }
  const more = others.map(([grantee, permission]) => ({ grantee, permission }))
  return { known: true, grants: [...ownersGrants(owner), ...more] }
}

/** The list of what has none. */
export const ownersGrants = (owner: string): readonly Grant[] => [
  { grantee: account(owner), permission: 'FULL_CONTROL' },
]

/** To everyone, or to whoever signs: S3 calls both public. */
export function isPublicList(grants: readonly Grant[] | undefined): boolean {
  return grants?.some(({ grantee }) => grantee.kind !== 'account') === true
}

/** Whether a list gives anything to others than the owner. */
export function grantsToOthers(grants: readonly Grant[] | undefined, owner: string): boolean {
  return grants?.some(({ grantee }) => grantee.kind !== 'account' || grantee.accountId !== owner) === true
}

/** Whether it says no more than that the owner may do everything. */
export function isOwnersAlone(grants: readonly Grant[], owner: string): boolean {
  const own = grants.filter(({ permission }) => permission === 'FULL_CONTROL')
  return own.length > 0 && own.length === grants.length && !grantsToOthers(grants, owner)
}
