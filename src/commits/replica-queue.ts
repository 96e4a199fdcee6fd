/** The queue of versions that wait to be copied to other buckets. The commit that makes a version also queues it, so none is left out. */
import type { Put } from '../kv/kv.ts'
import type { BucketRecord } from '../records/bucket-record.ts'
import { existingKey, replicaKey } from '../records/keyspace.ts'
import type { ObjectAttributes } from '../records/object-attributes.ts'
import { replicaCodec } from '../records/record-codecs.ts'
import type { Encryption, ObjectRecord } from '../records/records.ts'
import type { ReplicationState } from '../records/replication-state.ts'
import { rulesFor } from '../rules/replication.ts'
import type { Backend } from './backend.ts'
import type { VersionEvent } from './event-queue.ts'
import type { FoundBucket } from './scope.ts'

const none: Put[] = []

/** The attributes of a new object: with status PENDING if a rule copies it. A replica is not replicated again. */
export function replicatedAttributes(
  { replication }: BucketRecord,
  key: string,
  attributes: ObjectAttributes,
  encryption: Encryption | undefined,
): ObjectAttributes {
  // Most buckets copy nothing.
  if (replication === undefined || attributes.replication !== undefined) return attributes
  const rules = rulesFor(replication.rules, { key, tags: attributes.tags, encryptedBy: encryption?.by })
  return rules.length === 0 ? attributes : { ...attributes, replication: { status: 'PENDING' } }
}

/** The puts that queue the version of `event`. As on S3, delete markers of lifecycle rules are not copied. */
export function replicaPuts(
  { clock }: Pick<Backend, 'clock'>,
  { record: bucket, scope }: FoundBucket,
  key: string,
  { name, version, isReplica = false }: VersionEvent,
): Put[] {
  const { replication } = bucket
  if (replication === undefined || isReplica) return none
  const isMarker = name === 'ObjectRemoved:DeleteMarkerCreated' && scope?.sender !== undefined
  const waits = version.kind === 'object' && version.attributes.replication?.status === 'PENDING'
  if (!isMarker && !(waits && name.startsWith('ObjectCreated:'))) return none
  const tags = version.kind === 'object' ? version.attributes.tags : []
  const encryptedBy = version.kind === 'object' ? version.encryption?.by : undefined
  return rulesFor(replication.rules, { key, tags, encryptedBy, isMarker }).map(({ destination }) =>
    replicaPut(clock, bucket, destination.bucketArn, { key, sequence: version.sequence }),
  )
}

/** A version whose tags or lock have changed: with status PENDING, and the puts that queue it, if rules copy it. Versions that were never replicated stay as they are. */
export function requeued(
  { clock }: Pick<Backend, 'clock'>,
  bucket: BucketRecord,
  key: string,
  record: ObjectRecord,
): { record: ObjectRecord; puts: Put[] } {
  const state = record.attributes.replication
  if (bucket.replication === undefined || state === undefined || state.status === 'REPLICA') {
    return { record, puts: none }
  }
  const replicated = { key, tags: record.attributes.tags, encryptedBy: record.encryption?.by }
  const rules = rulesFor(bucket.replication.rules, replicated)
  if (rules.length === 0) return { record, puts: none }
  return {
    record: withReplication(record, { ...state, status: 'PENDING' }),
    puts: rules.map(({ destination: { bucketArn } }) =>
      replicaPut(clock, bucket, bucketArn, { key, sequence: record.sequence }),
    ),
  }
}

/** The record with another state of replication. */
export function withReplication(record: ObjectRecord, replication: ReplicationState | undefined): ObjectRecord {
  return { ...record, attributes: { ...record.attributes, replication } }
}

export function replicaPut(
  clock: Backend['clock'],
  { name, id }: Pick<BucketRecord, 'name' | 'id'>,
  arn: string,
  { key, sequence }: { key: string; sequence: number },
): Put {
  const queued = replicaKey(name, arn, key, sequence)
  return { key: queued, value: replicaCodec.encode(queued, { bucketId: id, sinceMs: clock.now() }) }
}

/** The puts that ask for the queueing of existing versions, for the rules that copy those. */
export function existingPuts(clock: Backend['clock'], bucket: BucketRecord): Put[] {
  const rules = bucket.replication?.rules.filter(({ enabled, existing }) => enabled && existing === true) ?? []
  const arns = new Set(rules.map(({ destination }) => destination.bucketArn))
  return [...arns].map((arn) => {
    const key = existingKey(bucket.name, arn)
    return { key, value: replicaCodec.encode(key, { bucketId: bucket.id, sinceMs: clock.now() }) }
  })
}
