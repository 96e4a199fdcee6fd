/** Writes a whole object: bytes first, then one commit that makes it the newest version of its key. */

import type { Manifest } from '../blobs/blobs.ts'
import { type ByteSink, type ByteSource, bytesSource, drained, type SettledSize } from '../byte-source.ts'
import { timeOrderedId } from '../clock.ts'
import type { Backend } from '../commits/backend.ts'
import {
  blobEncryption,
  type EncryptionRequest,
  encryptionFor,
  newObjectKey,
  wholeBlob,
} from '../commits/encryption.ts'
import { type KeyHistory, readHistory } from '../commits/key-history.ts'
import { checkLockRequest } from '../commits/lock-request.ts'
import {
  commitObject,
  type ExpectedVersion,
  expectVersion,
  type NewRecord,
  stampedAttributes,
} from '../commits/new-version.ts'
import { refuseBeyondQuota } from '../commits/quota.ts'
import type { BucketScope } from '../commits/scope.ts'
import type { BucketRecord } from '../records/bucket-record.ts'
import type { BlobDescription, ObjectDescription } from '../records/descriptions.ts'
import type { Creation } from '../records/notifications.ts'
import type { ObjectAttributes } from '../records/object-attributes.ts'
import type { Usage } from '../records/usage.ts'
import { checkWrite, type WriteConditions } from '../rules/preconditions.ts'
import { minus, usageOfVersion } from '../rules/quota.ts'
import { namesVersions, nullVersionsIn, type VersionInBucket } from '../rules/versions.ts'
import { DigestedPayload, type IncomingData, type Received, removeIfRefused, writeBlob } from './incoming-data.ts'
import { openBlob } from './open-blob.ts'

export interface NewObject {
  key: string
  attributes: ObjectAttributes
  /** Owner and access control list in this bucket. Throws to refuse. Absent, or returning `undefined`: the bucket's owner, and no list. */
  accessIn?: ((bucket: BucketRecord) => AccessAttributes | undefined) | undefined
  data: IncomingData
  conditions: WriteConditions
  /** Absent: the bucket's default. */
  encryption?: EncryptionRequest | undefined
  /** Absent: PutObject. */
  madeBy?: Creation | undefined
}

export type AccessAttributes = Pick<ObjectAttributes, 'owner' | 'grants'>

/** Adds the owner and the access control list, which depend on the bucket. */
export function withAccess<T extends Pick<NewObject, 'attributes' | 'accessIn'>>(asked: T, bucket: BucketRecord): T {
  const access = asked.accessIn?.(bucket)
  return access === undefined ? asked : { ...asked, attributes: { ...asked.attributes, ...access } }
}

/**
 * Resolves with the new version when bytes and record are durable. Conditions are checked before the body is read, and again by the commit.
 * Throws NoSuchBucket, PreconditionFailed, ConditionalRequestConflict, QuotaExceeded and what `writeBlob` throws.
 */
export async function writeObject(backend: Backend, scope: BucketScope, asked: NewObject): Promise<VersionInBucket> {
  const before = await readHistory(backend, scope, asked)
  const bucket = before.bucket.record
  const object = withAccess(asked, bucket)
  const { key, attributes, conditions } = object
  checkWrite(conditions, before.versions.current, key)
  if (attributes.retention !== undefined || attributes.legalHold !== undefined) {
    await checkLockRequest(backend, bucket, attributes)
  }
  if (bucket.quota !== undefined) await refuseBeyondQuota(backend, bucket, leastGrowth(object, before))

  const encryption = encryptionFor(bucket, object.encryption)
  const objectKey = encryption && newObjectKey(backend, encryption)
  const encryptionAt =
    objectKey && ((sequence: number) => objectKey.wrap({ bucketId: bucket.id, key, owner: { sequence } }))
  const expected = await expectVersion(backend, before, { attributes, encryptionAt })
  const blobSeal = objectKey && blobEncryption(objectKey, wholeBlob)
  const payload = new DigestedPayload(backend, object.data, blobSeal)
  const location = backend.blobs.locationFor(bucket.location, attributes.storageClass)
  const manifest = await writeBlob(backend, location, payload, describer(backend, bucket, object, expected))
  const settled = object.data.body.settledSize?.()
  if (settled !== undefined) {
    const { sequence } = expected
    const owner = { kind: 'version', bucket: scope.name, key, sequence } as const
    const written = { manifest, owner, size: object.data.body.size, key: blobSeal?.key }
    return writeSettled(backend, scope, asked, written, settled)
  }
  try {
    const record = recordOf(object, expected, encryptionAt, payload.received, manifest)
    record.attributesIn = asked.accessIn && ((now) => withAccess(asked, now).attributes)
    const version = await commitObject(backend, scope, before, record, conditions)
    if (version.record.data !== record.data) await backend.blobs.remove([manifest])
    return version
  } catch (error) {
    await removeIfRefused(backend, manifest, error)
    throw error
  }
}

/** A blob whose payload had another size than it said. */
type Unsettled = Parameters<typeof openBlob>[3] & { manifest: Manifest }

/** What the object adds to its bucket at least, if it replaces what is there now. */
function leastGrowth({ data: { body } }: NewObject, { versions, bucket }: KeyHistory): Usage {
  const replaced = namesVersions(bucket.record.versioning) ? [] : nullVersionsIn(versions)
  // A body of unknown size says the most that it can be.
  const bytes = body.settledSize === undefined ? body.size : 0
  return minus({ bytes, objects: 1 }, ...replaced.map(usageOfVersion))
}

/**
 * Writes the object again from its first blob, because its size is known now, and removes that blob. If the process dies before that, no record references
 * the first blob, and reclaim finds it.
 */
async function writeSettled(
  backend: Backend,
  scope: BucketScope,
  object: NewObject,
  { manifest, ...written }: Unsettled,
  { size, surplus }: SettledSize,
): Promise<VersionInBucket> {
  try {
    const range = { start: 0, end: size - surplus.length }
    const stored = range.end === 0 ? nothing : await openBlob(backend, manifest, range, written)
    const body = surplus.length === 0 ? stored : followedBy(stored, surplus)
    return await writeObject(backend, scope, { ...object, data: { ...object.data, body } })
  } finally {
    await backend.blobs.remove([manifest])
  }
}

const nothing = bytesSource(Buffer.alloc(0))

function followedBy(source: ByteSource, more: Buffer): ByteSource {
  const both = {
    size: source.size + more.length,
    drain: async (sink: ByteSink) => {
      await source.drain(sink)
      await sink(more)
    },
    cancel: () => source.cancel(),
  }
  return { ...both, read: () => drained(both) }
}

function describer(
  { clock }: Backend,
  bucket: BucketRecord,
  object: NewObject,
  expected: ExpectedVersion,
): (received: Received) => BlobDescription {
  const { body } = object.data
  const ofObject = (received: Received): BlobDescription => describe(bucket, object, expected, received)
  if (body.settledSize === undefined) return ofObject
  const uploadId = timeOrderedId(clock)
  return (received) =>
    body.settledSize?.() === undefined
      ? ofObject(received)
      : describeUnsettled(bucket, { key: object.key, uploadId, size: body.size }, received)
}

/**
 * Describes a first blob, which is not yet what its object is to be. If the process dies before the blob is removed, recovery must not make a version from it.
 * So the description says that the blob is a part of an upload that is never completed.
 */
function describeUnsettled(
  bucket: BucketRecord,
  blob: { key: string; uploadId: string; size: number },
  { etag, receivedMs }: Received,
): BlobDescription {
  return {
    kind: 'part',
    bucket: bucket.name,
    bucketId: bucket.id,
    bucketState: bucket,
    ...blob,
    partNumber: 1,
    checksum: undefined,
    encryption: undefined,
    salt: undefined,
    etag,
    writtenMs: receivedMs,
  }
}

function describe(
  bucket: BucketRecord,
  { attributes, data }: NewObject,
  { key, sequence, versionRandom, encryption, stampedAt }: ExpectedVersion,
  { etag, checksum, receivedMs }: Received,
): ObjectDescription {
  // Field by field, because every PUT runs this and a spread costs more.
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
  { attributes, data, madeBy = 'Put' }: NewObject,
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
    madeBy,
    attributesIn: undefined,
  }
  return record
}
