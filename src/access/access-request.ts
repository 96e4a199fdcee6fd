/** Who asks for what: all that a decision knows of a request. The caller reads the rest lazily, by condition key. */

export type AccessPrincipal =
  /** Nobody signed. */
  | { readonly kind: 'anonymous' }
  /** The account itself, by a key of its own. */
  | {
      readonly kind: 'account'
      readonly accountId: string
      readonly tags?: PrincipalTags
      readonly session?: SessionFacts | undefined
    }
  /** A user of the account; also what OpenID Connect signed in, under the name of its subject. */
  | {
      readonly kind: 'user'
      readonly accountId: string
      readonly name: string
      /** Never used again for another user. */
      readonly id: string
      readonly tags?: PrincipalTags
      readonly session?: SessionFacts | undefined
    }

/** What conditions may be about where temporary keys sign. */
export interface SessionFacts {
  /** Milliseconds since the epoch. */
  readonly issuedMs: number
  /** Of the token of a web identity, by name in lower case. */
  readonly claims?: ReadonlyMap<string, string | readonly string[]> | undefined
}

/** By the tag's key in lower case. */
export type PrincipalTags = ReadonlyMap<string, string>

/** Several values only under a key that has several: `s3:RequestObjectTagKeys`, `aws:TagKeys`. */
export type ContextValue = string | readonly string[] | undefined

export interface AccessRequest {
  readonly principal: AccessPrincipal
  /** As in the table of actions: `s3:GetObject`. */
  readonly action: string
  /** `arn:aws:s3:::bucket`, `arn:aws:s3:::bucket/key`; `arn:aws:s3:::*` for what concerns no bucket. */
  readonly resource: string
  /**
   * The value of a condition key, spelled as in the table of condition keys, with the tag's key as the policy spells it: `s3:ExistingObjectTag/Project`.
   * `undefined` where the request has none. Never asked for what the principal says (`aws:username`), and not before a statement needs it.
   * Booleans are `true` and `false`, times ISO 8601 or seconds since the epoch.
   */
  value(key: string): ContextValue
}
