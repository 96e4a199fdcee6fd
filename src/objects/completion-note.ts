/** The note of a completed upload: a small blob that lists the object's parts and describes the object, so that shards alone can restore it (ADR 0021). */

import type { Manifest } from '../blobs/blobs.ts'
import { bytesSource } from '../byte-source.ts'
import type { Backend } from '../commits/backend.ts'
import type { KeyHistory } from '../commits/key-history.ts'
import { expectVersion, type NewRecord, stampedAttributes } from '../commits/new-version.ts'
import type { PartRecord } from '../records/records.ts'
import { DigestedPayload, writeBlob } from './incoming-data.ts'

/** A record whose note is not written yet. */
export type UnnotedRecord = Omit<NewRecord, 'data' | 'versionRandom' | 'stamped'> & {
  data: Extract<NewRecord['data'], { kind: 'parts' }>
}

/** What the note's bytes say about each part. */
export type NotedPart = Pick<PartRecord, 'number' | 'size' | 'etag'>

/** What the object's record takes over from its note. */
export interface CompletionNote extends Pick<NewRecord, 'versionRandom' | 'stamped'> {
  manifest: Manifest
}

/** Throws what `writeBlob` throws. */
export async function writeNote(
  backend: Backend,
  history: KeyHistory,
  record: UnnotedRecord,
  parts: readonly { record: PartRecord }[],
): Promise<CompletionNote> {
  const bucket = history.bucket.record
  const { key, sequence, versionRandom, encryption, random, stampedAt } = await expectVersion(backend, history, record)
  const noted: NotedPart[] = parts.map(({ record: { number, size, etag } }) => ({ number, size, etag }))
  const body = bytesSource(Buffer.from(JSON.stringify(noted)))
  const payload = new DigestedPayload(backend, { body }, undefined)
  const location = backend.blobs.locationFor(bucket.location, record.attributes.storageClass)
  const manifest = await writeBlob(backend, location, payload, ({ receivedMs }) => ({
    kind: 'completion',
    bucket: bucket.name,
    bucketId: bucket.id,
    bucketState: bucket,
    key,
    sequence,
    versionRandom,
    uploadId: record.data.uploadId,
    size: record.size,
    encryption,
    etag: record.etag,
    checksum: record.checksum,
    writtenMs: receivedMs,
    attributes: stampedAttributes(record.attributes, stampedAt(receivedMs)),
  }))
  return { manifest, versionRandom: random, stamped: stampedAt(payload.received.receivedMs) }
}
