/** Grants of access control lists, and blocks of public access. Pure. */

export type GrantPermission = 'FULL_CONTROL' | 'READ' | 'WRITE' | 'READ_ACP' | 'WRITE_ACP'

export type Grantee =
  | { readonly kind: 'account'; readonly accountId: string }
  /** Every signed request, of any account. */
  | { readonly kind: 'authenticated' }
  | { readonly kind: 'everyone' }

export interface Grant {
  readonly grantee: Grantee
  readonly permission: GrantPermission
}

export type ObjectOwnership = 'BucketOwnerEnforced' | 'BucketOwnerPreferred' | 'ObjectWriter'

export interface PublicAccessBlock {
  readonly blockPublicAcls: boolean
  readonly ignorePublicAcls: boolean
  readonly blockPublicPolicy: boolean
  readonly restrictPublicBuckets: boolean
}

export const noPublicAccessBlock: PublicAccessBlock = {
  blockPublicAcls: false,
  ignorePublicAcls: false,
  blockPublicPolicy: false,
  restrictPublicBuckets: false,
}

/** Combines the block of a bucket with that of its account: the result blocks what either blocks. */
export function joinBlocks(a: PublicAccessBlock, b: PublicAccessBlock): PublicAccessBlock {
  return {
    blockPublicAcls: a.blockPublicAcls || b.blockPublicAcls,
    ignorePublicAcls: a.ignorePublicAcls || b.ignorePublicAcls,
    blockPublicPolicy: a.blockPublicPolicy || b.blockPublicPolicy,
    restrictPublicBuckets: a.restrictPublicBuckets || b.restrictPublicBuckets,
  }
}

/** S3 calls a grant public if it is to everyone or to all signed requests. */
export const isPublicGrant = ({ grantee }: Grant): boolean => grantee.kind !== 'account'

type Permits = Readonly<Record<Exclude<GrantPermission, 'FULL_CONTROL'>, readonly string[]>>

/** Actions in lower case, by the permission that allows them. From the S3 user guide, "Mapping of ACL permissions and access policy permissions". */
const bucketPermits: Permits = {
  READ: ['s3:listbucket', 's3:listbucketversions', 's3:listbucketmultipartuploads'],
  WRITE: [],
  READ_ACP: ['s3:getbucketacl'],
  WRITE_ACP: ['s3:putbucketacl'],
}
const objectPermits: Permits = {
  READ: [
    's3:getobject',
    's3:getobjectversion',
    's3:getobjectattributes',
    's3:getobjectversionattributes',
    's3:getobjecttorrent',
    's3:getobjectversiontorrent',
  ],
  WRITE: [],
  READ_ACP: ['s3:getobjectacl', 's3:getobjectversionacl'],
  WRITE_ACP: ['s3:putobjectacl', 's3:putobjectversionacl'],
}
/** What the request would replace or remove: something of the principal's own, something of somebody else's, or nothing. */
export type Stake = 'none' | 'own' | 'others'

/** Where an object can have another owner than its bucket, the object's owner is the one who can allow these. */
const ofObjects: ReadonlySet<string> = new Set(Object.values(objectPermits).flat())

/** Whether the object's owner, rather than the bucket's, can allow an action. */
export const isOfObjectOwner = (action: string): boolean => ofObjects.has(action.toLowerCase())

/** The permission that allows the action when a bucket grants it. WRITE is for new objects; only their owner may replace and remove them by it. */
export function bucketPermissionFor(action: string, stake: Stake): GrantPermission | undefined {
  const lower = action.toLowerCase()
  if (lower === 's3:putobject') return stake === 'others' ? undefined : 'WRITE'
  if (lower === 's3:deleteobject') return stake === 'own' ? 'WRITE' : undefined
  return permissionIn(bucketPermits, lower)
}

/** The permission that allows the action when an object grants it. */
export function objectPermissionFor(action: string): GrantPermission | undefined {
  return permissionIn(objectPermits, action.toLowerCase())
}

function permissionIn(permits: Permits, action: string): GrantPermission | undefined {
  if (permits.READ.includes(action)) return 'READ'
  if (permits.WRITE.includes(action)) return 'WRITE'
  if (permits.READ_ACP.includes(action)) return 'READ_ACP'
  return permits.WRITE_ACP.includes(action) ? 'WRITE_ACP' : undefined
}
