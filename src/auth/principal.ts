/** Who signed a request. */

export interface Principal {
  /** Owns buckets; `Owner/ID` in lists. */
  accountId: string
  /** `Owner/DisplayName` in lists. */
  displayName: string
  accessKeyId: string
}
