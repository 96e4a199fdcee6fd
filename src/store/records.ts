/**
 * What the metadata store keeps, and how it becomes bytes. Every record starts with its format and a CRC32C over key and content, so that a
 * flipped bit or a record under a wrong key is noticed on read. Older formats are upgraded on read; writes use the newest.
 */
import { crc32c } from '@node-rs/crc32'
import type { ChecksumAlgorithm } from '../checksums/checksums.ts'
import type { Key } from '../kv/kv.ts'
import type { Manifest } from '../shards/blobs.ts'

export interface Tag {
  key: string
  value: string
}

export type VersioningState = 'unversioned' | 'enabled' | 'suspended'

export interface BucketRecord {
  name: string
  /** Distinguishes this bucket from earlier and later ones of the same name. */
  id: string
  /** Account id. */
  owner: string
  createdMs: number
  /** As CreateBucket gave it; GetBucketLocation answers it verbatim. */
  locationConstraint: string | undefined
  /** Name of the location that new blobs are written to. */
  location: string
  tags: readonly Tag[]
  versioning: VersioningState
}

/** Headers that describe an object and are given back as they came. */
export interface DescriptiveHeaders {
  contentType?: string | undefined
  contentEncoding?: string | undefined
  contentLanguage?: string | undefined
  contentDisposition?: string | undefined
  cacheControl?: string | undefined
  expires?: string | undefined
}

export interface Checksum {
  algorithm: ChecksumAlgorithm
  /** Base64; with `-N` behind it when composite over N parts. */
  value: string
  type: 'FULL_OBJECT' | 'COMPOSITE'
}

export interface Retention {
  mode: 'GOVERNANCE' | 'COMPLIANCE'
  untilMs: number
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
  | { kind: 'parts'; uploadId: string; runs: readonly PartRun[] }

/** What a listing shows of an object: decoded without touching the rest of its record. */
export interface ListedObject {
  /** Position among the versions of its key, assigned by the commit; the clock plays no part. */
  sequence: number
  size: number
  modifiedMs: number
  /** Without quotes: MD5 in hex, with `-N` behind it after a multipart upload of N parts. */
  etag: string
  checksum: Pick<Checksum, 'algorithm' | 'type'> | undefined
}

/** What a client set on an object when it began to write it. */
export interface ObjectAttributes {
  headers: DescriptiveHeaders
  metadata: Readonly<Record<string, string>>
  tags: readonly Tag[]
  retention?: Retention | undefined
  legalHold?: boolean | undefined
}

export interface ObjectRecord extends ListedObject, ObjectAttributes {
  /** `null` for objects written while versioning was not enabled. */
  versionId: string
  checksum: Checksum | undefined
  data: ObjectData
}

export interface OpenUpload extends ObjectAttributes {
  state: 'open'
  bucketId: string
  key: string
  initiatedMs: number
  checksum: Pick<Checksum, 'algorithm' | 'type'> | undefined
}

/** Kept for a while after completion, so that a repeated Complete gets the same answer. */
export interface CompletedUpload {
  state: 'completed'
  bucketId: string
  key: string
  completedMs: number
  etag: string
  versionId: string
  checksum: Checksum | undefined
}

export type UploadRecord = OpenUpload | CompletedUpload

export interface PartRecord {
  number: number
  size: number
  etag: string
  modifiedMs: number
  checksum: Checksum | undefined
  manifest: Manifest
}

/** What a commit left unreferenced, to be reclaimed after the grace. */
export type GarbageRecord =
  | { kind: 'blob'; manifest: Manifest }
  /** All parts that are still under this upload's id. */
  | { kind: 'parts'; uploadId: string }
  /** Uploads that were open when their bucket went. */
  | { kind: 'bucket'; bucketId: string }

/** Thrown when a stored record is not what was written under its key. */
export class RecordDamaged extends Error {
  constructor(key: Key, why: string) {
    super(`metadata record ${key.toString('hex')}: ${why}`)
    this.name = 'RecordDamaged'
  }
}

const format = 1
const formatAt = 0
const crcAt = 1
const contentAt = 5

function seal(key: Key, record: Buffer): Buffer {
  record[formatAt] = format
  record.writeUInt32LE(crc32c(record.subarray(contentAt), crc32c(key)), crcAt)
  return record
}

function unseal(key: Key, record: Buffer): void {
  if (record.length < contentAt) throw new RecordDamaged(key, 'too short')
  if (record[formatAt] !== format) throw new RecordDamaged(key, `unknown format ${record[formatAt]}`)
  if (crc32c(record.subarray(contentAt), crc32c(key)) !== record.readUInt32LE(crcAt)) {
    throw new RecordDamaged(key, 'checksum mismatch')
  }
}

/** A record whose content is JSON alone: all but objects. */
function jsonCodec<T>(): { encode(key: Key, record: T): Buffer; decode(key: Key, bytes: Buffer): T } {
  return {
    encode(key, record) {
      const json = JSON.stringify(record)
      const bytes = Buffer.allocUnsafe(contentAt + Buffer.byteLength(json))
      bytes.write(json, contentAt)
      return seal(key, bytes)
    },
    decode(key, bytes) {
      unseal(key, bytes)
      return JSON.parse(bytes.toString('utf8', contentAt)) as T
    },
  }
}

export const bucketCodec = jsonCodec<BucketRecord>()
export const uploadCodec = jsonCodec<UploadRecord>()
export const partCodec = jsonCodec<PartRecord>()
export const garbageCodec = jsonCodec<GarbageRecord>()

// An object's record: a fixed part that listings read, then JSON.
const sizeAt = contentAt
const modifiedAt = sizeAt + 8
const sequenceAt = modifiedAt + 8
const etagAt = sequenceAt + 6
const partCountAt = etagAt + 16
const checksumAt = partCountAt + 2
const restAt = checksumAt + 1

const checksumCodes: readonly (ListedObject['checksum'] | undefined)[] = [
  undefined,
  ...(['CRC32', 'CRC32C', 'CRC64NVME', 'SHA1', 'SHA256'] as const).flatMap((algorithm) => [
    { algorithm, type: 'FULL_OBJECT' as const },
    { algorithm, type: 'COMPOSITE' as const },
  ]),
]

function checksumCode(checksum: ListedObject['checksum']): number {
  if (checksum === undefined) return 0
  return checksumCodes.findIndex((known) => known?.algorithm === checksum.algorithm && known.type === checksum.type)
}

type RestOfObject = ObjectAttributes & Pick<ObjectRecord, 'versionId' | 'data'> & { checksumValue: string | undefined }

export const objectCodec = {
  encode(key: Key, record: ObjectRecord): Buffer {
    const rest: RestOfObject = {
      versionId: record.versionId,
      headers: record.headers,
      metadata: record.metadata,
      tags: record.tags,
      retention: record.retention,
      legalHold: record.legalHold,
      data: record.data,
      checksumValue: record.checksum?.value,
    }
    const json = JSON.stringify(rest)
    const bytes = Buffer.allocUnsafe(restAt + Buffer.byteLength(json))
    bytes.writeDoubleLE(record.size, sizeAt)
    bytes.writeDoubleLE(record.modifiedMs, modifiedAt)
    bytes.writeUIntLE(record.sequence, sequenceAt, 6)
    const [md5, parts] = record.etag.split('-')
    bytes.write(md5 ?? '', etagAt, 16, 'hex')
    bytes.writeUInt16LE(parts === undefined ? 0 : Number(parts), partCountAt)
    bytes[checksumAt] = checksumCode(record.checksum)
    bytes.write(json, restAt)
    return seal(key, bytes)
  },

  /** Only what a listing shows. */
  decodeListed(key: Key, bytes: Buffer): ListedObject {
    unseal(key, bytes)
    const parts = bytes.readUInt16LE(partCountAt)
    const md5 = bytes.toString('hex', etagAt, etagAt + 16)
    return {
      size: bytes.readDoubleLE(sizeAt),
      modifiedMs: bytes.readDoubleLE(modifiedAt),
      sequence: bytes.readUIntLE(sequenceAt, 6),
      etag: parts === 0 ? md5 : `${md5}-${parts}`,
      checksum: checksumCodes[bytes[checksumAt] ?? 0],
    }
  },

  decode(key: Key, bytes: Buffer): ObjectRecord {
    const listed = objectCodec.decodeListed(key, bytes)
    const { checksumValue, ...rest } = JSON.parse(bytes.toString('utf8', restAt)) as RestOfObject
    const checksum =
      listed.checksum === undefined || checksumValue === undefined
        ? undefined
        : { ...listed.checksum, value: checksumValue }
    return { ...listed, ...rest, checksum }
  },
}
