/** What each shard says about itself, so that the metadata can be rebuilt from shards and the owner of a shard can be looked up. `description-bytes` packs it. */
import type { ChecksumAlgorithm } from '../checksums/checksums.ts'
import type { BucketState } from './bucket-record.ts'
import type { ObjectAttributes } from './object-attributes.ts'
import type { Checksum, Encryption, PiecesEnd, UploadAttributes } from './records.ts'

export interface Digested {
  /** The entity tag of an object or part that was sent in one request: its MD5 in hex, or for some encryptions a value in its place. */
  etag: string
  /** Base64. */
  checksum: { algorithm: ChecksumAlgorithm; value: string } | undefined
}

interface Described {
  bucket: string
  bucketId: string
  /** The bucket's state when the blob was written. Absent in old descriptions. */
  bucketState?: BucketState
  key: string
  etag: string
  writtenMs: number
  /** The size that clients see, in bytes. Absent in old descriptions. */
  size?: number
}

interface DescribedVersion extends Described {
  attributes: ObjectAttributes
  /** The sequence that was expected when the blob was written. Another write may have taken it since. */
  sequence: number
  /** Forms the version's id, together with the sequence. Absent for a null version, and in old descriptions. */
  versionRandom?: string | undefined
}

/** Describes a blob that is a whole object. */
export interface ObjectDescription extends DescribedVersion {
  kind: 'object'
  checksum: Digested['checksum']
  /** Wrapped for the expected sequence. */
  encryption: Encryption | undefined
}

/** Describes the note of a completed upload, whose blob lists the parts that the object is made of. */
export interface CompletionDescription extends DescribedVersion {
  kind: 'completion'
  uploadId: string
  checksum: Checksum | undefined
  encryption: Encryption | undefined
}

/** Describes a blob that is one part of an upload. */
export interface PartDescription extends Described {
  kind: 'part'
  uploadId: string
  partNumber: number
  checksum: Digested['checksum']
  encryption: Encryption | undefined
  salt: string | undefined
  /** What the client asked for when it began the upload. Absent in old descriptions. */
  upload?: UploadAttributes
}

/** Describes a piece of a metadata snapshot. */
export interface SnapshotDescription {
  kind: 'snapshot'
  snapshotId: string
  createdMs: number
  /** From 0. */
  piece: number
  /** Only in the last piece, which is empty: the totals that all pieces before it must have. */
  end?: PiecesEnd | undefined
}

export type VersionDescription = ObjectDescription | CompletionDescription
export type BlobDescription = VersionDescription | PartDescription | SnapshotDescription
