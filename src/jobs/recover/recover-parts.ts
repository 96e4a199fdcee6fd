/** The parts of uploads. Notes name the parts of uploads completed since the snapshot; other parts come back as open uploads. */

import type { Manifest } from '../../blobs/blobs.ts'
import { timeOfId } from '../../clock.ts'
import type { BucketRecord } from '../../records/bucket-record.ts'
import { readDescription } from '../../records/description-bytes.ts'
import type { PartDescription } from '../../records/descriptions.ts'
import { noValue, openUploadKey, partKey, partsOf, uploadKey } from '../../records/keyspace.ts'
import { partCodec, uploadCodec } from '../../records/record-codecs.ts'
import type { CompletedUpload, OpenUpload, PartRecord, UploadRecord } from '../../records/records.ts'
import { nullVersionId } from '../../records/version-id.ts'
import { everyEntry } from '../every-entry.ts'
import { notRecovered, type Recovery, Writes } from './context.ts'
import { assembleBlob, writtenTo } from './found-blobs.ts'
import type { ShardGroup, StagedNote } from './staging.ts'

interface FoundPart {
  description: PartDescription
  manifest: Manifest
}

export async function recoverParts(recovery: Recovery, buckets: ReadonlyMap<string, BucketRecord>): Promise<void> {
  const { staging } = recovery
  const writes = new Writes(recovery)
  for await (const group of staging.groups('p')) {
    const found = foundParts(recovery, group, buckets, writes)
    await recoverPart(recovery, group.of[0], Number(group.of[1]), found, writes)
    // Recovering the next part of the upload reads what was written for this one.
    await writes.flush()
  }
  for await (const [uploadId, note] of staging.notes()) await complete(recovery, uploadId, note)
}

function foundParts(
  { locations, report }: Recovery,
  { of, blobs }: ShardGroup,
  buckets: ReadonlyMap<string, BucketRecord>,
  writes: Writes,
): FoundPart[] {
  const found: FoundPart[] = []
  for (const shards of blobs.values()) {
    const description = shards[0] && readDescription(shards[0].raw)
    if (description?.kind !== 'part') continue
    const blob = assembleBlob(shards, locations, writtenTo(locations, description))
    if (!blob.isReadable) {
      report.incomplete += 1
      notRecovered(report, `part ${of[1]} of upload ${of[0]}: ${blob.found} shards, and ${blob.needed} are needed`)
      continue
    }
    writes.garbage(...blob.surplus)
    if (buckets.get(description.bucket)?.id !== description.bucketId) writes.garbage(blob.manifest)
    else found.push({ description, manifest: blob.manifest })
  }
  return found.sort((a, b) => a.description.writtenMs - b.description.writtenMs)
}

async function recoverPart(
  recovery: Recovery,
  uploadId: string,
  number: number,
  found: readonly FoundPart[],
  writes: Writes,
): Promise<void> {
  const { kv, staging } = recovery
  const [key, upKey] = [partKey(uploadId, number), uploadKey(uploadId)]
  const [entry, upEntry] = await kv.get([key, upKey])
  const known = entry && partCodec.decode(key, entry.value)
  const upload = upEntry && uploadCodec.decode(upKey, upEntry.value)
  const note = await staging.note(uploadId)
  const same = known && found.findLast((part) => isSame(known, part))
  const chosen = await choose(recovery, { uploadId, number, found, known, same, upload, note })
  writes.garbage(...found.filter((part) => part !== chosen && part !== same).map(({ manifest }) => manifest))
  if (chosen === undefined) return
  if (known !== undefined && chosen !== same) writes.garbage((same ?? known).manifest)
  const record = known !== undefined && chosen === same ? { ...known, manifest: chosen.manifest } : recordOf(chosen)
  writes.put({ key, value: partCodec.encode(key, record) })
  const { description } = chosen
  if (description.encryption?.wrappedBy !== undefined) {
    recovery.wrappedBy.add(`${description.encryption.wrappedBy.name} ${description.encryption.wrappedBy.id}`)
  }
  if (upload === undefined && note === undefined && known === undefined) reopen(recovery, uploadId, description, writes)
}

interface Candidates {
  uploadId: string
  number: number
  /** Oldest first. */
  found: readonly FoundPart[]
  known: PartRecord | undefined
  /** The found part that the snapshot knows. */
  same: FoundPart | undefined
  upload: UploadRecord | undefined
  note: StagedNote | undefined
}

/** Of the blobs sent under one part number, chooses the one that counts. */
async function choose(recovery: Recovery, candidates: Candidates): Promise<FoundPart | undefined> {
  const { uploadId, number, found, known, same, upload, note } = candidates
  if (note !== undefined) {
    const wanted = note.parts.find((part) => part.number === number)
    return found.findLast(({ description }) => description.etag === wanted?.etag)
  }
  const newest = found.at(-1)
  if (upload?.state === 'open') {
    const isNewer = newest !== undefined && newest.description.writtenMs > (known?.modifiedMs ?? 0)
    return isNewer ? newest : same
  }
  // The object existed when the snapshot was taken, so no part can have been added since.
  if (known !== undefined || (await hasParts(recovery, uploadId))) return same
  const { takenMs, graceMs } = recovery
  const isOrphan = takenMs !== undefined && (newest?.description.writtenMs ?? 0) < takenMs - graceMs
  return isOrphan ? undefined : newest
}

async function hasParts({ kv }: Recovery, uploadId: string): Promise<boolean> {
  return (await kv.range({ ...partsOf(uploadId), limit: 1 })).length > 0
}

function isSame(known: PartRecord, { description, manifest }: FoundPart): boolean {
  const places = known.manifest.shards
  const lies = manifest.shards.some(({ storeId, id }) => places.some((it) => it.storeId === storeId && it.id === id))
  if (lies) return true
  return known.etag === description.etag && known.salt === description.salt && description.writtenMs <= known.modifiedMs
}

function recordOf({ description, manifest }: FoundPart): PartRecord {
  const { partNumber, size, etag, writtenMs, checksum, salt } = description
  return {
    number: partNumber,
    size: size ?? manifest.size,
    etag,
    modifiedMs: writtenMs,
    checksum: checksum && { ...checksum, type: 'FULL_OBJECT' },
    manifest,
    salt,
  }
}

/** Reopens an upload that shows no sign of a completion. The client can continue or complete it; otherwise it expires. */
function reopen({ report }: Recovery, uploadId: string, description: PartDescription, writes: Writes): void {
  const { bucketId, key, encryption, upload } = description
  const record: OpenUpload = {
    ...(upload ?? { attributes: { headers: {}, metadata: {}, tags: [] }, checksum: undefined }),
    state: 'open',
    bucketId,
    key,
    initiatedMs: timeOfId(uploadId),
    encryption,
  }
  const upKey = uploadKey(uploadId)
  writes.put({ key: upKey, value: uploadCodec.encode(upKey, record) })
  writes.put({ key: openUploadKey(bucketId, key, uploadId), value: noValue })
  report.openUploads += 1
}

/** The parts in the note belong to the object; other parts become garbage. A repeated Complete gets the same answer as before. */
async function complete(
  recovery: Recovery,
  uploadId: string,
  { parts, description, versionId }: StagedNote,
): Promise<void> {
  const { kv, report } = recovery
  const writes = new Writes(recovery)
  const listed = new Set(parts.map(({ number }) => number))
  for await (const { key, value } of everyEntry(kv, partsOf(uploadId))) {
    const part = partCodec.decode(key, value)
    if (listed.delete(part.number)) continue
    writes.garbage(part.manifest)
    writes.delete(key)
    await writes.flushWhenMany()
  }
  if (listed.size > 0) {
    report.unreadable += 1
    notRecovered(report, `${description.bucket}/${description.key}: ${listed.size} of its parts are not there`)
  }
  const { bucketId, key, etag, checksum, encryption, writtenMs } = description
  const { versioning = 'unversioned' } = description.bucketState ?? {}
  const isNamed = versionId !== nullVersionId || versioning !== 'unversioned'
  const shown = encryption === undefined ? undefined : { ...encryption, wrappedKey: undefined }
  const completed: CompletedUpload = {
    state: 'completed',
    bucketId,
    key,
    completedMs: writtenMs,
    etag,
    versionId: isNamed ? versionId : undefined,
    checksum,
    encryption: shown,
  }
  const upKey = uploadKey(uploadId)
  writes.put({ key: upKey, value: uploadCodec.encode(upKey, completed) })
  writes.delete(openUploadKey(bucketId, key, uploadId))
  await writes.flush()
}
