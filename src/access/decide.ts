/** Who may do what: the one function that allows or denies. Pure. */
import type { AccessRequest } from './access-request.ts'
import type { CompiledPolicy, PolicyNeeds } from './compiled-policy.ts'
import type { Grant, GrantPermission, ObjectOwnership, PublicAccessBlock } from './grants.ts'
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

/** Allows or denies, and says because of what. */
export function decide(_input: DecisionInput): Decision {
  throw new Error('not built yet')
}

/** What must be read of an existing object before `decide` is asked about this action. Cheap: for each request. */
export function needsOf(_input: Omit<DecisionInput, 'request'>, _action: string): PolicyNeeds {
  throw new Error('not built yet')
}

/** `Deny by statement "Lock" of the bucket policy`, as a log line and `access explain` say it. */
export function reasonText(_because: Reason): string {
  throw new Error('not built yet')
}
