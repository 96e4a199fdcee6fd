/** The records that reference blobs: finds one by the owner of its blob, reads its manifest, and encodes it with another. */

import type { Manifest } from '../blobs/blobs.ts'
import type { FoundBucket } from '../commits/scope.ts'
import type { Entry, Kv } from '../kv/kv.ts'
import { rangeOf } from '../kv/ordered-key.ts'
import type { BucketRecord } from '../records/bucket-record.ts'
import { bucketCodec } from '../records/bucket-record.ts'
import { readDescription } from '../records/description-bytes.ts'
import {
  type BlobOwner,
  bucketKey,
  historyKeyOf,
  historyOfBucket,
  ObjectKeys,
  partKey,
  partOf,
  parts,
  snapshotKey,
  snapshotPieceOf,
  snapshots,
} from '../records/keyspace.ts'
import { partCodec, snapshotPieceCodec, versionCodec } from '../records/record-codecs.ts'
import { ownBlob, withOwnBlob } from '../rules/versions.ts'
import { everyEntry } from './every-entry.ts'
import type { RangeReader } from './unhurried.ts'
import { type FoundVersion, findVersionRecord } from './version-record.ts'

export interface BlobReference {
  owner: BlobOwner
  entry: Entry
  manifest: Manifest
  /** The object as its client knows it. Absent: no client knows it. */
  etag: string | undefined
  /** The bytes of the record with another manifest. */
  withManifest(manifest: Manifest): Buffer
}

/** `undefined` when the version has no blob of its own: a delete marker, or parts without a note. */
export function referenceOfVersion(bucket: string, key: string, entry: Entry): BlobReference | undefined {
  return referenceTo(bucket, key, { entry, record: versionCodec.decode(entry.key, entry.value) })
}

function referenceTo(bucket: string, key: string, { entry, record }: FoundVersion): BlobReference | undefined {
  if (record.kind === 'marker') return undefined
  const { data } = record
  const manifest = ownBlob(data)
  if (manifest === undefined) return undefined
  return {
    owner: { kind: 'version', bucket, key, sequence: record.sequence },
    entry,
    manifest,
    etag: record.etag,
    withManifest: (other) => versionCodec.encode(entry.key, { ...record, data: withOwnBlob(data, other) }),
  }
}

export function referenceOfPart(entry: Entry): BlobReference {
  const part = partCodec.decode(entry.key, entry.value)
  return {
    owner: { kind: 'part', ...partOf(entry.key) },
    entry,
    manifest: part.manifest,
    etag: part.etag,
    withManifest: (manifest) => partCodec.encode(entry.key, { ...part, manifest }),
  }
}

export function referenceOfPiece(entry: Entry): BlobReference & { owner: { kind: 'snapshot' } } {
  const record = snapshotPieceCodec.decode(entry.key, entry.value)
  return {
    owner: { kind: 'snapshot', ...snapshotPieceOf(entry.key) },
    entry,
    manifest: record.manifest,
    etag: undefined,
    withManifest: (manifest) => snapshotPieceCodec.encode(entry.key, { ...record, manifest }),
  }
}

/** `undefined` when there is no such version, part or piece any more. */
export async function findReference(kv: Kv, owner: BlobOwner): Promise<BlobReference | undefined> {
  if (owner.kind === 'part') {
    const [entry] = await kv.get([partKey(owner.uploadId, owner.number)])
    return entry && referenceOfPart(entry)
  }
  if (owner.kind === 'snapshot') {
    const [entry] = await kv.get([snapshotKey(owner.id, owner.piece)])
    return entry && referenceOfPiece(entry)
  }
  const found = await findVersionRecord(kv, owner)
  return found && referenceTo(owner.bucket, owner.key, found)
}

/** `undefined`: there is no bucket of this name. */
export async function readBucket(kv: Kv, name: string): Promise<FoundBucket | undefined> {
  const [entry] = await kv.get([bucketKey(name)])
  return entry && { record: bucketCodec.decode(entry.key, entry.value), version: entry.version }
}

export async function* everyBucket(kv: RangeReader): AsyncGenerator<BucketRecord> {
  for await (const { key, value } of everyEntry(kv, rangeOf('b'))) yield bucketCodec.decode(key, value)
}

/** Every blob that a record references: of current versions, older ones, parts, and metadata snapshots. */
export async function* everyReference(kv: RangeReader): AsyncGenerator<BlobReference> {
  for await (const { name } of everyBucket(kv)) {
    const objects = new ObjectKeys(name)
    for await (const entry of everyEntry(kv, objects.startingWith(''))) {
      const reference = referenceOfVersion(name, objects.unpack(entry.key), entry)
      if (reference !== undefined) yield reference
    }
    for await (const entry of everyEntry(kv, historyOfBucket(name))) {
      const reference = referenceOfVersion(name, historyKeyOf(entry.key), entry)
      if (reference !== undefined) yield reference
    }
  }
  for await (const entry of everyEntry(kv, parts)) yield referenceOfPart(entry)
  for await (const entry of everyEntry(kv, snapshots)) yield referenceOfPiece(entry)
}

/** Whether a shard with this description belongs to the referenced blob. If files were copied by hand, a shard of another blob can be in its place. */
export function isDescriptionOf({ owner, etag }: BlobReference, bytes: Buffer): boolean {
  const description = readDescription(bytes)
  if (description === undefined) return false
  if (owner.kind === 'snapshot' || description.kind === 'snapshot') {
    const { snapshotId, piece } = description.kind === 'snapshot' ? description : {}
    return owner.kind === 'snapshot' && snapshotId === owner.id && piece === owner.piece
  }
  if (description.etag !== etag) return false
  if (owner.kind === 'part') {
    return (
      description.kind === 'part' && description.uploadId === owner.uploadId && description.partNumber === owner.number
    )
  }
  return description.kind !== 'part' && description.bucket === owner.bucket && description.key === owner.key
}
