/** The queue of events for webhooks. The commit that makes a change also queues its events, so no event is lost, and none reports what did not happen. */
import { type Clock, timeOrderedId } from '../clock.ts'
import type { Put } from '../kv/kv.ts'
import { eventKey } from '../records/keyspace.ts'
import type { EventName, EventRecord, TestEvent } from '../records/notifications.ts'
import { eventCodec } from '../records/record-codecs.ts'
import type { VersionRecord } from '../records/records.ts'
import { rulesFor, webhookOf } from '../rules/notifications.ts'
import type { Backend } from './backend.ts'
import type { FoundBucket } from './scope.ts'

/** A change of one version of a key. */
export interface VersionEvent {
  name: EventName
  version: VersionRecord
  /** The change is a copy from another bucket. */
  isReplica?: boolean | undefined
}

const none: Put[] = []

/** The puts that queue `event` for the webhooks that the bucket's rules name. */
export function eventPuts(
  { clock }: Pick<Backend, 'clock'>,
  { record: bucket, scope }: FoundBucket,
  key: string,
  { name, version }: VersionEvent,
): Put[] {
  // Most buckets have no rules.
  if (bucket.notifications === undefined) return none
  const sender = scope?.sender
  const told = sender === undefined ? asExpiration(name) : name
  return rulesFor(bucket.notifications, told, key).map((rule) =>
    eventPut(clock, webhookOf(rule.queueArn) ?? '', {
      kind: 'object',
      name: told,
      timeMs: clock.now(),
      ruleId: rule.id,
      bucket: bucket.name,
      bucketOwner: bucket.owner,
      key,
      versionId: bucket.versioning === 'unversioned' ? undefined : version.versionId,
      stamp: nextStamp(clock),
      ...(version.kind === 'object' ? { size: version.size, etag: version.etag } : {}),
      ...(told === 'LifecycleTransition' && version.kind === 'object'
        ? { storageClass: version.attributes.storageClass }
        : {}),
      sender,
    }),
  )
}

const lastStamps = new WeakMap<Clock, number>()

/** A change of a key reads what the change before it wrote, so it gets a later, greater stamp. */
function nextStamp(clock: Clock): number {
  const stamp = Math.max(clock.now() * 1000, (lastStamps.get(clock) ?? 0) + 1)
  lastStamps.set(clock, stamp)
  return stamp
}

/** The put that queues S3's test event, which tells a webhook that a bucket now sends it events. */
export function testEventPut(clock: Clock, webhook: string, event: Omit<TestEvent, 'kind' | 'timeMs'>): Put {
  return eventPut(clock, webhook, { kind: 'test', timeMs: clock.now(), ...event })
}

function eventPut(clock: Clock, webhook: string, record: EventRecord): Put {
  const key = eventKey(webhook, timeOrderedId(clock))
  return { key, value: eventCodec.encode(key, record) }
}

/** The name for a removal that no request asked for: only lifecycle rules make the server remove something by itself. */
function asExpiration(name: EventName): EventName {
  if (name === 'ObjectRemoved:Delete') return 'LifecycleExpiration:Delete'
  return name === 'ObjectRemoved:DeleteMarkerCreated' ? 'LifecycleExpiration:DeleteMarkerCreated' : name
}
