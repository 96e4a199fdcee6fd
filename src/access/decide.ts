/** Who may do what: the one function that allows or denies. Pure. */
import { type AccessPrincipal, type AccessRequest, accountOf } from './access-request.ts'
import type { CompiledPolicy, PolicyNeeds, PolicyVerdict } from './compiled-policy.ts'
import {
  bucketPermissionFor,
  type Grant,
  type GrantPermission,
  isOfObjectOwner,
  isPublicGrant,
  type ObjectOwnership,
  objectPermissionFor,
  type PublicAccessBlock,
  type Stake,
} from './grants.ts'
import type { PolicyKind } from './parsing/policy-document.ts'

export interface DecisionInput {
  readonly request: AccessRequest
  /** Policies of the key and its user. `undefined`: the key may do everything with what its account owns. Empty: the key may do nothing by itself. */
  readonly identityPolicies: readonly NamedPolicy[] | undefined
  /** The policy of temporary credentials, or a user key's own. It can only narrow what the others allow. */
  readonly sessionPolicy?: CompiledPolicy | undefined
  /** The bucket that the request is about. `undefined`: it is about none (ListBuckets), or the bucket does not exist yet. */
  readonly bucket?: BucketAccess | undefined
  /** The existing object. `undefined`: there is none, or the decision does not depend on it. */
  readonly object?: ObjectAccess | undefined
  /** Id of the account that began the upload that the request continues. `undefined`: there is none, or the bucket's owner began it. */
  readonly initiator?: string | undefined
}

export interface NamedPolicy {
  /** The name that `access explain` shows. */
  readonly name: string
  readonly policy: CompiledPolicy
}

export interface BucketAccess {
  /** Account id. */
  readonly owner: string
  readonly policy?: CompiledPolicy | undefined
  readonly grants?: readonly Grant[] | undefined
  readonly ownership: ObjectOwnership
  /** What the bucket or its account blocks. */
  readonly publicAccessBlock: PublicAccessBlock
  /** A recovery can have lost the bucket's policy or grants, so only the account's own key has access until an operator confirms the bucket. */
  readonly unconfirmed?: boolean
}

export interface ObjectAccess {
  /** Account id. Ignored when ownership is BucketOwnerEnforced. */
  readonly owner: string
  readonly grants?: readonly Grant[] | undefined
  /** An unsigned request wrote it. */
  readonly unsigned?: boolean
}

export interface Decision {
  readonly allowed: boolean
  readonly because: Reason
}

export type Reason =
  /** `statement`: its Sid, or `#2` for the second. `name`: the name of an identity policy. */
  | {
      readonly by: 'statement'
      readonly effect: 'Allow' | 'Deny'
      readonly policy: PolicyKind
      readonly name?: string | undefined
      readonly statement: string
    }
  /** It is the account's own key, and nothing denies the request. */
  | { readonly by: 'owner' }
  | {
      readonly by: 'grant'
      readonly of: 'bucket' | 'object'
      readonly permission: GrantPermission
      readonly to: string
    }
  /** Nothing allows the request; `missing` says which permission would be needed. */
  | { readonly by: 'default'; readonly missing: 'identity policy' | 'session policy' | 'bucket policy or grant' }
  /** Its account began the upload. */
  | { readonly by: 'initiator' }
  /** RestrictPublicBuckets overrides a public bucket policy that allows the request. */
  | { readonly by: 'public access block' }
  /** The bucket is unconfirmed, whatever its policy says: see `BucketAccess`. */
  | { readonly by: 'unconfirmed bucket' }

/**
 * Allows or denies the request, and gives the reason. An explicit Deny anywhere denies it. Within one account, an identity policy or the bucket must allow it;
 * across accounts, both must. A session policy must allow it in any case.
 */
export function decide(input: DecisionInput): Decision {
  const { principal } = input.request
  const verdicts = verdictsOf(input)
  const denial = denialOf(input, verdicts)
  if (denial !== undefined) return denied(denial)
  const owner = ownerOf(input)
  const fromResource = resourceAllows(input, verdicts.bucket, owner)
  if (principal.kind === 'anonymous' || principal.kind === 'service') return ofStranger(fromResource)
  const fromIdentity = identityAllows(verdicts.identity)
  const isOwn = owner === undefined || principal.accountId === owner
  const session = verdicts.session === undefined || verdicts.session.allows !== undefined
  if (isOwn) {
    const because = fromIdentity ?? directReason(fromResource)
    if (because === undefined) return denied({ by: 'default', missing: 'identity policy' })
    return session ? allowed(because) : denied({ by: 'default', missing: 'session policy' })
  }
  if (!fromResource.allows) return denied(fromResource.because)
  if (fromIdentity === undefined) return denied({ by: 'default', missing: 'identity policy' })
  return session ? allowed(fromResource.because) : denied({ by: 'default', missing: 'session policy' })
}

export interface DecisionNeeds extends PolicyNeeds {
  /** The object's owner and grants decide. */
  readonly object: boolean
}

/** What must be read of an existing object before `decide` is called for this action. Cheap enough for every request. */
export function needsOf(input: Omit<DecisionInput, 'request'>, action: string): DecisionNeeds {
  const { bucket } = input
  const policies = [bucket?.policy, input.sessionPolicy, ...(input.identityPolicies ?? []).map((of) => of.policy)]
  return {
    existingTags: policies.some((policy) => policy?.needs(action).existingTags === true),
    object: bucket !== undefined && areGrantsUsed(bucket) && dependsOnObject(bucket, action),
  }
}

/** Where a grant lets others write to the bucket, a write and a removal depend on the owner of the object that is there. */
function dependsOnObject({ grants = [] }: BucketAccess, action: string): boolean {
  if (isOfObjectOwner(action)) return true
  return grants.length > 0 && bucketPermissionFor(action, 'own') !== bucketPermissionFor(action, 'others')
}

const allowed = (because: Reason): Decision => ({ allowed: true, because })
const denied = (because: Reason): Decision => ({ allowed: false, because })

/** What the bucket or the object allows. `direct`: to the principal itself, not only to its account. */
type FromResource =
  | { readonly allows: true; readonly direct: boolean; readonly because: Reason }
  | { readonly allows: false; readonly because: Reason }

/** Of a principal without an account. */
function ofStranger(fromResource: FromResource): Decision {
  return fromResource.allows && fromResource.direct ? allowed(fromResource.because) : denied(fromResource.because)
}

/** A permission for an account does not reach its users by itself: their own policies must pass it on. */
function directReason(fromResource: FromResource): Reason | undefined {
  return fromResource.allows && fromResource.direct ? fromResource.because : undefined
}

/** The verdict of each policy, evaluated once. */
interface Verdicts {
  readonly session: PolicyVerdict | undefined
  /** `undefined`: no policy narrows the key. */
  readonly identity: readonly NamedVerdict[] | undefined
  readonly bucket: PolicyVerdict | undefined
}

interface NamedVerdict {
  readonly name: string
  readonly verdict: PolicyVerdict
}

function verdictsOf({ request, identityPolicies, sessionPolicy, bucket }: DecisionInput): Verdicts {
  return {
    session: sessionPolicy?.evaluate(request),
    identity: identityPolicies?.map(({ name, policy }) => ({ name, verdict: policy.evaluate(request) })),
    bucket: bucket?.policy?.evaluate(request),
  }
}

function denialOf(input: DecisionInput, { session, identity, bucket }: Verdicts): Reason | undefined {
  if (session?.denies !== undefined)
    return { by: 'statement', effect: 'Deny', policy: 'session', statement: session.denies }
  if (input.bucket?.unconfirmed === true && !isOwnersOwnKey(input, input.bucket)) return { by: 'unconfirmed bucket' }
  for (const { name, verdict } of identity ?? [])
    if (verdict.denies !== undefined)
      return { by: 'statement', effect: 'Deny', policy: 'identity', name, statement: verdict.denies }
  if (bucket?.denies === undefined || isRepair(input)) return undefined
  return { by: 'statement', effect: 'Deny', policy: 'bucket', statement: bucket.denies }
}

/** True for a key of the bucket's owner account that is not a user's, and that no policy narrows. */
function isOwnersOwnKey({ request: { principal }, identityPolicies }: DecisionInput, { owner }: BucketAccess): boolean {
  return identityPolicies === undefined && principal.kind === 'account' && principal.accountId === owner
}

const repairActions: ReadonlySet<string> = new Set([
  's3:GetBucketPolicy',
  's3:PutBucketPolicy',
  's3:DeleteBucketPolicy',
])

/** The account's own key can always read and replace the bucket policy, whatever that policy says. */
function isRepair({ request: { action, principal }, bucket }: DecisionInput): boolean {
  return principal.kind === 'account' && principal.accountId === bucket?.owner && repairActions.has(action)
}

function identityAllows(verdicts: readonly NamedVerdict[] | undefined): Reason | undefined {
  if (verdicts === undefined) return { by: 'owner' }
  for (const { name, verdict } of verdicts)
    if (verdict.allows !== undefined)
      return { by: 'statement', effect: 'Allow', policy: 'identity', name, statement: verdict.allows }
  return undefined
}

const areGrantsUsed = ({ ownership }: BucketAccess): boolean => ownership !== 'BucketOwnerEnforced'

/** Id of the account that can allow the request. `undefined`: the request is about nothing that has an owner yet. */
function ownerOf({ request, bucket, object }: DecisionInput): string | undefined {
  if (bucket === undefined || object === undefined) return bucket?.owner
  return areGrantsUsed(bucket) && isOfObjectOwner(request.action) ? object.owner : bucket.owner
}

const nothingThere: FromResource = {
  allows: false,
  because: { by: 'default', missing: 'bucket policy or grant' },
}

function resourceAllows(
  input: DecisionInput,
  verdict: PolicyVerdict | undefined,
  owner: string | undefined,
): FromResource {
  const { bucket } = input
  if (bucket === undefined) return nothingThere
  // A bucket policy can only allow access to what the bucket's owner owns.
  const byPolicy = owner === bucket.owner ? policyAllows(input, bucket, verdict) : nothingThere
  if (byPolicy.allows && byPolicy.direct) return byPolicy
  const byGrant = areGrantsUsed(bucket) ? grantAllows(input, bucket) : undefined
  return byGrant ?? (isInitiators(input) ? { allows: true, direct: false, because: { by: 'initiator' } } : byPolicy)
}

/** Whoever may begin an upload may also see what it has sent, and give it up: S3 documents this default. */
function isInitiators({ request: { action, principal }, initiator }: DecisionInput): boolean {
  return initiator !== undefined && accountOf(principal) === initiator && initiatorActions.has(action)
}

const initiatorActions: ReadonlySet<string> = new Set(['s3:AbortMultipartUpload', 's3:ListMultipartUploadParts'])

function policyAllows(
  { request }: DecisionInput,
  { policy, owner, publicAccessBlock }: BucketAccess,
  verdict: PolicyVerdict | undefined,
): FromResource {
  if (policy === undefined || verdict === undefined) return nothingThere
  const { allows, allowsAccount } = verdict
  const statement = allows ?? allowsAccount
  if (statement === undefined) return nothingThere
  // As S3 documents RestrictPublicBuckets, services count as inside.
  const isInside = request.principal.kind === 'service' || accountOf(request.principal) === owner
  if (publicAccessBlock.restrictPublicBuckets && policy.isPublic && !isInside)
    return { allows: false, because: { by: 'public access block' } }
  const because: Reason = { by: 'statement', effect: 'Allow', policy: 'bucket', statement }
  return { allows: true, direct: allows !== undefined, because }
}

/** Prefers a grant to everyone or to all signed requests over one to the account, because only the former are direct. */
function grantAllows({ request, object }: DecisionInput, bucket: BucketAccess): FromResource | undefined {
  const { action, principal } = request
  const candidates = [
    { of: 'bucket', permission: bucketPermissionFor(action, stakeOf(principal, object)), grants: bucket.grants },
    { of: 'object', permission: objectPermissionFor(action), grants: object?.grants },
  ] as const
  let toAccount: FromResource | undefined
  for (const { of, permission, grants } of candidates) {
    if (permission === undefined) continue
    for (const grant of grants ?? []) {
      if (grant.permission !== permission && grant.permission !== 'FULL_CONTROL') continue
      if (isPublicGrant(grant) && bucket.publicAccessBlock.ignorePublicAcls) continue
      if (!isGrantedTo(grant, principal)) continue
      const direct = isPublicGrant(grant)
      const because: Reason = { by: 'grant', of, permission: grant.permission, to: granteeText(grant) }
      if (direct) return { allows: true, direct, because }
      toAccount ??= { allows: true, direct, because }
    }
  }
  return toAccount
}

function stakeOf(principal: AccessPrincipal, object: ObjectAccess | undefined): Stake {
  if (object === undefined) return 'none'
  // S3 gives all unsigned writes one owner, so one may replace another.
  if (principal.kind === 'anonymous') return object.unsigned === true ? 'none' : 'others'
  return accountOf(principal) === object.owner ? 'own' : 'others'
}

function isGrantedTo({ grantee }: Grant, principal: AccessPrincipal): boolean {
  if (grantee.kind === 'everyone') return true
  if (principal.kind === 'anonymous' || principal.kind === 'service') return false
  return grantee.kind === 'authenticated' || grantee.accountId === principal.accountId
}

export const granteeText = ({ grantee }: Pick<Grant, 'grantee'>): string =>
  grantee.kind === 'account' ? `account ${grantee.accountId}` : grantee.kind
