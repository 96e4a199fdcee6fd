/** What the replication of a version goes by: the copies that it has, and the rule that copies it. */
import type { BucketRecord } from '../../records/bucket-record.ts'
import type { VersionRecord } from '../../records/records.ts'
import type { ReplicationRule } from '../../records/replication.ts'
import { nullVersionId } from '../../records/version-id.ts'
import { rulesFor } from '../../rules/replication.ts'

/** By what its copies name an original: its version id. A null version needs more, because the keys of all buckets can have one, and another one later. */
export const originalId = (
  { id }: Pick<BucketRecord, 'id'>,
  { versionId, sequence, modifiedMs }: Pick<VersionRecord, 'versionId' | 'sequence' | 'modifiedMs'>,
): string => (versionId === nullVersionId ? [nullVersionId, id, sequence, modifiedMs].join('-') : versionId)

/** The ids of the version's copies, by the ARNs of their buckets. */
export const copiesOf = (record: VersionRecord) => {
  const state = record.kind === 'object' ? record.attributes.replication : undefined
  return state === undefined || state.status === 'REPLICA' ? undefined : state.copies
}

/** The rule that copies the version to `arn` now. */
export function ruleOf(
  bucket: BucketRecord,
  arn: string,
  key: string,
  record: VersionRecord,
): ReplicationRule | undefined {
  const isMarker = record.kind === 'marker'
  const tags = isMarker ? [] : record.attributes.tags
  const encryptedBy = isMarker ? undefined : record.encryption?.by
  return rulesFor(bucket.replication?.rules ?? [], { key, tags, encryptedBy, isMarker }).find(
    ({ destination }) => destination.bucketArn === arn,
  )
}
