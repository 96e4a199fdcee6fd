/** Writes a whole object: bytes first, then one commit that makes it the newest version of its key. */
import { S3Error } from '../errors.ts'
import type { Manifest } from '../shards/blobs.ts'
import { descriptionBytes } from './description-bytes.ts'
import { describeObject } from './descriptions.ts'
import { blobEncryption, type EncryptionRequest, encryptionFor, newObjectKey, wholeBlob } from './encryption.ts'
import { type IncomingData, writeBlob } from './incoming-data.ts'
import { readHistory } from './key-history.ts'
import { checkLockRequest } from './lock-request.ts'
import { commitObject, type NewRecord, retentionStamp, type StampedRetention } from './new-version.ts'
import { checkWrite, conditionally, type WriteConditions } from './preconditions.ts'
import type { ObjectAttributes } from './records.ts'
import type { BucketScope } from './scope.ts'
import type { Store } from './store.ts'
import { describedRandom, versionRandomBytes } from './version-id.ts'
import { nextSequence, type VersionInBucket } from './versions.ts'

export interface NewObject {
  key: string
  attributes: ObjectAttributes
  data: IncomingData
  conditions: WriteConditions
  /** Absent: the bucket's default. */
  encryption?: EncryptionRequest | undefined
}

/**
 * Resolves with the new version when bytes and record are durable.
 * Conditions are checked before the body is read, and again by the commit. Throws NoSuchBucket, PreconditionFailed and what `writeBlob` throws.
 */
export async function writeObject(store: Store, scope: BucketScope, object: NewObject): Promise<VersionInBucket> {
  const before = await readHistory(store, scope, object.key)
  const bucket = before.bucket.record
  checkWrite(object.conditions, before.versions.current)
  if (object.attributes.retention !== undefined || object.attributes.legalHold !== undefined) {
    await checkLockRequest(store, bucket, object.attributes)
  }

  const { attributes } = object
  const sequence = nextSequence(before.versions)
  const asked = encryptionFor(bucket, object.encryption)
  const objectKey = asked && newObjectKey(store, asked)
  const encryptionAt =
    objectKey &&
    ((place: number) => objectKey.wrap({ bucketId: bucket.id, key: object.key, place: { sequence: place } }))
  const { size } = object.data.body
  const versionRandom = store.clock.random(versionRandomBytes)
  const { key } = object
  const randomOfName = describedRandom(bucket, versionRandom)
  const stamp = await retentionStamp(store, bucket, attributes.retention)
  let stamped: StampedRetention | undefined
  const { manifest, digested } = await writeBlob(
    store,
    bucket.location,
    object.data,
    objectKey && blobEncryption(objectKey, wholeBlob),
    (digests) => {
      stamped = stamp()
      const told = stamped === undefined ? attributes : { ...attributes, retention: stamped.retention }
      const encryption = encryptionAt?.(sequence)
      return descriptionBytes(
        describeObject(
          bucket,
          { key, sequence, versionRandom: randomOfName, attributes: told, size, encryption },
          digests,
          store.clock.now(),
        ),
      )
    },
  )
  const record: { [Field in keyof Required<NewRecord>]: NewRecord[Field] } = {
    headers: attributes.headers,
    metadata: attributes.metadata,
    tags: attributes.tags,
    retention: attributes.retention,
    legalHold: attributes.legalHold,
    storageClass: attributes.storageClass,
    websiteRedirectLocation: attributes.websiteRedirectLocation,
    size,
    etag: digested.etag,
    checksum: digested.checksum === undefined ? undefined : { ...digested.checksum, type: 'FULL_OBJECT' },
    data: { kind: 'blob', manifest },
    encryptionAt,
    versionRandom,
    stamped,
  }
  return keepingNoOrphan(store, manifest, () =>
    conditionally(object.conditions, () =>
      commitObject(store, scope, before, record, (current) => checkWrite(object.conditions, current)),
    ),
  )
}

/**
 * Runs the commit that is to reference a blob, and removes the blob when the commit was decided against. After any other failure the commit may have
 * happened, so the blob stays; if it is an orphan, reclaim finds it.
 */
export async function keepingNoOrphan<T>(store: Store, manifest: Manifest, commit: () => Promise<T>): Promise<T> {
  try {
    return await commit()
  } catch (error) {
    if (error instanceof S3Error) await store.blobs.remove([manifest])
    throw error
  }
}
