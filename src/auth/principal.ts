/** Who sent a request. */

export interface Principal {
  /** Owns buckets; `Owner/ID` in lists. */
  accountId: string
  /** `Owner/DisplayName` in lists. */
  displayName: string
  accessKeyId: string
  /** Patterns of the key's permissions, such as `s3:Get*`. Absent together with `policies`: everything that its account may do. */
  permissions?: readonly string[] | undefined
  /** The user of the account that the key belongs to. Absent: the account itself. */
  user?: PrincipalUser | undefined
  /** Identity policies: of the user, or of a key that is the account's own. A user has some, if only an empty list. */
  policies?: readonly IdentityPolicy[] | undefined
  /** The document of a policy that narrows a user's key further: the key may do only what this allows, too. */
  keyPolicy?: string | undefined
  /** Of temporary keys. */
  session?: PrincipalSession | undefined
}

export interface PrincipalUser {
  name: string
  /** Never used again for another user. */
  id: string
  /** By the tag's key in lower case. */
  tags?: ReadonlyMap<string, string> | undefined
}

export interface IdentityPolicy {
  name: string
  /** JSON. */
  document: string
}

export interface PrincipalSession {
  kind: 'assumed-role' | 'session-token' | 'web-identity'
  name?: string | undefined
  /** The document of the session policy. Absent: the session is not narrowed. */
  policy?: string | undefined
  issuedMs: number
  expiresMs: number
  /** Of the token of a web identity, by name. */
  claims?: ReadonlyMap<string, string> | undefined
}

/** A sender without a signature. It owns nothing, and no key permits it anything. */
export const nobody: Principal = { accountId: '', displayName: '', accessKeyId: '', permissions: [] }
