/** Walks the blobs of one bucket: parts of open uploads first, then current versions, then older ones, so that an upload that is completed meanwhile is met. */
import type { Entry, Kv } from '../kv/kv.ts'
import { historyKeyOf, historyOfBucket, ObjectKeys, openUploadOf, openUploads, partsOf } from '../store/keyspace.ts'
import { versionCodec } from '../store/record-codecs.ts'
import type { BucketRecord } from '../store/records.ts'
import { type BlobReference, referenceOfPart, referenceOfVersion } from './blob-reference.ts'
import { everyEntry } from './every-entry.ts'

export async function* blobsOfBucket(kv: Kv, { name, id }: BucketRecord): AsyncGenerator<BlobReference> {
  for await (const { key } of everyEntry(kv, openUploads(id))) yield* blobsOfParts(kv, openUploadOf(key).uploadId)
  const objects = new ObjectKeys(name)
  for await (const entry of everyEntry(kv, objects.startingWith(''))) {
    yield* blobsOfVersion(kv, name, objects.unpack(entry.key), entry)
  }
  for await (const entry of everyEntry(kv, historyOfBucket(name))) {
    yield* blobsOfVersion(kv, name, historyKeyOf(entry.key), entry)
  }
}

async function* blobsOfVersion(kv: Kv, bucket: string, key: string, entry: Entry): AsyncGenerator<BlobReference> {
  const reference = referenceOfVersion(bucket, key, entry)
  if (reference !== undefined) yield reference
  else {
    const version = versionCodec.decode(entry.key, entry.value)
    if (version.kind === 'object' && version.data.kind === 'parts') yield* blobsOfParts(kv, version.data.uploadId)
  }
}

export async function* blobsOfParts(kv: Kv, uploadId: string): AsyncGenerator<BlobReference> {
  for await (const entry of everyEntry(kv, partsOf(uploadId))) yield referenceOfPart(entry)
}
