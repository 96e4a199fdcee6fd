/** Reads a version of a key: its record, and a verified range of its bytes. */
import { type ByteSource, bytesSource } from '../byte-source.ts'
import type { Backend } from '../commits/backend.ts'
import { bindingOf, type CustomerKey, objectKeyOf, wholeBlob } from '../commits/encryption.ts'
import type { BucketScope } from '../commits/scope.ts'
import { blobKey } from '../encryption/object-key.ts'
import type { ObjectRecord } from '../records/records.ts'
import type { ByteRange } from '../rules/byte-range.ts'
import type { VersionInBucket } from '../rules/versions.ts'
import { ShardMissing } from '../stores/shard-store.ts'
import type { VersionAddress } from './change-version.ts'
import { type FoundVersion, findVersion } from './find-version.ts'
import { openParts } from './object-parts.ts'
import { openBlob } from './open-blob.ts'

export interface OpenedObject<P> extends VersionInBucket {
  /** What `plan` returned for the record. */
  planned: P
  body: ByteSource
}

export interface ReadAddress extends VersionAddress {
  /** Required for objects that were written with a customer's key, and refused for others. */
  customerKey?: CustomerKey | undefined
}

const moveRetriesMax = 3

export interface ReadableVersion extends FoundVersion {
  /** Absent: not encrypted. */
  objectKey: Buffer | undefined
}

/** Finds a version, with the key that opens it. Throws what `findVersion` and `objectKeyOf` throw. */
export async function findReadable(
  backend: Backend,
  scope: BucketScope,
  { key, versionId, customerKey }: ReadAddress,
): Promise<ReadableVersion> {
  const found = await findVersion(backend, scope, key, versionId)
  const { bucket, record, entry } = found
  // The path of nearly every request.
  if (record.encryption === undefined && customerKey === undefined) {
    return { bucket, record, entry, objectKey: undefined }
  }
  const binding = bindingOf(bucket.record.id, key, record)
  return { bucket, record, entry, objectKey: objectKeyOf(backend, record.encryption, binding, customerKey) }
}

/**
 * Opens the range of a version that `plan` returns; `plan` throws to refuse (conditions, range). If compaction moves the bytes between lookup and
 * opening, this reads the record again and calls `plan` again. Throws what `findReadable` and `plan` throw.
 */
export async function openObject<P extends { range: ByteRange }>(
  backend: Backend,
  scope: BucketScope,
  address: ReadAddress,
  plan: (record: ObjectRecord) => P,
): Promise<OpenedObject<P>> {
  for (let attempt = 1; ; attempt++) {
    const { bucket, record, objectKey } = await findReadable(backend, scope, address)
    const planned = plan(record)
    try {
      const body = await openData(backend, { bucket: scope.name, key: address.key }, record, planned.range, objectKey)
      return { bucket: bucket.record, record, planned, body }
    } catch (error) {
      if (!(error instanceof ShardMissing) || attempt === moveRetriesMax) throw error
    }
  }
}

function openData(
  backend: Backend,
  name: { bucket: string; key: string },
  record: ObjectRecord,
  range: ByteRange,
  objectKey: Buffer | undefined,
): Promise<ByteSource> {
  if (range.end === range.start) return Promise.resolve(bytesSource(Buffer.alloc(0)))
  const { data, size } = record
  if (data.kind === 'parts') return openParts(backend, data, range, objectKey)
  return openBlob(backend, data.manifest, range, {
    owner: { kind: 'version', ...name, sequence: record.sequence },
    size,
    key: objectKey && blobKey(objectKey, wholeBlob),
  })
}
