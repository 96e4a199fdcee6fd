/** Which replication rules can be set, as in S3, and what they copy to which bucket. Pure. */
import { invalidArgument, S3Error } from '../errors.ts'
import type { BucketRecord } from '../records/bucket-record.ts'
import type { ObjectAttributes } from '../records/object-attributes.ts'
import type { Encryption } from '../records/records.ts'
import type { ReplicationConfiguration, ReplicationFilter, ReplicationRule } from '../records/replication.ts'
import type { ReplicationState } from '../records/replication-state.ts'
import { replicationLimits } from '../replication-limits.ts'
import { checkRuleFilter, invalidRequest } from './rule-filter.ts'

/** A bucket on this server, or on a site of its configuration. */
export interface Destination {
  /** In lower case. Absent: this server. */
  site?: string | undefined
  bucket: string
}

/**
 * The bucket that an ARN names: `arn:aws:s3:::BUCKET` of this server; of a site `arn:aws:s3:::SITE/BUCKET`, or as MinIO writes it
 * `arn:minio:replication:REGION:SITE:BUCKET`. `undefined`: it names no bucket.
 */
export function destinationOf(arn: string): Destination | undefined {
  const [, minioSite, minioBucket] = /^arn:minio:replication:[^:]*:([^:/]+):([^:/]+)$/.exec(arn) ?? []
  if (minioSite !== undefined && minioBucket !== undefined) {
    return { site: minioSite.toLowerCase(), bucket: minioBucket }
  }
  const [, site, bucket] = /^arn:aws[a-z-]*:s3:::(?:([^:/]+)\/)?([^:/]+)$/.exec(arn) ?? []
  return bucket === undefined ? undefined : { site: site?.toLowerCase(), bucket }
}

export interface Replicated {
  key: string
  tags: ObjectAttributes['tags']
  encryptedBy?: Encryption['by'] | undefined
  isMarker?: boolean
}

/** The rules that copy this version: for each destination, the matching rule with the greatest priority. */
export function rulesFor(rules: readonly ReplicationRule[], version: Replicated): ReplicationRule[] {
  const chosen = new Map<string, ReplicationRule>()
  for (const rule of rules) {
    if (!rule.enabled || !isMatch(rule.filter, version)) continue
    const other = chosen.get(rule.destination.bucketArn)
    if (other === undefined || (rule.priority ?? 0) > (other.priority ?? 0)) {
      chosen.set(rule.destination.bucketArn, rule)
    }
  }
  return [...chosen.values()].filter((rule) => takes(rule, version))
}

const isMatch = ({ prefix = '', tags }: ReplicationFilter, version: Replicated): boolean =>
  version.key.startsWith(prefix) &&
  tags.every(({ key, value }) => version.tags.some((tag) => tag.key === key && tag.value === value))

function takes(rule: ReplicationRule, { isMarker = false, encryptedBy }: Replicated): boolean {
  if (isMarker) return takesMarkers(rule)
  return encryptedBy !== 'kms' || rule.kmsEncrypted === true
}

/** Rules of S3's first schema can't say whether delete markers are copied. They are. */
export const takesMarkers = ({ filter, deleteMarkers }: ReplicationRule): boolean =>
  deleteMarkers ?? filter.form === 'prefix'

/** Throws MalformedXML, InvalidArgument, InvalidRequest, with S3's texts. */
export function checkReplication(
  configuration: ReplicationConfiguration,
  { name, versioning }: Pick<BucketRecord, 'name' | 'versioning'>,
): ReplicationConfiguration {
  const { rules } = configuration
  if (versioning !== 'enabled') {
    throw invalidRequest("Versioning must be 'Enabled' on the bucket to apply a replication configuration")
  }
  if (rules.length === 0) throw new S3Error('MalformedXML')
  if (rules.length > replicationLimits.rulesMax) {
    throw invalidRequest(
      `The number of replication rules must not exceed the allowed limit of ${replicationLimits.rulesMax} rules.`,
    )
  }
  if (new Set(rules.map(({ destination }) => destination.bucketArn)).size > replicationLimits.destinationsMax) {
    throw invalidRequest(
      `The number of destination buckets must not exceed the allowed limit of ${replicationLimits.destinationsMax}.`,
    )
  }
  for (const rule of rules) checkRule(rule, name)
  for (const [at, rule] of rules.entries()) {
    for (const other of rules.slice(0, at)) checkPair(other, rule)
  }
  return configuration
}

function checkRule(rule: ReplicationRule, bucket: string): void {
  const { id, filter, priority, destination } = rule
  if ([...id].length > replicationLimits.ruleIdCharsMax) {
    throw invalidArgument('ID', id, `ID length should not exceed allowed limit of ${replicationLimits.ruleIdCharsMax}`)
  }
  checkRuleFilter(filter)
  if (filter.form !== 'prefix') checkSecondSchema(rule)
  if (priority !== undefined && (priority < 0 || priority > replicationLimits.priorityMax)) {
    throw invalidArgument('Priority', String(priority), 'Priority must be a number from 0 to 2147483647')
  }
  const named = destinationOf(destination.bucketArn)
  if (named === undefined) throw invalidArgument('Bucket', destination.bucketArn, 'Invalid bucket ARN')
  if (named.site === undefined && named.bucket === bucket) {
    throw invalidRequest('Destination bucket cannot be the same as the source bucket.')
  }
}

/** What S3 demands where a rule has no prefix of its own. */
function checkSecondSchema({ filter, priority, deleteMarkers }: ReplicationRule): void {
  const element = priority === undefined ? 'Priority' : 'DeleteMarkerReplication'
  if (priority === undefined || deleteMarkers === undefined) {
    throw invalidRequest(
      `${element} must be specified for this version of Cross Region Replication configuration schema. Please refer to S3 Developer Guide for more information.`,
    )
  }
  if (filter.tags.length > 0 && deleteMarkers) {
    throw invalidRequest(
      'Delete marker replication is not supported if any Tag filter is specified. Please refer to S3 Developer Guide for more information.',
    )
  }
}

function checkPair(one: ReplicationRule, other: ReplicationRule): void {
  if (one.id === other.id) {
    throw invalidArgument('ID', one.id, 'Rule Id must be unique. Found same ID for more than one rule')
  }
  if (one.priority === undefined || one.priority !== other.priority) return
  throw invalidRequest(`Found duplicate priority ${one.priority}: priorities must be unique among rules`)
}

/** How the copying of a version ended. `copy`: the version id of the copy. Absent for a delete marker. */
export type CopyOutcome =
  | { kind: 'copied'; copy?: string | undefined }
  | { kind: 'failed'; reason: string }
  | { kind: 'dropped' }

/** The state of a version's copies after this outcome. `isWaiting`: the version still waits, for another destination or because it has changed. */
export function stateAfter(
  before: ReplicationState | undefined,
  { arn, outcome, isWaiting }: { arn: string; outcome: CopyOutcome; isWaiting: boolean },
): ReplicationState | undefined {
  if (before?.status === 'REPLICA') return before
  const isNew = outcome.kind === 'copied' && outcome.copy !== undefined
  const copies = isNew ? { ...before?.copies, [arn]: outcome.copy ?? '' } : before?.copies
  if (outcome.kind === 'failed' || before?.status === 'FAILED') return { status: 'FAILED', copies }
  if (isWaiting) return { status: 'PENDING', copies }
  // No rule copies it any more.
  return copies === undefined ? undefined : { status: 'COMPLETED', copies }
}

/** Why a bucket of this server takes no copies. `undefined`: it does. */
export function ownBucketFault(
  bucket: Pick<BucketRecord, 'owner' | 'versioning'> | undefined,
  owner: string,
): string | undefined {
  // Does not tell whether another account has such a bucket.
  if (bucket?.owner !== owner) return 'Destination bucket must exist.'
  return bucket.versioning === 'enabled' ? undefined : 'Destination bucket must have versioning enabled.'
}
