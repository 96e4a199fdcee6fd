/** Grants of access control lists, and what blocks public ones. Pure. */

export type GrantPermission = 'FULL_CONTROL' | 'READ' | 'WRITE' | 'READ_ACP' | 'WRITE_ACP'

export type Grantee =
  | { readonly kind: 'account'; readonly accountId: string }
  /** Whoever signed, of any account. */
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

/** What either of two blocks blocks: of a bucket and of its account. */
export function joinBlocks(a: PublicAccessBlock, b: PublicAccessBlock): PublicAccessBlock {
  return {
    blockPublicAcls: a.blockPublicAcls || b.blockPublicAcls,
    ignorePublicAcls: a.ignorePublicAcls || b.ignorePublicAcls,
    blockPublicPolicy: a.blockPublicPolicy || b.blockPublicPolicy,
    restrictPublicBuckets: a.restrictPublicBuckets || b.restrictPublicBuckets,
  }
}

/** To everyone, or to whoever signed: S3 calls both public. */
export const isPublicGrant = ({ grantee }: Grant): boolean => grantee.kind !== 'account'

type Permits = Readonly<Record<Exclude<GrantPermission, 'FULL_CONTROL'>, readonly string[]>>

/** S3 user guide, "Mapping of ACL permissions and access policy permissions". In lower case. */
const bucketPermits: Permits = {
  READ: ['s3:listbucket', 's3:listbucketversions', 's3:listbucketmultipartuploads'],
  WRITE: ['s3:putobject'],
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
/** With WRITE on the bucket, who owns an object can remove it. */
const ownObjectsPermits = ['s3:deleteobject']

/** Of an object, and so its owner's to allow, where an object can have another owner than its bucket. */
const ofObjects: ReadonlySet<string> = new Set(Object.values(objectPermits).flat())

/** Whether an action is the business of the object's owner, rather than of the bucket's. */
export const isOfObjectOwner = (action: string): boolean => ofObjects.has(action.toLowerCase())

/** The permissions of a bucket's grants that allow the action. `ownsObject`: whether the principal owns the object it is about. */
export function bucketPermissionFor(action: string, ownsObject: boolean): GrantPermission | undefined {
  const lower = action.toLowerCase()
  return ownsObject && ownObjectsPermits.includes(lower) ? 'WRITE' : permissionIn(bucketPermits, lower)
}

/** The same of an object's grants. */
export function objectPermissionFor(action: string): GrantPermission | undefined {
  return permissionIn(objectPermits, action.toLowerCase())
}

function permissionIn(permits: Permits, action: string): GrantPermission | undefined {
  if (permits.READ.includes(action)) return 'READ'
  if (permits.WRITE.includes(action)) return 'WRITE'
  if (permits.READ_ACP.includes(action)) return 'READ_ACP'
  return permits.WRITE_ACP.includes(action) ? 'WRITE_ACP' : undefined
}
