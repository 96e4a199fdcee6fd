/** Who may do what: the one function that allows or denies. Pure. */
import type { AccessPrincipal, AccessRequest } from './access-request.ts'
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
} from './grants.ts'
import type { PolicyKind } from './policy-document.ts'

export interface DecisionInput {
  readonly request: AccessRequest
  /** Of the key and its user. `undefined`: nothing narrows what the key may do with what its account owns. None: it may do nothing by itself. */
  readonly identityPolicies: readonly NamedPolicy[] | undefined
  /** Of temporary credentials. */
  readonly sessionPolicy?: CompiledPolicy | undefined
  /** The bucket that the request is about. `undefined`: about none (ListBuckets), or about one that is to be made. */
  readonly bucket?: BucketAccess | undefined
  /** The object that is there already. `undefined`: none, or it makes no difference. */
  readonly object?: ObjectAccess | undefined
}

export interface NamedPolicy {
  /** As `access explain` shows it. */
  readonly name: string
  readonly policy: CompiledPolicy
}

export interface BucketAccess {
  /** Account id. */
  readonly owner: string
  readonly policy?: CompiledPolicy | undefined
  readonly grants?: readonly Grant[] | undefined
  readonly ownership: ObjectOwnership
  /** Of bucket and account together: what either blocks. */
  readonly publicAccessBlock: PublicAccessBlock
  /** A recovery may lack what guarded it: nobody but the account's own key comes in. */
  readonly unconfirmed?: boolean
}

export interface ObjectAccess {
  /** Account id. Counts only where ownership is not BucketOwnerEnforced. */
  readonly owner: string
  readonly grants?: readonly Grant[] | undefined
}

export interface Decision {
  readonly allowed: boolean
  readonly because: Reason
}

export type Reason =
  /** `statement`: its Sid, or `#2` for the second. `name`: of an identity policy. */
  | {
      readonly by: 'statement'
      readonly effect: 'Allow' | 'Deny'
      readonly policy: PolicyKind
      readonly name?: string | undefined
      readonly statement: string
    }
  /** The account's own key, and nothing denies it. */
  | { readonly by: 'owner' }
  | {
      readonly by: 'grant'
      readonly of: 'bucket' | 'object'
      readonly permission: GrantPermission
      readonly to: string
    }
  /** Nothing allows it; `missing` says whose permission is not there. */
  | { readonly by: 'default'; readonly missing: 'identity policy' | 'session policy' | 'bucket policy or grant' }
  /** The bucket policy would allow it, if RestrictPublicBuckets did not keep it from that. */
  | { readonly by: 'public access block' }
  /** Whatever its policy says: see `BucketAccess`. */
  | { readonly by: 'unconfirmed bucket' }

/**
 * Allows or denies, and says because of what. What anything denies explicitly is denied. Within one account, an identity policy or the bucket allows;
 * across accounts both must; a session policy must in any case.
 */
export function decide(input: DecisionInput): Decision {
  const { principal } = input.request
  const verdicts = verdictsOf(input)
  const denial = denialOf(input, verdicts)
  if (denial !== undefined) return denied(denial)
  const owner = ownerOf(input)
  const fromResource = resourceAllows(input, verdicts.bucket, owner)
  if (principal.kind === 'anonymous') return ofAnonymous(fromResource)
  const fromIdentity = identityAllows(verdicts.identity)
  const isOwn = owner === undefined || principal.accountId === owner
  const session = verdicts.session === undefined || verdicts.session.allows !== undefined
  if (isOwn) {
    const because = fromIdentity ?? directly(fromResource)
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

/** What must be read of an existing object before `decide` is asked about this action. Cheap: for each request. */
export function needsOf(input: Omit<DecisionInput, 'request'>, action: string): DecisionNeeds {
  const { bucket } = input
  const policies = [bucket?.policy, input.sessionPolicy, ...(input.identityPolicies ?? []).map((of) => of.policy)]
  return {
    existingTags: policies.some((policy) => policy?.needs(action).existingTags === true),
    object: bucket !== undefined && areGrantsUsed(bucket) && goesByObject(bucket, action),
  }
}

/** A removal does where others than the bucket's owner may write, as whoever owns an object may then remove it. */
function goesByObject({ grants = [] }: BucketAccess, action: string): boolean {
  if (isOfObjectOwner(action)) return true
  return grants.length > 0 && bucketPermissionFor(action, true) !== bucketPermissionFor(action, false)
}

const allowed = (because: Reason): Decision => ({ allowed: true, because })
const denied = (because: Reason): Decision => ({ allowed: false, because })

/** What the bucket or the object says. `direct`: to the principal itself, not only to its account. */
type FromResource =
  | { readonly allows: true; readonly direct: boolean; readonly because: Reason }
  | { readonly allows: false; readonly because: Reason }

function ofAnonymous(fromResource: FromResource): Decision {
  return fromResource.allows && fromResource.direct ? allowed(fromResource.because) : denied(fromResource.because)
}

/** What is allowed to an account is for the account to pass on: to its users, by their own policies. */
function directly(fromResource: FromResource): Reason | undefined {
  return fromResource.allows && fromResource.direct ? fromResource.because : undefined
}

/** What each policy says. Each is asked once. */
interface Verdicts {
  readonly session: PolicyVerdict | undefined
  /** `undefined`: nothing narrows the key. */
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

/** Neither a key that anything narrows, nor a user's. */
function isOwnersOwnKey({ request: { principal }, identityPolicies }: DecisionInput, { owner }: BucketAccess): boolean {
  return identityPolicies === undefined && principal.kind === 'account' && principal.accountId === owner
}

const repairActions: ReadonlySet<string> = new Set([
  's3:GetBucketPolicy',
  's3:PutBucketPolicy',
  's3:DeleteBucketPolicy',
])

/** Whatever its bucket's policy says, the account's own key can read it and put another in its place. */
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

/** Account id of who can allow the request. `undefined`: it is about nothing that anybody owns yet. */
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
  // A bucket's policy can give away only what belongs to the bucket's owner.
  const byPolicy = owner === bucket.owner ? policyAllows(input, bucket, verdict) : nothingThere
  if (byPolicy.allows && byPolicy.direct) return byPolicy
  const byGrant = areGrantsUsed(bucket) ? grantAllows(input, bucket) : undefined
  return byGrant ?? byPolicy
}

function policyAllows(
  { request }: DecisionInput,
  { policy, owner, publicAccessBlock }: BucketAccess,
  verdict: PolicyVerdict | undefined,
): FromResource {
  if (policy === undefined || verdict === undefined) return nothingThere
  const { allows, allowsAccount } = verdict
  const statement = allows ?? allowsAccount
  if (statement === undefined) return nothingThere
  const isInside = request.principal.kind !== 'anonymous' && request.principal.accountId === owner
  if (publicAccessBlock.restrictPublicBuckets && policy.isPublic && !isInside)
    return { allows: false, because: { by: 'public access block' } }
  const because: Reason = { by: 'statement', effect: 'Allow', policy: 'bucket', statement }
  return { allows: true, direct: allows !== undefined, because }
}

/** A grant to everyone or to whoever signed, before one to the account. */
function grantAllows({ request, object }: DecisionInput, bucket: BucketAccess): FromResource | undefined {
  const { action, principal } = request
  const ownsObject = principal.kind !== 'anonymous' && principal.accountId === object?.owner
  const candidates = [
    { of: 'bucket', permission: bucketPermissionFor(action, ownsObject), grants: bucket.grants },
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

function isGrantedTo({ grantee }: Grant, principal: AccessPrincipal): boolean {
  if (grantee.kind === 'everyone') return true
  if (principal.kind === 'anonymous') return false
  return grantee.kind === 'authenticated' || grantee.accountId === principal.accountId
}

export const granteeText = ({ grantee }: Pick<Grant, 'grantee'>): string =>
  grantee.kind === 'account' ? `account ${grantee.accountId}` : grantee.kind
