/** A server elsewhere that takes copies of buckets, as the operator names it. */
export interface SiteSettings {
  /** In lower case. */
  name: string
  /** An origin: without a path. */
  endpoint: string
  region: string
  accessKeyId: string
  secretAccessKey: string
  /** Ids of the accounts whose buckets may be copied there with this key. `*` stands for all. */
  accounts: readonly string[]
}
