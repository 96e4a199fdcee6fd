/** The options of `startServer` that say where data lies. Imports nothing, because the types of the package need no other package. */

/** Metadata in a PostgreSQL database that several servers share. */
export interface MetadataOptions {
  type: 'postgres'
  /** `postgres://user:password@host:5432,other:5432/database?sslmode=verify-full` */
  url: string
  /** The most connections of this server. Default: 10. */
  connections?: number
}

/** A store, as `[stores.NAME]` of the configuration file. */
export type StoreOptions = { domain?: string } & (
  | { type: 'directory'; path: string }
  | {
      type: 's3'
      endpoint: string
      bucket: string
      prefix?: string
      region?: string
      pathStyle?: boolean
      profile?: string
    }
)

/** A location, as `[locations.NAME]` of the configuration file. */
export type LocationOptions = {
  stores: string[]
  maxPerDomain?: number
  writeAck?: number
  storageClasses?: string[]
} & (
  | { scheme: 'replica'; copies: number }
  | { scheme: 'erasure'; data: number; parity: number; replicateBelow?: number }
)
