/** Begins, finds and lists multipart uploads. Parts are in `upload-parts`, their ends in `complete-upload` and `abort-upload`. */
import { timeOrderedId } from '../clock.ts'
import type { Backend } from '../commits/backend.ts'
import { commitDecision } from '../commits/commit.ts'
import { type EncryptionRequest, encryptionFor, newObjectKey } from '../commits/encryption.ts'
import { checkLockRequest } from '../commits/lock-request.ts'
import { wrappingChecks } from '../commits/newest-wrapping.ts'
import { withinQuota } from '../commits/quota.ts'
import { admitted, type BucketScope, type FoundBucket, lastSeen, viewInBucket } from '../commits/scope.ts'
import { usageChange } from '../commits/usage.ts'
import { invalidArgument, S3Error } from '../errors.ts'
import type { Key, RangeQuery, Version } from '../kv/kv.ts'
import { keyAfter, later } from '../kv/ordered-key.ts'
import type { BucketRecord } from '../records/bucket-record.ts'
import {
  bucketKey,
  noValue,
  openUploadKey,
  openUploadOf,
  openUploadsFold,
  openUploadsOfKey,
  openUploadsStartingWith,
  uploadKey,
} from '../records/keyspace.ts'
import { uploadCodec } from '../records/record-codecs.ts'
import type { OpenUpload, UploadRecord } from '../records/records.ts'
import { findsMax, groupOf, type Line, type ListingQuery, type Page, pageOf, startBehind } from '../rules/listing.ts'
import { usageOfOpenUpload } from '../rules/quota.ts'
import { type NewObject, withAccess } from './write-object.ts'

export interface UploadAddress {
  key: string
  uploadId: string
}

export interface FoundUpload extends UploadAddress {
  bucket: FoundBucket
  record: UploadRecord
  version: Version
}

export type FoundOpenUpload = FoundUpload & { record: OpenUpload }

/** The form of the ids that `createUpload` makes. Clients can send any text of any length, and only these may go into a metadata key. */
const uploadIdForm = /^[0-9a-f]{32}$/

/** Throws NoSuchUpload unless the upload, open or completed, belongs to this bucket and key. */
export async function findUpload(backend: Backend, scope: BucketScope, address: UploadAddress): Promise<FoundUpload> {
  const key = uploadKey(uploadIdForm.test(address.uploadId) ? address.uploadId : '')
  const [bucketEntry, entry] = await backend.kv.get([bucketKey(scope.name), key])
  const found = entry && uploadCodec.decode(key, entry.value)
  const record = found?.key === address.key ? found : undefined
  const bucket = admitted(scope, bucketEntry, undefined, record)
  if (entry === undefined || record?.bucketId !== bucket.record.id) throw noSuchUpload(address.uploadId)
  return { ...address, bucket, record, version: entry.version }
}

/**
 * Throws InvalidArgument for a place in a listing that can't be one: an id of another form, or that of an upload to another key. The upload itself may have ended since.
 */
export async function checkUploadMarker({ kv }: Backend, { key, uploadId }: UploadAddress): Promise<void> {
  const [entry] = uploadIdForm.test(uploadId) ? await kv.get([uploadKey(uploadId)]) : [undefined]
  const isOfKey = entry === undefined || uploadCodec.decode(entry.key, entry.value).key === key
  if (uploadIdForm.test(uploadId) && isOfKey) return
  throw invalidArgument('upload-id-marker', uploadId, 'Invalid uploadId marker')
}

/** Throws NoSuchUpload also when the upload has been completed. */
export async function findOpenUpload(
  backend: Backend,
  scope: BucketScope,
  address: UploadAddress,
): Promise<FoundOpenUpload> {
  const found = await findUpload(backend, scope, address)
  const { record } = found
  if (record.state !== 'open') throw noSuchUpload(address.uploadId)
  return { ...found, record }
}

export function noSuchUpload(uploadId: string): S3Error {
  return new S3Error('NoSuchUpload', { details: { UploadId: uploadId } })
}

export interface NewUpload
  extends Omit<OpenUpload, 'state' | 'bucketId' | 'initiatedMs' | 'encryption'>,
    Pick<NewObject, 'accessIn'> {
  /** Absent: the bucket's default. */
  encryption?: EncryptionRequest | undefined
}

export interface CreatedUpload {
  bucket: BucketRecord
  uploadId: string
  upload: OpenUpload
}

/** Throws NoSuchBucket, QuotaExceeded, or what the scope throws. */
export async function createUpload(backend: Backend, scope: BucketScope, upload: NewUpload): Promise<CreatedUpload> {
  const uploadId = timeOrderedId(backend.clock)
  const readBucket = async (): Promise<FoundBucket> =>
    admitted(scope, (await backend.kv.get([bucketKey(scope.name)]))[0])
  const before = await readBucket()
  return withinQuota(backend, before.record, emptyUpload, (cap) =>
    commitDecision(backend, async (attempt) => {
      const bucket = attempt === 0 ? before : await readBucket()
      const { created, commit } = await placeUpload(backend, bucket, uploadId, upload)
      return { result: created, commit: cap === undefined ? commit : await cap(commit, emptyUpload) }
    }),
  )
}

const emptyUpload = usageOfOpenUpload([])

async function placeUpload(backend: Backend, bucket: FoundBucket, uploadId: string, upload: NewUpload) {
  const { id, name, quota } = bucket.record
  await checkLockRequest(backend, bucket.record, upload.attributes)
  const asked = encryptionFor(bucket.record, upload.encryption)
  const { accessIn: _, ...owned } = withAccess(upload, bucket.record)
  const record: OpenUpload = {
    ...owned,
    state: 'open',
    bucketId: id,
    initiatedMs: backend.clock.now(),
    initiator: upload.initiator === bucket.record.owner ? undefined : upload.initiator,
    encryption: asked && newObjectKey(backend, asked).wrap({ bucketId: id, key: upload.key, owner: { uploadId } }),
  }
  const key = uploadKey(uploadId)
  return {
    created: { bucket: bucket.record, uploadId, upload: record },
    commit: {
      grows: true,
      checks: [{ key: bucketKey(name), version: bucket.version }, ...wrappingChecks(backend, record.encryption)],
      puts: [
        { key, value: uploadCodec.encode(key, record) },
        { key: openUploadKey(id, upload.key, uploadId), value: noValue },
        ...(quota === undefined ? [] : usageChange(backend, id, emptyUpload)),
      ],
    },
  }
}

export interface ListedUpload extends UploadAddress {
  upload: OpenUpload | undefined
}

export interface UploadQuery extends ListingQuery {
  /** Lists uploads of keys after this one; with `uploadIdMarker`, also the uploads of this key with a greater id. */
  keyMarker: string | undefined
  uploadIdMarker: string | undefined
}

/** One page of a bucket's open uploads, by key and then by time of initiation. */
export async function listUploads(
  backend: Backend,
  scope: BucketScope,
  query: UploadQuery,
): Promise<{ bucket: BucketRecord; page: Page<ListedUpload> }> {
  const { bucket, found } = await viewUploads(backend, scope, query)
  const page = pageOf(query, found)
  const keys = page.entries.map(({ uploadId }) => uploadKey(uploadId))
  const records = keys.length === 0 ? [] : await backend.kv.get(keys)
  const entries = page.entries.map((address, i) => {
    const entry = records[i]
    const upload = entry === undefined ? undefined : uploadCodec.decode(entry.key, entry.value)
    return { ...address, upload: upload?.state === 'open' ? upload : undefined }
  })
  return { bucket, page: { ...page, entries } }
}

/** The index is keyed by the bucket's id. This tries the remembered id first, and looks again in the rare case that the bucket has another id by now. */
async function viewUploads(
  backend: Backend,
  scope: BucketScope,
  query: UploadQuery,
): Promise<{ bucket: BucketRecord; found: Line<UploadAddress>[] }> {
  for (let id = lastSeen(scope.name)?.id; ; ) {
    const { bucket, found } = await viewInBucket(
      backend,
      scope,
      id === undefined || query.max === 0 ? [] : [indexOf(id, query)],
      ({ key }): Line<UploadAddress> => {
        const address = openUploadOf(key)
        return groupOf(address.key, query.prefix, query.delimiter) ?? address
      },
    )
    if (bucket.id === id || query.max === 0) return { bucket, found: found[0] ?? [] }
    id = bucket.id
  }
}

function indexOf(bucketId: string, query: UploadQuery): RangeQuery {
  const range = openUploadsStartingWith(bucketId, query.prefix)
  return {
    start: later(range.start, startOf(bucketId, query)),
    end: range.end,
    limit: findsMax(query),
    fold: openUploadsFold(bucketId, query),
  }
}

function startOf(bucketId: string, query: UploadQuery): Key | undefined {
  const { keyMarker, uploadIdMarker } = query
  if (keyMarker === undefined) return undefined
  const start = startBehind(keyMarker, query)
  if ('afterGroup' in start) return openUploadsStartingWith(bucketId, start.afterGroup).end
  return uploadIdMarker === undefined
    ? openUploadsOfKey(bucketId, keyMarker).end
    : keyAfter(openUploadKey(bucketId, keyMarker, uploadIdMarker))
}
