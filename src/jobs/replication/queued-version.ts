/** Finds what an entry of the replication queue names: the version, and the rule that copies it. */
import type { Backend } from '../../commits/backend.ts'
import type { Entry } from '../../kv/kv.ts'
import type { BucketRecord } from '../../records/bucket-record.ts'
import { historyKey, objectKey } from '../../records/keyspace.ts'
import { versionCodec } from '../../records/record-codecs.ts'
import type { VersionRecord } from '../../records/records.ts'
import type { ReplicationRule } from '../../records/replication.ts'
import { nullVersionId } from '../../records/version-id.ts'
import { rulesFor } from '../../rules/replication.ts'

export interface FoundRecord {
  entry: Entry
  record: VersionRecord
}

/** `undefined`: the version has been removed. */
export async function findRecord(
  { kv }: Backend,
  bucket: string,
  key: string,
  sequence: number,
): Promise<FoundRecord | undefined> {
  // Both keys in one snapshot, because a version moves from one to the other.
  const entries = await kv.get([objectKey(bucket, key), historyKey(bucket, key, sequence)])
  for (const entry of entries) {
    const record = entry && versionCodec.decode(entry.key, entry.value)
    if (entry !== undefined && record?.sequence === sequence) return { entry, record }
  }
  return undefined
}

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
