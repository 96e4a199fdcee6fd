/** Writes a whole object: bytes first, then one commit that makes it the newest version of its key. */

import type { Manifest } from '../blobs/blobs.ts'
import type { Backend } from '../commits/backend.ts'
import {
  blobEncryption,
  type EncryptionRequest,
  encryptionFor,
  newObjectKey,
  wholeBlob,
} from '../commits/encryption.ts'
import { readHistory } from '../commits/key-history.ts'
import { checkLockRequest } from '../commits/lock-request.ts'
import {
  commitObject,
  type ExpectedVersion,
  expectVersion,
  type NewRecord,
  stampedAttributes,
} from '../commits/new-version.ts'
import type { BucketScope } from '../commits/scope.ts'
import type { BucketRecord } from '../records/bucket-record.ts'
import type { ObjectDescription } from '../records/descriptions.ts'
import type { ObjectAttributes } from '../records/object-attributes.ts'
import { checkWrite, type WriteConditions } from '../rules/preconditions.ts'
import type { VersionInBucket } from '../rules/versions.ts'
import { DigestedPayload, type IncomingData, type Received, removeIfRefused, writeBlob } from './incoming-data.ts'

export interface NewObject {
  key: string
  attributes: ObjectAttributes
  data: IncomingData
  conditions: WriteConditions
  /** Absent: the bucket's default. */
  encryption?: EncryptionRequest | undefined
}

/**
 * Resolves with the new version when bytes and record are durable. Conditions are checked before the body is read, and again by the commit.
 * Throws NoSuchBucket, PreconditionFailed, ConditionalRequestConflict and what `writeBlob` throws.
 */
export async function writeObject(backend: Backend, scope: BucketScope, object: NewObject): Promise<VersionInBucket> {
  const { key, attributes, conditions } = object
  const before = await readHistory(backend, scope, object)
  const bucket = before.bucket.record
  checkWrite(conditions, before.versions.current)
  if (attributes.retention !== undefined || attributes.legalHold !== undefined) {
    await checkLockRequest(backend, bucket, attributes)
  }

  const asked = encryptionFor(bucket, object.encryption)
  const objectKey = asked && newObjectKey(backend, asked)
  const encryptionAt =
    objectKey && ((sequence: number) => objectKey.wrap({ bucketId: bucket.id, key, place: { sequence } }))
  const expected = await expectVersion(backend, before, { attributes, encryptionAt })
  const payload = new DigestedPayload(backend, object.data, objectKey && blobEncryption(objectKey, wholeBlob))
  const manifest = await writeBlob(backend, bucket.location, payload, (received) =>
    describe(bucket, object, expected, received),
  )
  try {
    const record = recordOf(object, expected, encryptionAt, payload.received, manifest)
    return await commitObject(backend, scope, before, record, conditions)
  } catch (error) {
    await removeIfRefused(backend, manifest, error)
    throw error
  }
}

function describe(
  bucket: BucketRecord,
  { attributes, data }: NewObject,
  { key, sequence, versionRandom, encryption, stampedAt }: ExpectedVersion,
  { etag, checksum, receivedMs }: Received,
): ObjectDescription {
  // Field by field: every PUT comes by here.
  return {
    kind: 'object',
    bucket: bucket.name,
    bucketId: bucket.id,
    bucketState: bucket,
    key,
    sequence,
    versionRandom,
    size: data.body.size,
    encryption,
    etag,
    checksum,
    writtenMs: receivedMs,
    attributes: stampedAttributes(attributes, stampedAt(receivedMs)),
  }
}

function recordOf(
  { attributes, data }: NewObject,
  { random, stampedAt }: ExpectedVersion,
  encryptionAt: NewRecord['encryptionAt'],
  { etag, checksum, receivedMs }: Received,
  manifest: Manifest,
): NewRecord {
  const record: { [Field in keyof Required<NewRecord>]: NewRecord[Field] } = {
    attributes,
    size: data.body.size,
    etag,
    checksum: checksum && { ...checksum, type: 'FULL_OBJECT' },
    data: { kind: 'blob', manifest },
    encryptionAt,
    versionRandom: random,
    stamped: stampedAt(receivedMs),
  }
  return record
}
