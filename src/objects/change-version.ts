/** Changes what can change about a written version: tags, legal hold, retention, access control list, storage class, the wrapping of its key. Bytes and metadata never change. */

import type { Backend } from '../commits/backend.ts'
import { commitKeyDecision } from '../commits/commit.ts'
import { bindingOf, type EncryptionRequest, rewrappedFor } from '../commits/encryption.ts'
import { eventPuts } from '../commits/event-queue.ts'
import { lockClaim } from '../commits/history-commit.ts'
import { checkLockRequest, requireObjectLock } from '../commits/lock-request.ts'
import { movePutOfVersion } from '../commits/move-queue.ts'
import { NewestWrapping } from '../commits/newest-wrapping.ts'
import { requeued } from '../commits/replica-queue.ts'
import type { BucketScope, FoundBucket } from '../commits/scope.ts'
import type { Entry, Put } from '../kv/kv.ts'
import type { BucketRecord } from '../records/bucket-record.ts'
import { bucketKey } from '../records/keyspace.ts'
import type { EventName } from '../records/notifications.ts'
import type { ObjectAttributes, Retention, Tag } from '../records/object-attributes.ts'
import { objectCodec } from '../records/record-codecs.ts'
import type { ObjectRecord } from '../records/records.ts'
import { checkRemovable, checkRetentionChange } from '../rules/retention.ts'
import type { VersionInBucket } from '../rules/versions.ts'
import type { StorageClass } from '../storage-class.ts'
import { type DeletedKey, findVersion } from './find-version.ts'

export interface VersionAddress {
  key: string
  /** Absent: the current version. */
  versionId?: string | undefined
}

/** Resolves with the changed version. All functions here throw what `findVersion` throws. */
export async function setTags(
  backend: Backend,
  scope: BucketScope,
  address: VersionAddress,
  tags: readonly Tag[],
): Promise<VersionInBucket> {
  const change = async (record: ObjectRecord) => withAttributes(record, { tags })
  return changeVersion(backend, scope, address, change, {
    deleted: 'refused',
    isReplicated: true,
    grows: tags.length > 0,
    event: () => 'ObjectTagging:Put',
  })
}

export async function removeTags(
  backend: Backend,
  scope: BucketScope,
  address: VersionAddress,
): Promise<VersionInBucket> {
  const change = async (record: ObjectRecord) => withAttributes(record, { tags: [] })
  return changeVersion(backend, scope, address, change, {
    deleted: 'refused',
    isReplicated: true,
    event: ({ tags }) => (tags.length === 0 ? undefined : 'ObjectTagging:Delete'),
  })
}

/** Throws InvalidRequest when the bucket has no Object Lock. */
export async function setLegalHold(
  backend: Backend,
  scope: BucketScope,
  address: VersionAddress,
  legalHold: boolean,
): Promise<VersionInBucket> {
  const change = async (record: ObjectRecord, { record: bucket }: FoundBucket): Promise<ObjectRecord> => {
    requireObjectLock(bucket)
    return withAttributes(record, { legalHold })
  }
  return changeVersion(backend, scope, address, change, { deleted: 'refused', isReplicated: true })
}

/**
 * `grantsIn` returns the list for the bucket's current state, or throws. If the bucket has no access control lists, it returns the owner's own list, which
 * takes effect when the bucket has lists again.
 */
export async function setGrants(
  backend: Backend,
  scope: BucketScope,
  address: VersionAddress,
  grantsIn: (bucket: BucketRecord, attributes: ObjectAttributes) => ObjectAttributes['grants'],
): Promise<VersionInBucket> {
  const change = async (record: ObjectRecord, { record: bucket }: FoundBucket): Promise<ObjectRecord> =>
    withAttributes(record, { grants: grantsIn(bucket, record.attributes) })
  return changeVersion(backend, scope, address, change, {
    deleted: 'refused',
    grows: true,
    event: (before, after) => (isSame(before.grants, after.grants) ? undefined : 'ObjectAcl:Put'),
  })
}

/**
 * `undefined` removes the retention. Throws InvalidRequest when the bucket has no Object Lock, InvalidArgument for a date that has passed, and AccessDenied
 * when the retention in force forbids the change.
 */
export async function setRetention(
  backend: Backend,
  scope: BucketScope,
  address: VersionAddress,
  retention: Retention | undefined,
  bypassGovernance: boolean,
): Promise<VersionInBucket> {
  const change = async (record: ObjectRecord, bucket: FoundBucket): Promise<ObjectRecord> => {
    requireObjectLock(bucket.record)
    checkRetentionChange(record.attributes, retention, await lockClaim(backend, bucket, bypassGovernance, [record]))
    await checkLockRequest(backend, bucket.record, { retention })
    return withAttributes(record, { retention })
  }
  return changeVersion(backend, scope, address, change, { deleted: 'refused', isReplicated: true })
}

/**
 * Wraps the version's key by an SSE-KMS key; its bytes stay as they are. Throws AccessDenied while a lock protects the version, also in GOVERNANCE mode,
 * InvalidRequest when the object is not encrypted or its client holds the key, and KMS.NotFoundException.
 */
export async function setEncryption(
  backend: Backend,
  scope: BucketScope,
  address: VersionAddress,
  request: Extract<EncryptionRequest, { by: 'kms' }>,
): Promise<VersionInBucket> {
  return changeVersion(backend, scope, address, async (record, bucket) => {
    checkRemovable(record.attributes, await lockClaim(backend, bucket, false, [record]))
    const binding = bindingOf(bucket.record.id, address.key, record)
    return { ...record, encryption: rewrappedFor(backend, record.encryption, binding, request) }
  })
}

/**
 * Gives the version another storage class; its data follows (see `commits/move-queue`). `classNow` decides by the version as it is when it commits. `undefined`: it stays as it is.
 * Resolves with whether it has another class now.
 */
export async function setStorageClass(
  backend: Backend,
  scope: BucketScope,
  address: VersionAddress,
  classNow: (record: ObjectRecord, bucket: BucketRecord, entry: Entry) => StorageClass | undefined,
): Promise<boolean> {
  let isChanged = false
  const change = async (record: ObjectRecord, bucket: FoundBucket, entry: Entry): Promise<ObjectRecord> => {
    const storageClass = classNow(record, bucket.record, entry)
    isChanged = storageClass !== undefined
    return isChanged ? withAttributes(record, { storageClass }) : record
  }
  await changeVersion(backend, scope, address, change, {
    event: () => 'LifecycleTransition',
    queue: (bucket, record) => [movePutOfVersion(bucket, address.key, record)],
  })
  return isChanged
}

function withAttributes(record: ObjectRecord, changed: Partial<ObjectAttributes>): ObjectRecord {
  return { ...record, attributes: { ...record.attributes, ...changed } }
}

/** The attributes of a version that Object Lock can protect. Throws InvalidRequest when its bucket has no Object Lock. */
export async function findLockable(
  backend: Backend,
  scope: BucketScope,
  address: VersionAddress,
): Promise<ObjectAttributes> {
  const { bucket, record } = await findVersion(backend, scope, address.key, address.versionId)
  requireObjectLock(bucket.record)
  return record.attributes
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

interface ChangeOptions {
  deleted?: DeletedKey
  grows?: boolean
  /** Its copies get the same change. */
  isReplicated?: boolean
  /** What to tell of the change. */
  event?(before: ObjectAttributes, after: ObjectAttributes): EventName | undefined
  /** What else the change queues. */
  queue?(bucket: BucketRecord, changed: ObjectRecord): Put[]
}

/** `change` can return the record as it is; then nothing is written. */
async function changeVersion(
  backend: Backend,
  scope: BucketScope,
  { key, versionId }: VersionAddress,
  change: (record: ObjectRecord, bucket: FoundBucket, entry: Entry) => Promise<ObjectRecord>,
  { deleted, grows = false, isReplicated = false, event = () => undefined, queue = () => [] }: ChangeOptions = {},
): Promise<VersionInBucket> {
  return commitKeyDecision(backend, scope.name, key, async () => {
    const { bucket, entry, record } = await findVersion(backend, scope, key, versionId, deleted)
    const wrapping = new NewestWrapping(backend, bucket.record.id, key)
    const asked = await change(record, bucket, entry)
    if (asked === record) return { result: { bucket: bucket.record, record }, commit: {} }
    const replicated = isReplicated ? requeued(backend, bucket.record, key, asked) : { record: asked, puts: [] }
    const changed = wrapping.newest(replicated.record)
    const name = event(record.attributes, changed.attributes)
    const events = name === undefined ? [] : eventPuts(backend, bucket, key, { name, version: changed })
    const more = [...events, ...replicated.puts, ...queue(bucket.record, changed)]
    return {
      result: { bucket: bucket.record, record: changed },
      commit: {
        grows: grows || more.length > 0,
        checks: [
          { key: bucketKey(bucket.record.name), version: bucket.version },
          { key: entry.key, version: entry.version },
          ...wrapping.checks,
        ],
        puts: [{ key: entry.key, value: objectCodec.encode(entry.key, changed) }, ...more],
      },
    }
  })
}
