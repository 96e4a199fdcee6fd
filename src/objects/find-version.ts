/** Finds the version of a key that a request means, in as few round trips as its bucket allows. */

import type { Backend } from '../commits/backend.ts'
import { requireAbsent } from '../commits/proven-absence.ts'
import { admitted, type BucketScope, type FoundBucket } from '../commits/scope.ts'
import { S3Error } from '../errors.ts'
import type { Entry } from '../kv/kv.ts'
import { limits } from '../limits.ts'
import { bucketKey, historyKey, historyOf, nullVersionKey, objectKey } from '../records/keyspace.ts'
import type { ObjectAttributes } from '../records/object-attributes.ts'
import { nullVersionCodec, objectCodec, versionCodec } from '../records/record-codecs.ts'
import type { DeleteMarker, ObjectRecord, VersionRecord } from '../records/records.ts'
import { nullVersionId, sequenceOf } from '../records/version-id.ts'

export interface FoundVersion {
  bucket: FoundBucket
  record: ObjectRecord
  /** The entry that holds the record: under `objectKey`, or in the history. */
  entry: Entry
}

/** What a key is whose newest version is a delete marker: to S3 that depends on the operation. */
export type DeletedKey = 'absent' | 'refused'

/**
 * The object with this version id, or the current one. Throws NoSuchBucket, NoSuchKey, NoSuchVersion, what the scope throws, and MethodNotAllowed
 * when the id names a delete marker, or when the newest version is one and that is to be refused.
 */
export function findVersion(
  backend: Pick<Backend, 'kv'>,
  scope: BucketScope,
  key: string,
  versionId: string | undefined,
  deleted: DeletedKey = 'absent',
): Promise<FoundVersion> {
  return versionId === undefined ? findCurrent(backend, scope, key, deleted) : findNamed(backend, scope, key, versionId)
}

async function findCurrent(
  backend: Pick<Backend, 'kv'>,
  scope: BucketScope,
  key: string,
  deleted: DeletedKey,
): Promise<FoundVersion> {
  const [bucketEntry, entry] = await backend.kv.get([bucketKey(scope.name), objectKey(scope.name, key)])
  const bucket = admitted(scope, bucketEntry, () => entry && objectCodec.decode(entry.key, entry.value).attributes)
  if (entry !== undefined) return { bucket, entry, record: objectCodec.decode(entry.key, entry.value) }
  await requireAbsent(backend, objectKey(scope.name, key))
  const newest =
    bucket.record.versioning === 'unversioned' ? undefined : await newestOfHistory(backend, scope.name, key)
  if (newest?.kind === 'marker' && deleted === 'refused') throw isMarker(newest)
  throw new S3Error('NoSuchKey', {
    details: { Key: key },
    vendorHeaders: newest?.kind === 'marker' ? { 'delete-marker': 'true', 'version-id': newest.versionId } : {},
  })
}

/** Without a current object, the newest version of the history is a delete marker, unless another request wrote between the two reads. */
async function newestOfHistory(
  backend: Pick<Backend, 'kv'>,
  bucket: string,
  key: string,
): Promise<VersionRecord | undefined> {
  const [entry] = await backend.kv.range({ ...historyOf(bucket, key), limit: 1 })
  return entry && versionCodec.decode(entry.key, entry.value)
}

async function findNamed(
  backend: Pick<Backend, 'kv'>,
  scope: BucketScope,
  key: string,
  versionId: string,
): Promise<FoundVersion> {
  const isNull = versionId === nullVersionId
  const olderOrPointer = isNull ? nullVersionKey(scope.name, key) : historyKey(scope.name, key, sequenceOf(versionId))
  for (let attempt = 1; ; attempt++) {
    const [bucketEntry, currentEntry, otherEntry] = await backend.kv.get([
      bucketKey(scope.name),
      objectKey(scope.name, key),
      olderOrPointer,
    ])
    const pointer = isNull ? otherEntry : undefined
    const older = pointer === undefined ? otherEntry : await behindPointer(backend, scope.name, key, pointer)
    const found = () => versionAmong([currentEntry, older], versionId)
    const bucket = admitted(scope, bucketEntry, () => attributesOf(found()?.record))
    const { entry, record } = found() ?? {}
    if (record?.kind === 'marker') throw isMarker(record)
    if (entry !== undefined && record !== undefined) return { bucket, entry, record }
    // The pointer leads nowhere when the null version moved between the two reads. Then try again.
    if (pointer === undefined || attempt === limits.commitRetriesMax) {
      if (currentEntry === undefined) await requireAbsent(backend, objectKey(scope.name, key))
      if (otherEntry === undefined) await requireAbsent(backend, olderOrPointer)
      throw new S3Error('NoSuchVersion', { details: { Key: key, VersionId: versionId } })
    }
  }
}

function versionAmong(entries: readonly (Entry | undefined)[], versionId: string) {
  for (const entry of entries) {
    if (entry === undefined) continue
    const record = versionCodec.decode(entry.key, entry.value)
    if (record.versionId === versionId) return { entry, record }
  }
  return undefined
}

const attributesOf = (record: VersionRecord | undefined): ObjectAttributes | undefined =>
  record?.kind === 'object' ? record.attributes : undefined

async function behindPointer(
  backend: Pick<Backend, 'kv'>,
  bucket: string,
  key: string,
  pointer: Entry,
): Promise<Entry | undefined> {
  const { sequence } = nullVersionCodec.decode(pointer.key, pointer.value)
  const [entry] = await backend.kv.get([historyKey(bucket, key, sequence)])
  return entry
}

function isMarker(marker: DeleteMarker): S3Error {
  return new S3Error('MethodNotAllowed', {
    headers: { Allow: 'DELETE', 'Last-Modified': new Date(marker.modifiedMs).toUTCString() },
    vendorHeaders: { 'delete-marker': 'true', 'version-id': marker.versionId },
    details: { ResourceType: 'DeleteMarker' },
  })
}
