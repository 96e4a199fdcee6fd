/** What a bucket tells webhooks: its notification rules, as its record keeps them, and the events that wait to be delivered. */
import type { StorageClass } from '../storage-class.ts'

/** What happens to objects, by S3's names without `s3:`. */
export type EventName =
  | `ObjectCreated:${Creation}`
  | `${'ObjectRemoved' | 'LifecycleExpiration'}:${'Delete' | 'DeleteMarkerCreated'}`
  | `ObjectTagging:${'Put' | 'Delete'}`
  | 'ObjectAcl:Put'
  | 'LifecycleTransition'

/** Which operation made an object. */
export type Creation = 'Put' | 'Post' | 'Copy' | 'CompleteMultipartUpload'

/** An event goes to the webhook when its name is one of `events`, or matches one that ends in `*`, and its key has the prefix and the suffix. */
export interface NotificationRule {
  id: string
  /** As the client named the webhook. */
  queueArn: string
  /** With `s3:`. */
  events: readonly string[]
  prefix?: string | undefined
  suffix?: string | undefined
}

/** Who made the request that an event is about. */
export interface EventSender {
  /** The id of the user or the account. Empty: the request was not signed. */
  principalId: string
  /** Empty: not known. */
  sourceIp: string
  requestId: string
}

/** An event that waits for its webhook. Its JSON is made when it is sent. */
export type EventRecord = ObjectEvent | TestEvent

export interface ObjectEvent {
  kind: 'object'
  name: EventName
  timeMs: number
  /** The id of the rule that asked for it. */
  ruleId: string
  bucket: string
  bucketOwner: string
  key: string
  /** Absent: the bucket has no versions. */
  versionId?: string | undefined
  /** Microseconds since the epoch, or a little more: of two events that one process queues, the later has the greater stamp. */
  stamp: number
  /** Absent: the version is a delete marker. */
  size?: number | undefined
  etag?: string | undefined
  /** Only of a `LifecycleTransition`: the new one. */
  storageClass?: StorageClass | undefined
  /** Absent: the server itself made the change. */
  sender?: EventSender | undefined
}

/** Tells a webhook that a rule now names it. */
export interface TestEvent {
  kind: 'test'
  timeMs: number
  bucket: string
  requestId: string
}
