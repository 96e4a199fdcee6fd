/** The access control list that a request asks for, and whether its bucket accepts it. */
import type { NamedGrantee } from '../../contract/groups.ts'
import { notImplemented, S3Error } from '../../errors.ts'
import { limits } from '../../limits.ts'
import type { AccessAttributes } from '../../objects/write-object.ts'
import type { BucketRecord } from '../../records/bucket-record.ts'
import type { Grant, GrantPermission } from '../../records/grant.ts'
import { type CannedAcl, cannedGrants, isOwnersAlone, isPublicList, newOwner } from '../../rules/access-list.ts'
import { withAccountBlock } from '../access/account-blocks.ts'
import type { OperationContext } from '../context.ts'
import { askedByPolicy, type Policy, type PolicyAsked } from './access-control-policy.ts'
import { type Accounts, grantOf, type NamedGrant } from './grantee-names.ts'

export interface AclInputs {
  acl?: CannedAcl | undefined
  grantFullControl?: readonly NamedGrantee[] | undefined
  grantRead?: readonly NamedGrantee[] | undefined
  grantReadAcp?: readonly NamedGrantee[] | undefined
  grantWrite?: readonly NamedGrantee[] | undefined
  grantWriteAcp?: readonly NamedGrantee[] | undefined
}

type KnownAccounts = Accounts & Pick<OperationContext, 'accountBlocks'>

type AskedList =
  | { by: 'canned'; acl: CannedAcl }
  | { by: 'headers'; grants: readonly NamedGrant[] }
  | ({ by: 'document' } & PolicyAsked)

/** `undefined`: no header asks for a list. Throws InvalidRequest. */
function askedByHeaders(input: AclInputs): AskedList | undefined {
  const grants = headerGrants(input)
  if (input.acl === undefined) return grants.length === 0 ? undefined : { by: 'headers', grants }
  if (grants.length === 0) return { by: 'canned', acl: input.acl }
  throw new S3Error('InvalidRequest', {
    message: 'Specifying both Canned ACLs and Header Grants is not allowed',
  })
}

/** Throws InvalidRequest when there are too many. */
function headerGrants(input: AclInputs): NamedGrant[] {
  const of = (permission: GrantPermission, named: readonly NamedGrantee[] = []): NamedGrant[] =>
    named.map((grantee) => ({ permission, grantee }))
  const grants = [
    ...of('FULL_CONTROL', input.grantFullControl),
    ...of('READ', input.grantRead),
    ...of('READ_ACP', input.grantReadAcp),
    ...of('WRITE', input.grantWrite),
    ...of('WRITE_ACP', input.grantWriteAcp),
  ]
  if (grants.length <= limits.aclGrantsMax) return grants
  throw new S3Error('InvalidRequest', {
    message: `An access control list has ${limits.aclGrantsMax} grants at most.`,
  })
}

/** The list that a PutBucketAcl or PutObjectAcl asks for. Throws MissingSecurityHeader, UnexpectedContent, InvalidRequest, MalformedACLError. */
export function askedList(input: AclInputs, policy: Policy | undefined): AskedList {
  const headers = askedByHeaders(input)
  if (policy === undefined) {
    if (headers === undefined)
      throw new S3Error('MissingSecurityHeader', { vendorDetails: { MissingHeaderName: 'acl' } })
    return headers
  }
  if (headers !== undefined) throw new S3Error('UnexpectedContent')
  return { by: 'document', ...askedByPolicy(policy) }
}

interface ListOwner {
  /** Account id. */
  owner: string
  /** Account id of the owner of the object's bucket. Absent: the list is a bucket's own. */
  bucketOwner?: string
}

/**
 * The list to store for a bucket or an object; `undefined` when only the owner has access. Throws AccessControlListNotSupported when lists are disabled and the
 * request asks for more than the owner's access, AccessDenied for a public list where the bucket or its account blocks those and for a document that names
 * another owner, InvalidArgument and NotImplemented for a grantee or a canned list.
 */
export function listIn(bucket: BucketRecord, asked: AskedList, of: ListOwner, accounts: KnownAccounts) {
  if (bucket.ownership === undefined) {
    if (asksForOwnerAlone(asked, bucket.owner)) return undefined
    throw new S3Error('AccessControlListNotSupported')
  }
  const grants = resolved(asked, of, accounts)
  const { publicAccessBlock } = withAccountBlock(bucket, accounts.accountBlocks)
  if (isPublicList(grants) && publicAccessBlock?.blockPublicAcls === true) throw new S3Error('AccessDenied')
  return grants
}

/** A bucket with lists disabled accepts only this. */
function asksForOwnerAlone(asked: AskedList, owner: string): boolean {
  switch (asked.by) {
    case 'canned':
      return asked.acl === 'private' || asked.acl === 'bucket-owner-full-control'
    case 'headers':
      return false
    case 'document':
      return asked.owner === owner && asked.grants.length > 0 && asked.grants.every((grant) => isOwners(grant, owner))
  }
}

const isOwners = ({ permission, grantee: { by, name } }: NamedGrant, owner: string): boolean =>
  permission === 'FULL_CONTROL' && by === 'id' && name === owner

function resolved(asked: AskedList, { owner, bucketOwner }: ListOwner, accounts: Accounts) {
  if (asked.by === 'canned') {
    const canned = cannedGrants(asked.acl, owner, bucketOwner)
    if (canned.known) return canned.grants
    throw notImplemented(`acl ${asked.acl}`)
  }
  // A list can't change the owner.
  if (asked.by === 'document' && asked.owner !== owner) throw new S3Error('AccessDenied')
  const grants: readonly Grant[] = asked.grants.map((grant) => grantOf(grant, accounts))
  return isOwnersAlone(grants, owner) ? undefined : grants
}

/** Returns a function from the bucket to the owner and list of the written object. Throws InvalidRequest; the function throws what `listIn` throws. */
export function accessOfWrite(
  context: Pick<OperationContext, 'principal'> & KnownAccounts,
  input: AclInputs,
): (bucket: BucketRecord) => AccessAttributes | undefined {
  const asked = askedByHeaders(input)
  const { accountId } = context.principal
  return (bucket) => {
    if (asked === undefined && (bucket.ownership === undefined || bucket.owner === accountId)) return undefined
    const owner = newOwner(bucket, accountId, input.acl)
    const of = { owner: owner ?? bucket.owner, bucketOwner: bucket.owner }
    return { owner, grants: asked && listIn(bucket, asked, of, context) }
  }
}

/**
 * The list of a new bucket. Throws InvalidRequest, InvalidBucketAclWithObjectOwnership, AccessDenied for a public list where the account blocks those,
 * InvalidArgument and NotImplemented for a grantee or a canned list.
 */
export function listOfNewBucket(
  { ownership, owner }: Pick<BucketRecord, 'ownership' | 'owner'>,
  input: AclInputs,
  accounts: KnownAccounts,
): readonly Grant[] | undefined {
  const asked = askedByHeaders(input)
  if (asked === undefined) return undefined
  if (ownership === undefined) {
    if (asksForOwnerAlone(asked, owner)) return undefined
    throw new S3Error('InvalidBucketAclWithObjectOwnership')
  }
  const grants = resolved(asked, { owner }, accounts)
  if (isPublicList(grants) && accounts.accountBlocks?.of(owner)?.blockPublicAcls === true) {
    throw new S3Error('AccessDenied')
  }
  return grants
}
