/**
 * Walks the blobs of one bucket, from any position: parts of open uploads first, then current versions, then older ones. In this order, the walk also meets blobs
 * that are completed or overwritten meanwhile.
 */
import type { Entry, Kv } from '../kv/kv.ts'
import type { KeyRange } from '../kv/ordered-key.ts'
import type { BucketRecord } from '../records/bucket-record.ts'
import {
  historyKeyOf,
  historyOfBucket,
  ObjectKeys,
  openUploadOf,
  openUploads,
  partsOf,
  uploadKey,
} from '../records/keyspace.ts'
import { uploadCodec, versionCodec } from '../records/record-codecs.ts'
import type { NamedObject } from '../records/records.ts'
import type { StorageClass } from '../storage-class.ts'
import { type BlobReference, referenceOfPart, referenceOfVersion } from './blob-reference.ts'
import { everyEntry } from './every-entry.ts'

export interface WalkedBlob {
  reference: BlobReference
  /** A walk from here begins with the blobs of the same record or upload, this one among them. */
  position: string
  /** The object that the blob belongs to. */
  object: NamedObject
  /** That of the object. Absent: STANDARD. */
  storageClass: StorageClass | undefined
}

type InOneRecord = Omit<WalkedBlob, 'position'>

interface Pass {
  range: KeyRange
  blobsOf(entry: Entry): AsyncIterable<InOneRecord>
}

/** `from`: a position of an earlier walk. Absent: from the start. */
export async function* walkBlobs(kv: Kv, bucket: BucketRecord, from?: string): AsyncGenerator<WalkedBlob> {
  const [firstPass, firstKey] = from === undefined ? [0, undefined] : readPosition(from)
  for (const [at, { range, blobsOf }] of passesOf(kv, bucket).entries()) {
    if (at < firstPass) continue
    const start = at === firstPass && firstKey !== undefined ? firstKey : range.start
    for await (const entry of everyEntry(kv, { start, end: range.end })) {
      const position = `${at}:${entry.key.toString('base64')}`
      for await (const blob of blobsOf(entry)) yield { ...blob, position }
    }
  }
}

function passesOf(kv: Kv, { name, id }: BucketRecord): Pass[] {
  const objects = new ObjectKeys(name)
  return [
    {
      range: openUploads(id),
      blobsOf: (entry) => {
        const { key, uploadId } = openUploadOf(entry.key)
        return blobsOfUpload(kv, uploadId, { bucket: name, key })
      },
    },
    { range: objects.startingWith(''), blobsOf: (entry) => blobsOfVersion(kv, name, objects.unpack(entry.key), entry) },
    { range: historyOfBucket(name), blobsOf: (entry) => blobsOfVersion(kv, name, historyKeyOf(entry.key), entry) },
  ]
}

function readPosition(position: string): [number, Buffer] {
  const [pass = '', key = ''] = position.split(':')
  return [Number(pass), Buffer.from(key, 'base64')]
}

async function* blobsOfVersion(kv: Kv, bucket: string, key: string, entry: Entry): AsyncGenerator<InOneRecord> {
  const reference = referenceOfVersion(bucket, key, entry)
  const version = versionCodec.decode(entry.key, entry.value)
  if (version.kind === 'marker') return
  const object = { bucket, key, versionId: version.versionId }
  const { storageClass } = version.attributes
  if (reference !== undefined) yield { reference, object, storageClass }
  // The reference is to the note that names them.
  if (version.data.kind === 'parts') yield* blobsOfParts(kv, version.data.uploadId, { object, storageClass })
}

async function* blobsOfUpload(kv: Kv, uploadId: string, object: NamedObject): AsyncGenerator<InOneRecord> {
  const key = uploadKey(uploadId)
  const [entry] = await kv.get([key])
  const upload = entry && uploadCodec.decode(key, entry.value)
  const storageClass = upload?.state === 'open' ? upload.attributes.storageClass : undefined
  yield* blobsOfParts(kv, uploadId, { object, storageClass })
}

async function* blobsOfParts(
  kv: Kv,
  uploadId: string,
  of: Pick<WalkedBlob, 'object' | 'storageClass'>,
): AsyncGenerator<InOneRecord> {
  for await (const entry of everyEntry(kv, partsOf(uploadId))) yield { reference: referenceOfPart(entry), ...of }
}
