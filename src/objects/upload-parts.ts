/** Writes the parts of an upload, lists them, and reads all of them for its completion. */

import { randomId } from '../clock.ts'
import type { Backend } from '../commits/backend.ts'
import { commitDecision, type Decision, garbagePut } from '../commits/commit.ts'
import {
  type BlobEncryption,
  blobEncryption,
  type EncryptionRequest,
  partBlob,
  uploadKeyOf,
} from '../commits/encryption.ts'
import { movePutsOfPart } from '../commits/move-queue.ts'
import { type Cap, refuseBeyondQuota, withinQuota } from '../commits/quota.ts'
import { repairPuts } from '../commits/repair-queue.ts'
import type { BucketScope } from '../commits/scope.ts'
import { usageChange } from '../commits/usage.ts'
import type { Check, Version } from '../kv/kv.ts'
import { keyAfter } from '../kv/ordered-key.ts'
import { limits } from '../limits.ts'
import { bucketKey, partKey, partsOf, uploadKey } from '../records/keyspace.ts'
import { partCodec } from '../records/record-codecs.ts'
import type { OpenUpload, PartRecord } from '../records/records.ts'
import type { Usage } from '../records/usage.ts'
import { usageOfOpenUpload } from '../rules/quota.ts'
import { DigestedPayload, type IncomingData, removeIfRefused, writeBlob } from './incoming-data.ts'
import { type FoundOpenUpload, type FoundUpload, findOpenUpload, type UploadAddress } from './uploads.ts'

export interface NewPart extends UploadAddress {
  number: number
  /** The data, with the digests that the upload calls for. Can throw when the client's checksum does not fit the upload's. */
  data(upload: OpenUpload): IncomingData
  /** A customer's key must come with each part. Any other encryption must match the upload's. */
  encryption?: EncryptionRequest | undefined
}

export interface WrittenPart {
  part: PartRecord
  encryption: OpenUpload['encryption']
}

/** Resolves when the part is durable. It replaces an earlier part with the same number. Throws NoSuchUpload, QuotaExceeded and what `writeBlob` throws. */
export async function writePart(backend: Backend, scope: BucketScope, part: NewPart): Promise<WrittenPart> {
  const before = await findOpenUpload(backend, scope, part)
  const { record: upload } = before
  const { record: bucket } = before.bucket
  const { encryption } = upload
  const salt = encryption && randomId(backend.clock)
  const data = part.data(upload)
  const { size } = data.body
  if (bucket.quota !== undefined) {
    const replaced = await readPart(backend, part.uploadId, part.number)
    await refuseBeyondQuota(backend, bucket, { bytes: size - (replaced?.size ?? 0), objects: 0 })
  }
  const payload = new DigestedPayload(backend, data, partEncryption(backend, upload, part, salt))
  const location = backend.blobs.locationFor(bucket.location, upload.attributes.storageClass)
  const manifest = await writeBlob(backend, location, payload, ({ etag, checksum, receivedMs }) => ({
    kind: 'part',
    bucket: bucket.name,
    bucketId: bucket.id,
    bucketState: bucket,
    key: part.key,
    uploadId: part.uploadId,
    partNumber: part.number,
    size,
    encryption,
    salt,
    upload,
    etag,
    checksum,
    writtenMs: receivedMs,
  }))
  try {
    const { etag, checksum: computed } = payload.received
    const checksum = computed && { ...computed, type: 'FULL_OBJECT' as const }
    const record = { number: part.number, size, etag, checksum, manifest, salt }
    return { part: await commitPart(backend, scope, before, record), encryption }
  } catch (error) {
    await removeIfRefused(backend, manifest, error)
    throw error
  }
}

/** Commits the part under its number if the upload is still open. The first attempt uses `before`. */
function commitPart(
  backend: Backend,
  scope: BucketScope,
  before: FoundOpenUpload,
  part: Omit<PartRecord, 'modifiedMs'>,
): Promise<PartRecord> {
  const { uploadId } = before
  const { number, manifest } = part
  const key = partKey(uploadId, number)
  const owner = { kind: 'part', uploadId, number } as const
  const decide = async (attempt: number, cap: Cap | undefined): Promise<Decision<PartRecord>> => {
    const upload = attempt === 0 ? before : await findOpenUpload(backend, scope, before)
    const [replaced] = await backend.kv.get([key])
    const record: PartRecord = { ...part, modifiedMs: backend.clock.now() }
    const puts = [
      { key, value: partCodec.encode(key, record) },
      ...repairPuts(backend, owner, manifest),
      ...movePutsOfPart(backend, upload.bucket.record, owner, manifest, upload.record.attributes),
    ]
    const growth = { bytes: part.size, objects: 0 }
    if (replaced !== undefined) {
      const { manifest: old, size } = partCodec.decode(key, replaced.value)
      puts.push(garbagePut(backend, { kind: 'blob', manifest: old, owner }))
      growth.bytes -= size
    }
    const { quota, id } = upload.bucket.record
    if (quota !== undefined) puts.push(...usageChange(backend, id, growth))
    const checks = [
      { key: bucketKey(scope.name), version: upload.bucket.version },
      { key: uploadKey(uploadId), version: upload.version },
      replaced === undefined ? { key, absent: true as const } : { key, version: replaced.version },
    ]
    const commit = { grows: true, checks, puts }
    return { result: record, commit: cap === undefined ? commit : await cap(commit, growth) }
  }
  return withinQuota(backend, before.bucket.record, { bytes: part.size, objects: 0 }, (cap) =>
    commitDecision(backend, (attempt) => decide(attempt, cap)),
  )
}

function partEncryption(
  backend: Backend,
  record: OpenUpload,
  { key, uploadId, number, encryption: request }: NewPart,
  salt: string | undefined,
): BlobEncryption | undefined {
  const { encryption } = record
  const secret = uploadKeyOf(backend, record, { key, uploadId }, request)
  if (encryption === undefined || secret === undefined || salt === undefined) return undefined
  return blobEncryption({ secret, by: encryption.by }, partBlob(number, salt))
}

export interface PartPage {
  parts: PartRecord[]
  truncated: boolean
}

/** Parts numbered above `afterNumber`, in order. Throws NoSuchUpload, InvalidRequest. */
export async function listParts(
  backend: Backend,
  scope: BucketScope,
  query: UploadAddress & PartQuery & { encryption?: EncryptionRequest | undefined },
): Promise<PartPage & { upload: FoundUpload & { record: OpenUpload } }> {
  const upload = await findOpenUpload(backend, scope, query)
  // Clients need not send it. If they do, it must match the upload's.
  if (query.encryption !== undefined) uploadKeyOf(backend, upload.record, query, query.encryption)
  return { upload, ...(await readPartPage(backend, query.uploadId, query)) }
}

export interface PartQuery {
  afterNumber: number
  max: number
}

/** A page of the parts under an upload's id: of an open upload, or of the object that was made from it. */
export async function readPartPage(
  backend: Backend,
  uploadId: string,
  { afterNumber, max }: PartQuery,
): Promise<PartPage> {
  const { end } = partsOf(uploadId)
  const start = keyAfter(partKey(uploadId, afterNumber))
  const entries = await backend.kv.range({ start, end, limit: max + 1 })
  return {
    parts: entries.slice(0, max).map((entry) => partCodec.decode(entry.key, entry.value)),
    truncated: entries.length > max,
  }
}

/** One part under an upload's id. */
export async function readPart(backend: Backend, uploadId: string, number: number): Promise<PartRecord | undefined> {
  const key = partKey(uploadId, number)
  const [entry] = await backend.kv.get([key])
  return entry && partCodec.decode(key, entry.value)
}

export interface StoredPart {
  record: PartRecord
  version: Version
}

/** Every part of an upload by number. */
export async function readAllParts(backend: Backend, uploadId: string): Promise<Map<number, StoredPart>> {
  const parts = new Map<number, StoredPart>()
  const { start, end } = partsOf(uploadId)
  for (const entry of await backend.kv.range({ start, end, limit: limits.partNumberMax })) {
    const record = partCodec.decode(entry.key, entry.value)
    parts.set(record.number, { record, version: entry.version })
  }
  return parts
}

/** Checks that each part is the one that was read, and that there is no other: a part that arrived later would never be reclaimed. */
export function* partChecks(uploadId: string, parts: Iterable<StoredPart>): Generator<Check> {
  const all = partsOf(uploadId)
  let start = all.start
  for (const { record, version } of parts) {
    const key = partKey(uploadId, record.number)
    if (Buffer.compare(start, key) < 0) yield { emptyFrom: start, emptyTo: key }
    yield { key, version }
    start = partKey(uploadId, record.number + 1)
  }
  yield { emptyFrom: start, emptyTo: all.end }
}

/** What an open upload with these parts adds to its bucket. */
export const usageOfParts = (parts: ReadonlyMap<number, StoredPart>): Usage =>
  usageOfOpenUpload([...parts.values()].map(({ record }) => record))
