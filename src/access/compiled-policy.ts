/** A policy as it is evaluated. */
import type { AccessRequest } from './access-request.ts'
import type { NamedPrincipal, PolicyKind } from './policy-document.ts'

export interface CompiledPolicy {
  readonly kind: PolicyKind
  /** As GetBucketPolicyStatus says: some statement allows what anybody may use. */
  readonly isPublic: boolean
  /** What a bucket policy names, for the caller to check that they exist. */
  readonly principals: readonly NamedPrincipal[]
  /** All condition keys that a statement or a variable names, in the table's spelling. */
  readonly keys: ReadonlySet<string>
  /** What must be read of an existing object before `evaluate` is asked about this action. */
  needs(action: string): PolicyNeeds
  evaluate(request: AccessRequest): PolicyVerdict
}

export interface PolicyNeeds {
  /** A statement of this action names `s3:ExistingObjectTag/…`. */
  readonly existingTags: boolean
}

export interface PolicyVerdict {
  /** Name of the first statement that denies. */
  readonly denies?: string | undefined
  /** Name of the first statement that allows this principal itself. */
  readonly allows?: string | undefined
  /** Name of the first statement that allows only the principal's account: to users, the account has to pass it on by their own policies. */
  readonly allowsAccount?: string | undefined
}
