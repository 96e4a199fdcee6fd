/** What a shard says of itself, so that the index can be rebuilt from shards, and so that a shard's owner can be looked up. */
import { readLabel } from '../shards/blobs.ts'
import type { Digested } from './incoming-data.ts'
import type { BucketRecord, Encryption, ObjectAttributes } from './records.ts'

interface Described {
  bucket: string
  bucketId: string
  key: string
  etag: string
  checksum: Digested['checksum']
  writtenMs: number
}

/** Of a blob that is a whole object. */
export interface ObjectDescription extends Described, ObjectAttributes {
  kind: 'object'
  /** Expected place among the versions of the key, when the blob was written; another writer may have come first. */
  sequence: number
  /** For that place. */
  encryption: Encryption | undefined
}

/** Of a blob that is one part of an upload. */
export interface PartDescription extends Described {
  kind: 'part'
  uploadId: string
  partNumber: number
  encryption: Encryption | undefined
  salt: string | undefined
}

export type BlobDescription = ObjectDescription | PartDescription

export function describeObject(
  bucket: BucketRecord,
  object: { key: string; attributes: ObjectAttributes; sequence: number; encryption: Encryption | undefined },
  digested: Digested,
  writtenMs: number,
): ObjectDescription {
  const { attributes } = object
  // Field by field, none left out: every PUT comes by here.
  const description: { [Field in keyof Required<ObjectDescription>]: ObjectDescription[Field] } = {
    kind: 'object',
    bucket: bucket.name,
    bucketId: bucket.id,
    key: object.key,
    sequence: object.sequence,
    encryption: object.encryption,
    etag: digested.etag,
    checksum: digested.checksum,
    writtenMs,
    headers: attributes.headers,
    metadata: attributes.metadata,
    tags: attributes.tags,
    retention: attributes.retention,
    legalHold: attributes.legalHold,
    storageClass: attributes.storageClass,
    websiteRedirectLocation: attributes.websiteRedirectLocation,
  }
  return description
}

export function describePart(
  bucket: BucketRecord,
  part: Pick<PartDescription, 'key' | 'uploadId' | 'partNumber' | 'encryption' | 'salt'>,
  digested: Digested,
  writtenMs: number,
): PartDescription {
  return { kind: 'part', bucket: bucket.name, bucketId: bucket.id, ...part, ...digested, writtenMs }
}

/** `undefined` when the bytes are no description: a shard that this store did not write. */
export function readDescription(bytes: Buffer): BlobDescription | undefined {
  try {
    const description = JSON.parse(readLabel(bytes).description.toString('utf8')) as BlobDescription
    return description.kind === 'object' || description.kind === 'part' ? description : undefined
  } catch {
    return undefined
  }
}
