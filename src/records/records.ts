/** What the metadata keeps. How it becomes bytes: `record-codecs`. */

import type { Manifest } from '../blobs/blobs.ts'
import type { ChecksumAlgorithm } from '../checksums/checksums.ts'
import type { Uptime } from '../clock.ts'
import type { BlobOwner } from './keyspace.ts'
import type { ObjectAttributes, StorageClass } from './object-attributes.ts'

export interface Checksum {
  algorithm: ChecksumAlgorithm
  /** Base64; with `-N` behind it when composite over N parts. */
  value: string
  type: 'FULL_OBJECT' | 'COMPOSITE'
}

/** How an object's bytes are encrypted, and the object's own key, wrapped. */
export interface Encryption {
  /** Whose key wraps the object's: this server's (SSE-S3), a named one of it (SSE-KMS), or one that the client holds (SSE-C). */
  by: 'store' | 'kms' | 'customer'
  wrappedKey: string
  /** The key of the ring that wrapped it. Absent: the client's. */
  wrappedBy?: { name: string; id: string } | undefined
  /** Of SSE-KMS: base64 of JSON, as the client gave it. The wrapping is bound to it. */
  context?: string | undefined
  bucketKeyEnabled?: boolean | undefined
  /** The sequence that the wrapping is bound to, where that is not the version's: it was expected, and another version had it. Only of what was recovered. */
  boundSequence?: number | undefined
}

/** `count` parts in a row, numbered from `first`, of `size` bytes each. */
export interface PartRun {
  first: number
  count: number
  size: number
}

/** One blob, or the parts that an upload left under its id. */
export type ObjectData =
  | { kind: 'blob'; manifest: Manifest }
  /** `note`: a blob that tells which they are, so that the object can be found again from shards alone. */
  | { kind: 'parts'; uploadId: string; runs: readonly PartRun[]; note?: Manifest | undefined }

/** What every version of a key has. */
export interface VersionName {
  /** Position among the versions of its key, assigned by the commit; the clock plays no part. */
  sequence: number
  /** `null` for what was written while versioning was not enabled. */
  versionId: string
  modifiedMs: number
}

/** In the order by which stored formats number them. Append only. */
export const storedChecksumAlgorithms = [
  'CRC32',
  'CRC32C',
  'CRC64NVME',
  'SHA1',
  'SHA256',
  // Since April 2026.
  'MD5',
  'SHA512',
  'XXHASH64',
  'XXHASH3',
  'XXHASH128',
] as const satisfies readonly ChecksumAlgorithm[]

/** What a listing shows of an object: decoded without touching the rest of its record. */
export interface ListedObject extends VersionName {
  kind: 'object'
  size: number
  /** Without quotes: MD5 in hex, with `-N` behind it after a multipart upload of N parts. */
  etag: string
  checksum: Pick<Checksum, 'algorithm' | 'type'> | undefined
  /** Absent: STANDARD. */
  storageClass?: StorageClass | undefined
  /** As `ObjectAttributes`. Read only where lists show it. */
  owner?: string | undefined
}

/** Says that the key was deleted at its place in the order of versions. */
export interface DeleteMarker extends VersionName {
  kind: 'marker'
}

export interface ObjectRecord extends VersionName, Pick<ListedObject, 'kind' | 'size' | 'etag'> {
  checksum: Checksum | undefined
  attributes: ObjectAttributes
  data: ObjectData
  encryption?: Encryption | undefined
}

export type VersionRecord = ObjectRecord | DeleteMarker

/** The last time that was known to be right: see `lock-clock`. */
export interface LockClockRecord {
  /** Milliseconds since the epoch. */
  trustedMs: number
  /** When that was, by the clock that measures. */
  measured: Uptime
  /** Of each allowance for time that nobody measured, what is used up. */
  stepsUsedMs: number
  downtimeUsedMs: number
}

/** The first format: what 0.1.0 wrote. */
export type FirstLockClockRecord = Pick<LockClockRecord, 'trustedMs'>

/** Where the null version of a key lies, when it is not the current one. */
export interface NullVersionRecord {
  sequence: number
}

/** What the client wants of an object that it sends in parts. */
export interface UploadAttributes {
  attributes: ObjectAttributes
  checksum: Pick<Checksum, 'algorithm' | 'type'> | undefined
}

export interface OpenUpload extends UploadAttributes {
  state: 'open'
  bucketId: string
  key: string
  initiatedMs: number
  encryption?: Encryption | undefined
}

/** Kept for a while after completion, so that a repeated Complete gets the same answer. */
export interface CompletedUpload {
  state: 'completed'
  bucketId: string
  key: string
  completedMs: number
  etag: string
  /** As the client was told it. */
  versionId: string | undefined
  checksum: Checksum | undefined
  encryption?: Omit<Encryption, 'wrappedKey'> | undefined
}

export type UploadRecord = OpenUpload | CompletedUpload

export interface PartRecord {
  number: number
  size: number
  etag: string
  modifiedMs: number
  checksum: Checksum | undefined
  manifest: Manifest
  /** Of an encrypted part: tells its key from those of parts sent before it under the same number. */
  salt?: string | undefined
}

/** What a commit left unreferenced, to be reclaimed after the grace. */
export type GarbageRecord =
  /** `owner`: whose record referenced it. Absent: none did, or the entry is older than the field. */
  | { kind: 'blob'; manifest: Manifest; owner?: BlobOwner }
  /** All parts that are still under this upload's id, and the note of the object that they were. `owner`: the version that was made of them; absent: the upload was open. */
  | { kind: 'parts'; uploadId: string; note?: Manifest | undefined; owner?: BlobOwner }
  /** Uploads that were open when their bucket went. */
  | { kind: 'bucket'; bucketId: string }

/** A shard that no record was found to reference. */
export interface OrphanRecord {
  storeId: string
  id: string
  payloadBytes: number
  /** What the shard says of itself, in base64. */
  description: string
}

/** A piece of a metadata snapshot that lies on stores. Which one stands in the key. */
export interface SnapshotPieceRecord {
  createdMs: number
  manifest: Manifest
  /** Of the last piece, which is empty. */
  end?: PiecesEnd | undefined
}

/** What all pieces of a snapshot are together. */
export interface PiecesEnd {
  pieces: number
  entries: number
  /** Of the pieces as they are kept, one behind the other, in hex. */
  sha256: string
}

/** A blob that may lie elsewhere than where its bucket's data belongs. What it is of stands in the key. */
export interface MoveRecord {
  bucket: string
}

/** A blob that lacks copies. What it is of stands in the key. */
export interface RepairRecord {
  queuedMs: number
  /** Too few of its shards are left to make the others from. It is looked at again now and then: should they come back, it is repaired. */
  lost?: LostBlob | undefined
}

export interface LostBlob {
  sinceMs: number
  lookedMs: number
  /** Whose bytes are lost. Absent: those of a part, found by nobody who knows. */
  object?: NamedObject | undefined
}

export interface NamedObject {
  bucket: string
  key: string
  /** Absent: of an upload that is not completed. */
  versionId?: string | undefined
}

export type TaskState = 'waiting' | 'running' | 'done' | 'failed' | 'cancelled'

/** How far a task is. */
export interface TaskProgress {
  done: number
  /** Absent: not known yet. */
  total?: number | undefined
  unit: 'bytes' | 'blobs' | 'records'
  /** What was met on the way, by name. */
  counts: Readonly<Record<string, number>>
}

export type TaskArguments = Readonly<Record<string, string | number | boolean>>

/** Work that outlives the process that does it, and of which only one of a kind runs at a time. Kind and name stand in the key. */
export interface TaskRecord {
  /** Tells this request from earlier and later ones of the same name. */
  id: string
  state: TaskState
  arguments: TaskArguments
  /** Where to go on, as the kind writes it. Absent: at the start. */
  cursor?: string | undefined
  progress: TaskProgress
  /** Why it failed. */
  reason?: string | undefined
  requestedMs: number
  startedMs?: number | undefined
  endedMs?: number | undefined
}
