/** The records of the metadata. `record-codecs` turns them into bytes. */

import type { Manifest } from '../blobs/blobs.ts'
import type { ChecksumAlgorithm } from '../checksums/checksums.ts'
import type { Uptime } from '../clock.ts'
import type { StorageClass } from '../storage-class.ts'
import type { BlobOwner } from './keyspace.ts'
import type { ObjectAttributes } from './object-attributes.ts'

export interface Checksum {
  algorithm: ChecksumAlgorithm
  /** Base64, followed by `-N` when it is a composite over N parts. */
  value: string
  type: 'FULL_OBJECT' | 'COMPOSITE'
}

/** How an object's bytes are encrypted, and the object's own key, wrapped. */
export interface Encryption {
  /** Whose key wraps the object's key: this server's (SSE-S3), a named one of this server's (SSE-KMS), or one that the client holds (SSE-C). */
  by: 'store' | 'kms' | 'customer'
  wrappedKey: string
  /** The ring key that wrapped it. Absent: the client's key did. */
  wrappedBy?: { name: string; id: string } | undefined
  /** For SSE-KMS: base64 of JSON, as the client gave it. The wrapping is bound to it. */
  context?: string | undefined
  bucketKeyEnabled?: boolean | undefined
  /** The sequence that the wrapping is bound to, if it is not the version's own: another version took the expected one. Only recovered objects have it. */
  boundSequence?: number | undefined
}

/** `count` parts with consecutive numbers from `first`, of `size` bytes each. */
export interface PartRun {
  first: number
  count: number
  size: number
}

/** One blob, or the parts that an upload left under its id. */
export type ObjectData =
  | { kind: 'blob'; manifest: Manifest }
  /** `note`: a blob that lists the parts, so that recovery can restore the object from shards alone. */
  | { kind: 'parts'; uploadId: string; runs: readonly PartRun[]; note?: Manifest | undefined }

/** What every version of a key has. */
export interface VersionName {
  /** Position among the versions of its key, assigned by the commit; the clock plays no part. */
  sequence: number
  /** `null` for what was written while versioning was not enabled. */
  versionId: string
  modifiedMs: number
}

/** Stored formats number the algorithms in this order. Append only. */
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

/** What a listing shows of an object. Decoded without the rest of its record. */
export interface ListedObject extends VersionName {
  kind: 'object'
  size: number
  /** Without quotes: MD5 in hex, followed by `-N` after a multipart upload of N parts. */
  etag: string
  checksum: Pick<Checksum, 'algorithm' | 'type'> | undefined
  /** Absent: STANDARD. */
  storageClass?: StorageClass | undefined
  /** As in `ObjectAttributes`. Set only when the listing shows owners. */
  owner?: string | undefined
}

/** Says that the key was deleted at this point in the order of its versions. */
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

/** The high-water mark of the lock clock: see `lock-clock`. */
export interface LockClockRecord {
  /** Milliseconds since the epoch. */
  trustedMs: number
  /** The machine's uptime at that moment. */
  measured: Uptime
  /** How much of each allowance for unmeasured time is used up: for steps of the clock, and for time when the machine was off. */
  stepsUsedMs: number
  downtimeUsedMs: number
}

/** The first format: what 0.1.0 wrote. */
export type FirstLockClockRecord = Pick<LockClockRecord, 'trustedMs'>

/** Where the null version of a key lies, when it is not the current one. */
export interface NullVersionRecord {
  sequence: number
}

/** What a client asks for when it begins a multipart upload. */
export interface UploadAttributes {
  attributes: ObjectAttributes
  checksum: Pick<Checksum, 'algorithm' | 'type'> | undefined
}

export interface OpenUpload extends UploadAttributes {
  state: 'open'
  bucketId: string
  key: string
  initiatedMs: number
  /** Account id of who began it. Absent: the owner of the bucket did, or a version of this server that did not keep it. */
  initiator?: string | undefined
  encryption?: Encryption | undefined
}

/** Kept for a while after completion, so that a repeated Complete gets the same answer. */
export interface CompletedUpload {
  state: 'completed'
  bucketId: string
  key: string
  completedMs: number
  etag: string
  /** As the client was told. */
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
  /** Only for an encrypted part: makes its key differ from the keys of parts that were sent earlier under the same number. */
  salt?: string | undefined
}

/** What a commit left unreferenced. It is reclaimed after the grace. */
export type GarbageRecord =
  /** `owner`: whose record referenced the blob. Absent: none did, or the entry is older than the field. */
  | { kind: 'blob'; manifest: Manifest; owner?: BlobOwner }
  /** All parts that are still under this upload's id, and the note of their object. `owner`: the version that was made of them. Absent: the upload was open. */
  | { kind: 'parts'; uploadId: string; note?: Manifest | undefined; owner?: BlobOwner }
  /** Uploads that were open when their bucket was removed. */
  | { kind: 'bucket'; bucketId: string }

/** A shard for which no referencing record was found. */
export interface OrphanRecord {
  storeId: string
  id: string
  payloadBytes: number
  /** The shard's description, in base64. */
  description: string
}

/** A piece of a metadata snapshot that lies on stores. The key says which one. */
export interface SnapshotPieceRecord {
  createdMs: number
  manifest: Manifest
  /** Only in the last piece, which is empty. */
  end?: PiecesEnd | undefined
}

/** Totals over all pieces of a snapshot. */
export interface PiecesEnd {
  pieces: number
  entries: number
  /** Of the stored pieces, concatenated. In hex. */
  sha256: string
}

/** A blob that may lie elsewhere than it belongs. The key names the blob's owner. */
export interface MoveRecord {
  bucket: string
  /** Only for a part: that of its upload. Absent: STANDARD. */
  storageClass?: StorageClass | undefined
}

/** A blob that lacks copies. The key names the blob's owner. */
export interface RepairRecord {
  queuedMs: number
  /** Set when too few of its shards are left to make the others from. Repair looks again now and then, in case the shards come back. */
  lost?: LostBlob | undefined
}

export interface LostBlob {
  sinceMs: number
  lookedMs: number
  /** The object whose bytes are lost. Absent for a part that was found without its object. */
  object?: NamedObject | undefined
}

export interface NamedObject {
  bucket: string
  key: string
  /** Absent: the upload is not completed. */
  versionId?: string | undefined
}

export type TaskState = 'waiting' | 'running' | 'done' | 'failed' | 'cancelled'

/** How far a task has come. */
export interface TaskProgress {
  done: number
  /** Absent: not known yet. */
  total?: number | undefined
  unit: 'bytes' | 'blobs' | 'records'
  /** How many of each named thing the task has met. */
  counts: Readonly<Record<string, number>>
}

export type TaskArguments = Readonly<Record<string, string | number | boolean>>

/** Work that outlives the process that does it. Only one task of a kind runs at a time. The key holds kind and name. */
export interface TaskRecord {
  /** Distinguishes this request from earlier and later ones of the same name. */
  id: string
  state: TaskState
  arguments: TaskArguments
  /** Where to continue, in a form that the kind defines. Absent: at the start. */
  cursor?: string | undefined
  progress: TaskProgress
  /** Why it failed. */
  reason?: string | undefined
  requestedMs: number
  startedMs?: number | undefined
  endedMs?: number | undefined
}
