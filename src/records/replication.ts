/** The replication rules of a bucket, as its record keeps them, and the queue of versions that wait to be copied. */
import type { Tag } from './object-attributes.ts'

/** Which objects a rule concerns: those of which all conditions hold. */
export interface ReplicationFilter {
  /** Where the document says it: in the rule's own Prefix (S3's first schema), nowhere, in a Filter of at most one condition, or in its And. */
  form: 'prefix' | 'none' | 'filter' | 'and'
  prefix?: string | undefined
  tags: readonly Tag[]
}

/** Absent: the client left it out, and does not get it back. */
type OptionalFlag = boolean | undefined

export interface ReplicationDestination {
  /** The ARN as the client wrote it. */
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
  /** Of two rules for one destination, the one with the greater priority applies. */
  priority?: number | undefined
  destination: ReplicationDestination
  deleteMarkers?: OptionalFlag
  /** Also copies versions that are older than the rule. */
  existing?: OptionalFlag
  /** Also copies objects that are encrypted with SSE-KMS. */
  kmsEncrypted?: OptionalFlag
  /** Always off. */
  replicaModifications?: false | undefined
}

export interface ReplicationConfiguration {
  /** The Role that the client gave. It has no effect here. */
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
