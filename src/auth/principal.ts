/** Who sent a request. */

export interface Principal {
  /** The account that owns buckets: `Owner/ID` in lists. */
  accountId: string
  /** `Owner/DisplayName` in lists. */
  displayName: string
  accessKeyId: string
  /** Patterns of the key's permissions, such as `s3:Get*`. When `policies` is absent too, the key may do everything that its account may. */
  permissions?: readonly string[] | undefined
  /** The account's user that the key belongs to. Absent: the key is the account's own. */
  user?: PrincipalUser | undefined
  /** Identity policies of the user, or of a key that is the account's own. For a user the list is always present, but can be empty. */
  policies?: readonly IdentityPolicy[] | undefined
  /** The document of a policy that restricts a user's key further: the key may do only what this policy allows as well. */
  keyPolicy?: string | undefined
  /** Present for temporary keys. */
  session?: PrincipalSession | undefined
  /** The server itself asks, as this service of AWS's. Then there is neither an account nor a key. */
  service?: string
}

export interface PrincipalUser {
  name: string
  /** Never reused for another user. */
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
  /** The document of the session policy. Absent: the session has no further restriction. */
  policy?: string | undefined
  issuedMs: number
  expiresMs: number
  /** The claims in a web identity's token, by name. */
  claims?: ReadonlyMap<string, string | readonly string[]> | undefined
}

/** A sender without a signature. It owns nothing, and no key permits it anything. */
export const nobody: Principal = { accountId: '', displayName: '', accessKeyId: '', permissions: [] }
