/** PutBucketReplication, GetBucketReplication, DeleteBucketReplication. */
import { type Clock, randomId } from '../../clock.ts'
import { existingPuts } from '../../commits/replica-queue.ts'
import { refused } from '../../contract/fields.ts'
import { checksumsIn, ownership, requiredDocument } from '../../contract/groups.ts'
import { type Infer, integer, list, oneOf, optional, string, struct } from '../../contract/shapes.ts'
import { notImplemented, S3Error } from '../../errors.ts'
import { changeBucket, findBucket } from '../../objects/buckets.ts'
import type { BucketRecord } from '../../records/bucket-record.ts'
import type { ReplicationDestination, ReplicationFilter, ReplicationRule } from '../../records/replication.ts'
import { checkReplication } from '../../rules/replication.ts'
import { defineOperation } from '../context.ts'
import { fromTag, tagShape, toTag } from '../objects/tagging-document.ts'
import { checkRights } from './replication-rights.ts'

const status = oneOf('Enabled', 'Disabled')
const enabling = struct({ Status: status })
const filterShape = struct({
  Prefix: optional(string),
  Tag: optional(tagShape),
  And: optional(struct({ Prefix: optional(string), Tag: list(tagShape) })),
})
const minutes = struct({ Minutes: integer })
const onlyOff = { here: 'works', only: 'Disabled', refusal: 'NotImplemented' } as const
const destinationShape = struct({
  Bucket: string,
  Account: optional(string),
  StorageClass: optional(string),
  AccessControlTranslation: optional(struct({ Owner: oneOf('Destination') })),
  EncryptionConfiguration: optional(struct({ ReplicaKmsKeyID: optional(string) })),
  // S3 promises a time.
  ReplicationTime: optional(struct({ Status: optional(status, onlyOff), Time: optional(minutes) })),
  Metrics: optional(struct({ Status: status, EventThreshold: optional(minutes) })),
})
const ruleShape = struct({
  ID: optional(string),
  Priority: optional(integer),
  Prefix: optional(string),
  Filter: optional(filterShape),
  Status: status,
  SourceSelectionCriteria: optional(
    struct({
      SseKmsEncryptedObjects: optional(enabling),
      ReplicaModifications: optional(struct({ Status: optional(status, onlyOff) })),
    }),
  ),
  ExistingObjectReplication: optional(enabling),
  Destination: destinationShape,
  DeleteMarkerReplication: optional(struct({ Status: optional(status) })),
})
const root = 'ReplicationConfiguration'
const shape = struct({ Role: string, Rule: list(ruleShape) })

type RuleElement = Infer<typeof ruleShape>
type FilterElement = Infer<typeof filterShape>
type DestinationElement = Infer<typeof destinationShape>

export const putBucketReplicationOperation = defineOperation({
  name: 'PutBucketReplication',
  method: 'PUT',
  target: 'bucket',
  query: ['replication'],
  permission: 's3:PutReplicationConfiguration',
  summary:
    'Sets which objects of the bucket are copied to which other buckets: `arn:aws:s3:::BUCKET` on this server, `arn:aws:s3:::SITE/BUCKET` or `arn:minio:replication::SITE:BUCKET` where SITE is a site of the configuration file.',
  input: { bucketObjectLockToken: refused('vendor', 'bucket-object-lock-token'), ...checksumsIn, ...ownership },
  inputBody: requiredDocument(root, shape),
  output: {},
  errors: ['NoSuchBucket', 'MalformedXML', 'BadDigest', 'InvalidDigest', 'InvalidArgument', 'InvalidRequest'],

  async handle(context, { body }) {
    const { backend, scope } = context
    const configuration = { role: body.Role, rules: body.Rule.map((element) => toRule(element, backend.clock)) }
    const bucket = await findBucket(backend, scope)
    checkReplication(configuration, bucket)
    const setBy = await checkRights(context, bucket, configuration.rules)
    const changed = (record: BucketRecord): BucketRecord => ({
      ...record,
      replication: { ...checkReplication(configuration, record), setBy },
    })
    await changeBucket(backend, scope, changed, (before) => existingPuts(backend.clock, changed(before)))
    return {}
  },
})

export const getBucketReplicationOperation = defineOperation({
  name: 'GetBucketReplication',
  method: 'GET',
  target: 'bucket',
  query: ['replication'],
  permission: 's3:GetReplicationConfiguration',
  summary: "Returns a bucket's replication rules, as they were set.",
  input: ownership,
  output: {},
  outputBody: { kind: 'xml', root, shape },
  errors: ['NoSuchBucket', 'ReplicationConfigurationNotFoundError'],

  async handle({ backend, scope, bucket: name }) {
    const { replication } = await findBucket(backend, scope)
    if (replication === undefined) {
      throw new S3Error('ReplicationConfigurationNotFoundError', { details: { BucketName: name } })
    }
    return { body: { Role: replication.role, Rule: replication.rules.map(fromRule) } }
  },
})

export const deleteBucketReplicationOperation = defineOperation({
  name: 'DeleteBucketReplication',
  method: 'DELETE',
  target: 'bucket',
  query: ['replication'],
  permission: 's3:PutReplicationConfiguration',
  summary: "Removes a bucket's replication rules. What waits to be copied is not copied any more.",
  status: 204,
  input: ownership,
  output: {},
  errors: ['NoSuchBucket'],

  async handle({ backend, scope }) {
    await changeBucket(backend, scope, (bucket) => ({ ...bucket, replication: undefined }))
    return {}
  },
})

function toRule(element: RuleElement, clock: Clock): ReplicationRule {
  const { SourceSelectionCriteria: criteria, DeleteMarkerReplication: markers } = element
  if (criteria?.ReplicaModifications?.Status === 'Enabled')
    throw notImplemented(`${root}/Rule/SourceSelectionCriteria/ReplicaModifications/Status`)
  return {
    id: element.ID || randomId(clock),
    enabled: element.Status === 'Enabled',
    filter: toFilter(element),
    priority: element.Priority,
    destination: toDestination(element.Destination),
    deleteMarkers: markers && markers.Status === 'Enabled',
    existing: isEnabled(element.ExistingObjectReplication),
    kmsEncrypted: isEnabled(criteria?.SseKmsEncryptedObjects),
    replicaModifications: criteria?.ReplicaModifications && false,
  }
}

const isEnabled = (element: Infer<typeof enabling> | undefined): boolean | undefined =>
  element && element.Status === 'Enabled'

/** A Filter has at most one condition, which may be an And of several. */
function toFilter({ Prefix, Filter }: RuleElement): ReplicationFilter {
  if (Filter === undefined)
    return Prefix === undefined ? { form: 'none', tags: [] } : { form: 'prefix', prefix: Prefix, tags: [] }
  const given = Object.values(Filter).filter((value) => value !== undefined)
  if (Prefix !== undefined || given.length > 1) throw new S3Error('MalformedXML')
  const { And, Tag } = Filter
  if (And !== undefined) return { form: 'and', prefix: And.Prefix, tags: And.Tag.map(toTag) }
  return { form: 'filter', prefix: Filter.Prefix, tags: (Tag ? [Tag] : []).map(toTag) }
}

function toDestination(element: DestinationElement): ReplicationDestination {
  const { AccessControlTranslation, EncryptionConfiguration, ReplicationTime, Metrics } = element
  if (ReplicationTime?.Status === 'Enabled') throw notImplemented(`${root}/Rule/Destination/ReplicationTime/Status`)
  return {
    bucketArn: element.Bucket,
    account: element.Account,
    storageClass: element.StorageClass,
    ownedByDestination: AccessControlTranslation && true,
    kmsKeyId: EncryptionConfiguration?.ReplicaKmsKeyID,
    timeControl: ReplicationTime && { minutes: ReplicationTime.Time?.Minutes },
    metrics: Metrics && { enabled: Metrics.Status === 'Enabled', thresholdMinutes: Metrics.EventThreshold?.Minutes },
  }
}

const minutesOf = (count: number | undefined) => (count === undefined ? undefined : { Minutes: count })

const off = { Status: 'Disabled' as const }
const shownStatus = (isOn: boolean) => ({ Status: isOn ? ('Enabled' as const) : ('Disabled' as const) })

function fromRule(rule: ReplicationRule): RuleElement {
  const { filter, kmsEncrypted, replicaModifications, deleteMarkers, existing } = rule
  const hasCriteria = kmsEncrypted !== undefined || replicaModifications !== undefined
  return {
    ID: rule.id,
    Priority: rule.priority,
    Prefix: filter.form === 'prefix' ? filter.prefix : undefined,
    Filter: fromFilter(filter),
    ...shownStatus(rule.enabled),
    SourceSelectionCriteria: hasCriteria
      ? {
          SseKmsEncryptedObjects: kmsEncrypted === undefined ? undefined : shownStatus(kmsEncrypted),
          ReplicaModifications: replicaModifications === undefined ? undefined : off,
        }
      : undefined,
    ExistingObjectReplication: existing === undefined ? undefined : shownStatus(existing),
    Destination: fromDestination(rule.destination),
    DeleteMarkerReplication: deleteMarkers === undefined ? undefined : shownStatus(deleteMarkers),
  }
}

function fromFilter({ form, prefix, tags }: ReplicationFilter): FilterElement | undefined {
  const elements = tags.map(fromTag)
  if (form === 'and') return { And: { Prefix: prefix, Tag: elements } }
  return form === 'filter' ? { Prefix: prefix, Tag: elements[0] } : undefined
}

function fromDestination(destination: ReplicationDestination): DestinationElement {
  const { ownedByDestination, kmsKeyId, timeControl, metrics } = destination
  return {
    Bucket: destination.bucketArn,
    Account: destination.account,
    StorageClass: destination.storageClass,
    AccessControlTranslation: ownedByDestination && { Owner: 'Destination' },
    EncryptionConfiguration: kmsKeyId === undefined ? undefined : { ReplicaKmsKeyID: kmsKeyId },
    ReplicationTime: timeControl && { ...off, Time: minutesOf(timeControl.minutes) },
    Metrics: metrics && {
      ...shownStatus(metrics.enabled),
      EventThreshold: minutesOf(metrics.thresholdMinutes),
    },
  }
}
