/** Who sent a request. */

export interface Principal {
  /** Owns buckets; `Owner/ID` in lists. */
  accountId: string
  /** `Owner/DisplayName` in lists. */
  displayName: string
  accessKeyId: string
  /** Patterns of the key's permissions, such as `s3:Get*`. Absent: everything that its account may do. */
  permissions?: readonly string[] | undefined
}

/** A sender without a signature. It owns nothing, and no key permits it anything. */
export const nobody: Principal = { accountId: '', displayName: '', accessKeyId: '', permissions: [] }
