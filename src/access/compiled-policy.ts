/** A policy that can be evaluated. */
import type { AccessRequest } from './access-request.ts'
import type { NamedPrincipal, PolicyKind } from './parsing/policy-document.ts'

export interface CompiledPolicy {
  readonly kind: PolicyKind
  /** As in GetBucketPolicyStatus: a statement allows access to anybody. */
  readonly isPublic: boolean
  /** The principals that a bucket policy names. The caller checks that they exist. */
  readonly principals: readonly NamedPrincipal[]
  /** All condition keys in conditions and variables, spelled as in the table of condition keys. */
  readonly keys: ReadonlySet<string>
  /** What must be read of an existing object before `evaluate` is called for this action. */
  needs(action: string): PolicyNeeds
  evaluate(request: AccessRequest): PolicyVerdict
}

export interface PolicyNeeds {
  /** A statement for this action names `s3:ExistingObjectTag/…`. */
  readonly existingTags: boolean
}

export interface PolicyVerdict {
  /** Name of the first statement that denies. */
  readonly denies?: string | undefined
  /** Name of the first statement that allows this principal itself. */
  readonly allows?: string | undefined
  /** Name of the first statement that allows only the principal's account. Its users then need policies of their own that allow the same. */
  readonly allowsAccount?: string | undefined
}
