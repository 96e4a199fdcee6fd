/** What a shard says of itself, so that the index can be rebuilt from shards, and so that a shard's owner can be looked up. How it becomes bytes: `description-bytes`. */
import type { ChecksumAlgorithm } from '../checksums/checksums.ts'
import type { BucketState } from './bucket-record.ts'
import type { ObjectAttributes } from './object-attributes.ts'
import type { Checksum, Encryption, PiecesEnd, UploadAttributes } from './records.ts'

export interface Digested {
  /** MD5 in hex, or what stands for it: the entity tag of an object or part that was sent in one request. */
  etag: string
  /** Base64. */
  checksum: { algorithm: ChecksumAlgorithm; value: string } | undefined
}

interface Described {
  bucket: string
  bucketId: string
  /** What the bucket was when the blob was written. Absent in what was written before shards told. */
  bucketState?: BucketState
  key: string
  etag: string
  writtenMs: number
  /** Of what clients see. Absent in what was written before shards told. */
  size?: number
}

interface DescribedVersion extends Described {
  attributes: ObjectAttributes
  /** Expected place among the versions of the key, when the blob was written; another writer may have come first. */
  sequence: number
  /** With its sequence, the version's id. Absent: a null version, or written before shards told. */
  versionRandom?: string | undefined
}

/** Of a blob that is a whole object. */
export interface ObjectDescription extends DescribedVersion {
  kind: 'object'
  checksum: Digested['checksum']
  /** For the place that was expected. */
  encryption: Encryption | undefined
}

/** Of the note of a completed upload: its blob lists the parts that the object is made of. */
export interface CompletionDescription extends DescribedVersion {
  kind: 'completion'
  uploadId: string
  checksum: Checksum | undefined
  encryption: Encryption | undefined
}

/** Of a blob that is one part of an upload. */
export interface PartDescription extends Described {
  kind: 'part'
  uploadId: string
  partNumber: number
  checksum: Digested['checksum']
  encryption: Encryption | undefined
  salt: string | undefined
  /** What the object is to be. Absent in what was written before shards told. */
  upload?: UploadAttributes
}

/** Of a piece of a metadata snapshot. */
export interface SnapshotDescription {
  kind: 'snapshot'
  snapshotId: string
  createdMs: number
  /** From 0. */
  piece: number
  /** Of the last, which is empty: what all before it must be. */
  end?: PiecesEnd | undefined
}

export type VersionDescription = ObjectDescription | CompletionDescription
export type BlobDescription = VersionDescription | PartDescription | SnapshotDescription
