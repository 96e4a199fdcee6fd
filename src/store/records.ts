/**
 * What the metadata store keeps, and how it becomes bytes. Every record starts with its format and a CRC32C over key and content, so that a
 * flipped bit or a record under a wrong key is noticed on read. Older formats are upgraded on read; writes use the newest.
 */
import { crc32c } from '@node-rs/crc32'
import type { ChecksumAlgorithm } from '../checksums/checksums.ts'
import type { Key } from '../kv/kv.ts'
import type { Manifest } from '../shards/blobs.ts'
import { nullVersionId, versionIdOf, versionRandom, versionRandomBytes } from './version-id.ts'

export interface Tag {
  key: string
  value: string
}

export type VersioningState = 'unversioned' | 'enabled' | 'suspended'

export type RetentionMode = 'GOVERNANCE' | 'COMPLIANCE'

/** Retention that new versions get when they ask for none. */
export interface DefaultRetention {
  mode: RetentionMode
  period: { days: number } | { years: number }
}

/** Its presence says that Object Lock is enabled; it can't be disabled again. */
export interface ObjectLock {
  defaultRetention: DefaultRetention | undefined
}

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
  objectLock: ObjectLock | undefined
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
  mode: RetentionMode
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

/** What every version of a key has. */
export interface VersionName {
  /** Position among the versions of its key, assigned by the commit; the clock plays no part. */
  sequence: number
  /** `null` for what was written while versioning was not enabled. */
  versionId: string
  modifiedMs: number
}

/** What a listing shows of an object: decoded without touching the rest of its record. */
export interface ListedObject extends VersionName {
  kind: 'object'
  size: number
  /** Without quotes: MD5 in hex, with `-N` behind it after a multipart upload of N parts. */
  etag: string
  checksum: Pick<Checksum, 'algorithm' | 'type'> | undefined
}

/** Says that the key was deleted at its place in the order of versions. */
export interface DeleteMarker extends VersionName {
  kind: 'marker'
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
  checksum: Checksum | undefined
  data: ObjectData
}

export type VersionRecord = ObjectRecord | DeleteMarker

/** The last time that was known to be right: see `lock-clock`. */
export interface LockClockRecord {
  /** Milliseconds since the epoch. */
  trustedMs: number
}

/** Where the null version of a key lies, when it is not the current one. */
export interface NullVersionRecord {
  sequence: number
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
  /** As the client was told it. */
  versionId: string | undefined
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

export const lockClockCodec = jsonCodec<LockClockRecord>()
export const nullVersionCodec = jsonCodec<NullVersionRecord>()

// A version's record: a fixed part that listings read, then JSON. A delete marker is the fixed part alone.
const kindAt = contentAt
const versionRandomAt = kindAt + 1
const sequenceAt = versionRandomAt + versionRandomBytes
const modifiedAt = sequenceAt + 6
const sizeAt = modifiedAt + 8
const etagAt = sizeAt + 8
const partCountAt = etagAt + 16
const checksumAt = partCountAt + 2
const restAt = checksumAt + 1

// Bits of the kind.
const markerBit = 1
const nullBit = 2

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

type RestOfObject = ObjectAttributes & Pick<ObjectRecord, 'data'> & { checksumValue: string | undefined }

function encodeName(bytes: Buffer, record: VersionRecord): void {
  const isNull = record.versionId === nullVersionId
  bytes[kindAt] = (record.kind === 'marker' ? markerBit : 0) | (isNull ? nullBit : 0)
  bytes.fill(0, versionRandomAt, sequenceAt)
  if (!isNull) versionRandom(record.versionId).copy(bytes, versionRandomAt)
  bytes.writeUIntLE(record.sequence, sequenceAt, 6)
  bytes.writeDoubleLE(record.modifiedMs, modifiedAt)
}

function decodeName(bytes: Buffer): VersionName {
  const sequence = bytes.readUIntLE(sequenceAt, 6)
  const isNull = ((bytes[kindAt] ?? 0) & nullBit) !== 0
  return {
    sequence,
    versionId: isNull ? nullVersionId : versionIdOf(sequence, bytes.subarray(versionRandomAt, sequenceAt)),
    modifiedMs: bytes.readDoubleLE(modifiedAt),
  }
}

function decodeListedObject(bytes: Buffer): ListedObject {
  const parts = bytes.readUInt16LE(partCountAt)
  const md5 = bytes.toString('hex', etagAt, etagAt + 16)
  return {
    kind: 'object',
    ...decodeName(bytes),
    size: bytes.readDoubleLE(sizeAt),
    etag: parts === 0 ? md5 : `${md5}-${parts}`,
    checksum: checksumCodes[bytes[checksumAt] ?? 0],
  }
}

const isMarker = (bytes: Buffer): boolean => ((bytes[kindAt] ?? 0) & markerBit) !== 0

export const versionCodec = {
  encode(key: Key, record: VersionRecord): Buffer {
    if (record.kind === 'marker') {
      const bytes = Buffer.allocUnsafe(sizeAt)
      encodeName(bytes, record)
      return seal(key, bytes)
    }
    const rest: RestOfObject = {
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
    encodeName(bytes, record)
    bytes.writeDoubleLE(record.size, sizeAt)
    const [md5, parts] = record.etag.split('-')
    bytes.write(md5 ?? '', etagAt, 16, 'hex')
    bytes.writeUInt16LE(parts === undefined ? 0 : Number(parts), partCountAt)
    bytes[checksumAt] = checksumCode(record.checksum)
    bytes.write(json, restAt)
    return seal(key, bytes)
  },

  /** Only what a listing shows. */
  decodeListed(key: Key, bytes: Buffer): ListedObject | DeleteMarker {
    unseal(key, bytes)
    return isMarker(bytes) ? { kind: 'marker', ...decodeName(bytes) } : decodeListedObject(bytes)
  },

  decode(key: Key, bytes: Buffer): VersionRecord {
    const listed = versionCodec.decodeListed(key, bytes)
    if (listed.kind === 'marker') return listed
    const { checksumValue, ...rest } = JSON.parse(bytes.toString('utf8', restAt)) as RestOfObject
    const checksum =
      listed.checksum === undefined || checksumValue === undefined
        ? undefined
        : { ...listed.checksum, value: checksumValue }
    return { ...listed, ...rest, checksum }
  },
}

/** Records of objects alone: current versions are never markers. */
export const objectCodec = {
  encode: (key: Key, record: ObjectRecord): Buffer => versionCodec.encode(key, record),
  decodeListed(key: Key, bytes: Buffer): ListedObject {
    const listed = versionCodec.decodeListed(key, bytes)
    if (listed.kind === 'marker') throw new RecordDamaged(key, 'a delete marker where only objects lie')
    return listed
  },
  decode(key: Key, bytes: Buffer): ObjectRecord {
    const record = versionCodec.decode(key, bytes)
    if (record.kind === 'marker') throw new RecordDamaged(key, 'a delete marker where only objects lie')
    return record
  },
}
