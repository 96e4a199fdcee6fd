/** Who sent a request. */

export interface Principal {
  /** Owns buckets; `Owner/ID` in lists. */
  accountId: string
  /** `Owner/DisplayName` in lists. */
  displayName: string
  accessKeyId: string
  /** Patterns of what the key may do, such as `s3:Get*`. Absent: everything its account may. */
  permissions?: readonly string[] | undefined
}

/** Who signed nothing. Owns nothing, and no key permits anything. */
export const nobody: Principal = { accountId: '', displayName: '', accessKeyId: '', permissions: [] }
