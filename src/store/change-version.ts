/** Changes what may change of a version once it is written: its tags, its legal hold, its retention. Bytes and metadata never do. */
import { commitKeyDecision } from './commit.ts'
import { findVersion } from './find-version.ts'
import { lockClaim } from './key-history.ts'
import { bucketKey } from './keyspace.ts'
import { checkLockRequest, requireObjectLock } from './lock-request.ts'
import { objectCodec } from './record-codecs.ts'
import type { ObjectRecord, Retention, Tag } from './records.ts'
import { checkRetentionChange } from './retention.ts'
import type { BucketScope, FoundBucket } from './scope.ts'
import type { Store } from './store.ts'
import type { VersionInBucket } from './versions.ts'

export interface VersionAddress {
  key: string
  /** Absent: the current version. */
  versionId?: string | undefined
}

/** Resolves with the version as changed. All of these throw what `findVersion` throws. */
export async function setTags(
  store: Store,
  scope: BucketScope,
  address: VersionAddress,
  tags: readonly Tag[],
): Promise<VersionInBucket> {
  return changeVersion(store, scope, address, async (record) => ({ ...record, tags }))
}

/** Throws InvalidRequest when the bucket has no Object Lock. */
export async function setLegalHold(
  store: Store,
  scope: BucketScope,
  address: VersionAddress,
  legalHold: boolean,
): Promise<VersionInBucket> {
  return changeVersion(store, scope, address, async (record, { record: bucket }) => {
    requireObjectLock(bucket)
    return { ...record, legalHold }
  })
}

/** `undefined` takes the retention away. Throws InvalidRequest, InvalidArgument for a date that has passed, and AccessDenied when the retention in force forbids it. */
export async function setRetention(
  store: Store,
  scope: BucketScope,
  address: VersionAddress,
  retention: Retention | undefined,
  bypassGovernance: boolean,
): Promise<VersionInBucket> {
  return changeVersion(store, scope, address, async (record, bucket) => {
    requireObjectLock(bucket.record)
    checkRetentionChange(record, retention, await lockClaim(store, bucket, bypassGovernance))
    await checkLockRequest(store, bucket.record, { retention })
    return { ...record, retention }
  })
}

/** The version, for reading what Object Lock says of it. Throws InvalidRequest when its bucket has no Object Lock. */
export async function findLockable(store: Store, scope: BucketScope, address: VersionAddress): Promise<ObjectRecord> {
  const { bucket, record } = await findVersion(store, scope, address.key, address.versionId)
  requireObjectLock(bucket.record)
  return record
}

async function changeVersion(
  store: Store,
  scope: BucketScope,
  { key, versionId }: VersionAddress,
  change: (record: ObjectRecord, bucket: FoundBucket) => Promise<ObjectRecord>,
): Promise<VersionInBucket> {
  return commitKeyDecision(store, scope.name, key, async () => {
    const { bucket, entry, record } = await findVersion(store, scope, key, versionId)
    const changed = await change(record, bucket)
    return {
      result: { bucket: bucket.record, record: changed },
      commit: {
        checks: [
          { key: bucketKey(bucket.record.name), version: bucket.version },
          { key: entry.key, version: entry.version },
        ],
        puts: [{ key: entry.key, value: objectCodec.encode(entry.key, changed) }],
      },
    }
  })
}
