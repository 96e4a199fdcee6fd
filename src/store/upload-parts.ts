/** Parts of an open upload: writing, listing, and reading all of them for completion. */
import { randomId } from '../clock.ts'
import { keyAfter } from '../kv/ordered-key.ts'
import { limits } from '../limits.ts'
import { commitDecision, garbagePut } from './commit.ts'
import { descriptionBytes } from './description-bytes.ts'
import { describePart } from './descriptions.ts'
import { blobEncryption, type CustomerKey, partBlob, uploadKeyOf } from './encryption.ts'
import { type BlobEncryption, type IncomingData, writeBlob } from './incoming-data.ts'
import { bucketKey, partKey, partsOf, uploadKey } from './keyspace.ts'
import { movePutsOfPart } from './move-queue.ts'
import { partCodec } from './record-codecs.ts'
import type { OpenUpload, PartRecord } from './records.ts'
import { repairPuts } from './repair-queue.ts'
import type { BucketScope } from './scope.ts'
import type { Store } from './store.ts'
import { type FoundUpload, findOpenUpload, type UploadAddress } from './uploads.ts'
import { keepingNoOrphan } from './write-object.ts'

export interface NewPart extends UploadAddress {
  number: number
  /** Chooses what to digest, knowing the upload. May throw when the client's checksum doesn't fit the upload's. */
  data(upload: OpenUpload): IncomingData
  customerKey?: CustomerKey | undefined
}

export interface WrittenPart {
  part: PartRecord
  encryption: OpenUpload['encryption']
}

/** Resolves when the part is durable; it replaces an earlier part of its number. Throws NoSuchUpload and what `writeBlob` throws. */
export async function writePart(store: Store, scope: BucketScope, part: NewPart): Promise<WrittenPart> {
  const before = await findOpenUpload(store, scope, part)
  const { uploadId, key: objectKey, number } = part
  const { encryption } = before.record
  const salt = encryption && randomId(store.clock)
  const data = part.data(before.record)
  const { manifest, digested } = await writeBlob(
    store,
    before.bucket.record.location,
    data,
    partEncryption(store, before.record, part, salt),
    (digests) =>
      descriptionBytes(
        describePart(
          before.bucket.record,
          { key: objectKey, uploadId, partNumber: number, size: data.body.size, encryption, salt },
          before.record,
          digests,
          store.clock.now(),
        ),
      ),
  )
  const key = partKey(uploadId, number)
  const owner = { kind: 'part', uploadId, number } as const
  return keepingNoOrphan(store, manifest, () =>
    commitDecision(store, async (attempt) => {
      const upload = attempt === 0 ? before : await findOpenUpload(store, scope, part)
      const [replaced] = await store.kv.get([key])
      const record: PartRecord = {
        number,
        size: data.body.size,
        etag: digested.etag,
        modifiedMs: store.clock.now(),
        checksum: digested.checksum === undefined ? undefined : { ...digested.checksum, type: 'FULL_OBJECT' },
        manifest,
        salt,
      }
      const puts = [
        { key, value: partCodec.encode(key, record) },
        ...repairPuts(store, owner, manifest),
        ...movePutsOfPart(upload.bucket.record, owner, manifest),
      ]
      if (replaced !== undefined) {
        const { manifest: old } = partCodec.decode(key, replaced.value)
        puts.push(garbagePut(store, { kind: 'blob', manifest: old, owner }))
      }
      return {
        result: { part: record, encryption },
        commit: {
          checks: [
            { key: bucketKey(scope.name), version: upload.bucket.version },
            { key: uploadKey(uploadId), version: upload.version },
            replaced === undefined ? { key, absent: true } : { key, version: replaced.version },
          ],
          puts,
        },
      }
    }),
  )
}

function partEncryption(
  store: Store,
  record: OpenUpload,
  { key, uploadId, number, customerKey }: NewPart,
  salt: string | undefined,
): BlobEncryption | undefined {
  const { encryption } = record
  const secret = uploadKeyOf(store, record, { key, uploadId }, customerKey)
  if (encryption === undefined || secret === undefined || salt === undefined) return undefined
  return blobEncryption({ secret, by: encryption.by }, partBlob(number, salt))
}

export interface PartPage {
  parts: PartRecord[]
  truncated: boolean
}

/** Parts numbered above `afterNumber`, in order. Throws NoSuchUpload, InvalidRequest. */
export async function listParts(
  store: Store,
  scope: BucketScope,
  query: UploadAddress & PartQuery & { customerKey?: CustomerKey | undefined },
): Promise<PartPage & { upload: FoundUpload & { record: OpenUpload } }> {
  const upload = await findOpenUpload(store, scope, query)
  // Not needed; when it comes, it must be the upload's.
  if (query.customerKey !== undefined) uploadKeyOf(store, upload.record, query, query.customerKey)
  return { upload, ...(await readPartPage(store, query.uploadId, query)) }
}

export interface PartQuery {
  afterNumber: number
  max: number
}

/** A page of the parts under an upload's id: of an open upload, or of the object that it became. */
export async function readPartPage(store: Store, uploadId: string, { afterNumber, max }: PartQuery): Promise<PartPage> {
  const { end } = partsOf(uploadId)
  const start = keyAfter(partKey(uploadId, afterNumber))
  const entries = await store.kv.range({ start, end, limit: max + 1 })
  return {
    parts: entries.slice(0, max).map((entry) => partCodec.decode(entry.key, entry.value)),
    truncated: entries.length > max,
  }
}

export interface StoredPart {
  record: PartRecord
  version: number
}

/** Every part of an upload by number. */
export async function readAllParts(store: Store, uploadId: string): Promise<Map<number, StoredPart>> {
  const parts = new Map<number, StoredPart>()
  const { start, end } = partsOf(uploadId)
  for (const entry of await store.kv.range({ start, end, limit: limits.partNumberMax })) {
    const record = partCodec.decode(entry.key, entry.value)
    parts.set(record.number, { record, version: entry.version })
  }
  return parts
}
