/** Changes what may change of a version once it is written: tags, legal hold, retention, the wrapping of its key. Bytes and metadata never do. */
import { commitKeyDecision } from '../commits/commit.ts'
import { bindingOf, type EncryptionRequest, rewrappedFor } from '../commits/encryption.ts'
import { lockClaim } from '../commits/key-history.ts'
import { checkLockRequest, requireObjectLock } from '../commits/lock-request.ts'
import { newestWrapping } from '../commits/newest-wrapping.ts'
import type { BucketScope, FoundBucket } from '../commits/scope.ts'
import type { Store } from '../commits/store.ts'
import { bucketKey } from '../records/keyspace.ts'
import { objectCodec } from '../records/record-codecs.ts'
import type { ObjectRecord, Retention, Tag } from '../records/records.ts'
import { checkRemovable, checkRetentionChange } from '../rules/retention.ts'
import type { VersionInBucket } from '../rules/versions.ts'
import { findVersion } from './find-version.ts'

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
  const grows = tags.length > 0
  return changeVersion(store, scope, address, async (record) => ({ ...record, tags }), grows)
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
    checkRetentionChange(record, retention, await lockClaim(store, bucket, bypassGovernance, [record]))
    await checkLockRequest(store, bucket.record, { retention })
    return { ...record, retention }
  })
}

/**
 * Wraps the version's key by one of SSE-KMS; its bytes stay. Throws AccessDenied while a lock protects the version, also in GOVERNANCE, InvalidRequest
 * for an object that the server has no key of, and KMS.NotFoundException.
 */
export async function setEncryption(
  store: Store,
  scope: BucketScope,
  address: VersionAddress,
  request: Extract<EncryptionRequest, { by: 'kms' }>,
): Promise<VersionInBucket> {
  return changeVersion(store, scope, address, async (record, bucket) => {
    checkRemovable(record, await lockClaim(store, bucket, false, [record]))
    const binding = bindingOf(bucket.record.id, address.key, record)
    return { ...record, encryption: rewrappedFor(store, record.encryption, binding, request) }
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
  grows = false,
): Promise<VersionInBucket> {
  return commitKeyDecision(store, scope.name, key, async () => {
    const { bucket, entry, record } = await findVersion(store, scope, key, versionId)
    const wrapping = newestWrapping(store, bucket.record.id, key)
    const changed = wrapping.newest(await change(record, bucket))
    return {
      result: { bucket: bucket.record, record: changed },
      commit: {
        grows,
        checks: [
          { key: bucketKey(bucket.record.name), version: bucket.version },
          { key: entry.key, version: entry.version },
          ...wrapping.checks,
        ],
        puts: [{ key: entry.key, value: objectCodec.encode(entry.key, changed) }],
      },
    }
  })
}
