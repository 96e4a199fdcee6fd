/** A request as a decision sees it. Condition values are read lazily, by key. */

export type AccessPrincipal =
  /** The request is not signed. */
  | { readonly kind: 'anonymous' }
  /** A key of the account itself. */
  | {
      readonly kind: 'account'
      readonly accountId: string
      readonly tags?: PrincipalTags
      readonly session?: SessionFacts | undefined
    }
  /** A user of the account. An identity from OpenID Connect counts as a user named after its subject. */
  | {
      readonly kind: 'user'
      readonly accountId: string
      readonly name: string
      /** Never reused for another user. */
      readonly id: string
      readonly tags?: PrincipalTags
      readonly session?: SessionFacts | undefined
    }
  /** A service that belongs to no account: the server itself, which writes access logs as AWS's service for that. */
  | { readonly kind: 'service'; readonly name: string }

/** `undefined`: it belongs to none. */
export const accountOf = (principal: AccessPrincipal): string | undefined =>
  principal.kind === 'anonymous' || principal.kind === 'service' ? undefined : principal.accountId

/** What conditions can ask about temporary keys. */
export interface SessionFacts {
  /** Milliseconds since the epoch. */
  readonly issuedMs: number
  /** Claims of a web identity's token, by name in lower case. */
  readonly claims?: ReadonlyMap<string, string | readonly string[]> | undefined
}

/** By the tag's key in lower case. */
export type PrincipalTags = ReadonlyMap<string, string>

/** An array only for the keys that have several values, `s3:RequestObjectTagKeys` and `aws:TagKeys`, and for the source of a copy, which policies spell in two ways. */
export type ContextValue = string | readonly string[] | undefined

export interface AccessRequest {
  readonly principal: AccessPrincipal
  /** As in the table of actions: `s3:GetObject`. */
  readonly action: string
  /** `arn:aws:s3:::bucket`, `arn:aws:s3:::bucket/key`; `arn:aws:s3:::*` for a request about no bucket. */
  readonly resource: string
  /** The request is about every object whose ARN begins with `resource`, which ends with a star. It is allowed only if each of them is. */
  readonly everyObject?: boolean
  /**
   * The value of a condition key, spelled as in the table of condition keys, with the tag's key as the policy spells it: `s3:ExistingObjectTag/Project`.
   * `undefined` when the request has none. Called only when a statement needs the value, and never for keys about the principal (`aws:username`).
   * Booleans are `true` and `false`; times are ISO 8601 or seconds since the epoch.
   */
  value(key: string): ContextValue
}
