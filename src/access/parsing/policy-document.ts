/** A parsed policy: the document, its statements and their elements. */

/**
 * What a policy is attached to. A bucket policy names principals, and only resources of its own bucket. An identity policy belongs to a user or key, a session
 * policy to temporary credentials; neither names principals.
 */
export type PolicyTarget =
  /** `stored`: earlier versions of this server took what S3 refuses, such as conditions that only some of a statement's actions know. What they stored goes on. */
  | { readonly kind: 'bucket'; readonly bucket: string; readonly stored?: boolean }
  | { readonly kind: 'identity' }
  | { readonly kind: 'session' }

export type PolicyKind = PolicyTarget['kind']

export type PolicyVersion = '2012-10-17' | '2008-10-17'

export interface PolicyDocument {
  readonly kind: PolicyKind
  readonly version: PolicyVersion
  readonly id?: string | undefined
  readonly statements: readonly PolicyStatement[]
}

export interface PolicyStatement {
  /** The Sid. Without one, `#1` for the first statement. */
  readonly name: string
  readonly effect: 'Allow' | 'Deny'
  /** Only in bucket policies. */
  readonly principals?: Principals | undefined
  readonly actions: Patterns
  readonly resources: Patterns
  readonly conditions: readonly PolicyCondition[]
}

/** Action or NotAction, Resource or NotResource. */
export interface Patterns {
  /** `NotAction`, `NotResource`: matches what none of the patterns matches. */
  readonly negated: boolean
  readonly patterns: readonly string[]
}

export interface Principals {
  /** `NotPrincipal`. */
  readonly negated: boolean
  readonly named: readonly NamedPrincipal[]
}

export type NamedPrincipal =
  | { readonly kind: 'anyone' }
  | { readonly kind: 'account'; readonly accountId: string }
  | { readonly kind: 'user'; readonly accountId: string; readonly name: string }
  | { readonly kind: 'service'; readonly name: string }

/** One operator on one key. All conditions of a statement must hold. */
export interface PolicyCondition {
  /** As in the operator table: `StringEquals`. */
  readonly operator: string
  readonly quantifier?: 'ForAllValues' | 'ForAnyValue' | undefined
  readonly ifExists: boolean
  /** As in the table of condition keys: `s3:ExistingObjectTag/project`. */
  readonly key: string
  readonly values: readonly string[]
}
