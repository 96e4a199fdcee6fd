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

/** Who set the rules. The server copies in the place of that sender, with the rights that the sender has at each copy. */
export interface ReplicationSender {
  /** Empty: the request was not signed. */
  accountId: string
  /** Absent: a key of the account itself. */
  user?: { name: string; id: string } | undefined
  /** What narrowed the key of the request. The policies of a user are not here, because they are those of the time of the copy. */
  permissions?: readonly string[] | undefined
  keyPolicy?: string | undefined
  /** Without their documents for a user of an issuer, whose token named them. */
  policies?: readonly { name: string; document?: string | undefined }[] | undefined
  session?:
    | {
        kind: 'assumed-role' | 'session-token' | 'web-identity'
        policy?: string | undefined
        issuedMs: number
        expiresMs: number
        claims?: Readonly<Record<string, string | readonly string[]>> | undefined
      }
    | undefined
  /** What policies asked of the request, such as its address, where a copy has nothing of the kind. */
  conditions: Readonly<Record<string, string | readonly string[]>>
}

export interface ReplicationConfiguration {
  /** The Role that the client gave. It has no effect here. */
  role: string
  /** Absent: an earlier version took the rules. Then it is the account that owns the bucket. */
  setBy?: ReplicationSender | undefined
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
