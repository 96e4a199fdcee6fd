/** What a bucket copies to other buckets: its replication rules as its record keeps them, and what versions say of their copies. */
import type { Tag } from './object-attributes.ts'

/** Which objects a rule concerns: those of which all conditions hold. */
export interface ReplicationFilter {
  /** Where the document says it: in the rule's own Prefix (S3's first schema), nowhere, in a Filter of at most one condition, or in its And. */
  form: 'prefix' | 'none' | 'filter' | 'and'
  prefix?: string | undefined
  tags: readonly Tag[]
}

/** A setting that a client may leave out. It gets back what it said. */
type Said = boolean | undefined

export interface ReplicationDestination {
  /** As the client named the bucket. */
  bucketArn: string
  account?: string | undefined
  storageClass?: string | undefined
  /** The owner of the other bucket owns the copies, as everywhere here. */
  ownedByDestination?: true | undefined
  kmsKeyId?: string | undefined
  /** Always off: no time is promised. */
  timeControl?: { minutes?: number | undefined } | undefined
  metrics?: { enabled: boolean; thresholdMinutes?: number | undefined } | undefined
}

export interface ReplicationRule {
  id: string
  enabled: boolean
  filter: ReplicationFilter
  /** Of two rules with one destination, the greater decides. */
  priority?: number | undefined
  destination: ReplicationDestination
  deleteMarkers?: Said
  /** Also what was there before the rule. */
  existing?: Said
  /** Also what is encrypted by SSE-KMS. */
  kmsEncrypted?: Said
  /** Always off. */
  replicaModifications?: false | undefined
}

export interface ReplicationConfiguration {
  /** What the client said in Role. Nothing here looks at it. */
  role: string
  /** Never empty. */
  rules: readonly ReplicationRule[]
}

/** A version that waits to be copied, or whose tags or lock wait for it. */
export interface QueuedReplica {
  /** Of the bucket that holds it. Another bucket can have the name by now. */
  bucketId: string
  /** When it began to wait. */
  sinceMs: number
}
