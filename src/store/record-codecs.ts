/**
 * How records become bytes. Every record starts with its format and a CRC32C over key and content, so that a flipped bit or a record under a wrong
 * key is noticed on read. Older formats are upgraded on read; writes use the newest.
 */
import { crc32c } from '@node-rs/crc32'
import type { Key } from '../kv/kv.ts'
import { limits } from '../limits.ts'
import {
  type BucketRecord,
  type DeleteMarker,
  type GarbageRecord,
  type ListedObject,
  type LockClockRecord,
  type NullVersionRecord,
  type ObjectAttributes,
  type ObjectRecord,
  type PartRecord,
  type RepairRecord,
  type SnapshotPieceRecord,
  storageClasses,
  type TaskRecord,
  type UploadRecord,
  type VersionName,
  type VersionRecord,
} from './records.ts'
import { nullVersionId, versionIdOf, versionRandom, versionRandomBytes } from './version-id.ts'

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

/** Small records are laid behind their key and checked in one piece: a native call costs more than to copy them. */
const pieceContentAt = limits.kvKeyBytesMax
const piece = Buffer.allocUnsafeSlow(pieceContentAt + 4096)

function checksumOf(key: Key, record: Buffer): number {
  const contentBytes = record.length - contentAt
  if (pieceContentAt + contentBytes > piece.length) return crc32c(record.subarray(contentAt), crc32c(key))
  piece.set(record, pieceContentAt - contentAt)
  // Over the format and the checksum, which came with the record.
  piece.set(key, pieceContentAt - key.length)
  return crc32c(piece.subarray(pieceContentAt - key.length, pieceContentAt + contentBytes))
}

function seal(key: Key, record: Buffer): Buffer {
  record[formatAt] = format
  record.writeUInt32LE(checksumOf(key, record), crcAt)
  return record
}

function unseal(key: Key, record: Buffer): void {
  if (record.length < contentAt) throw new RecordDamaged(key, 'too short')
  if (record[formatAt] !== format) throw new RecordDamaged(key, `unknown format ${record[formatAt]}`)
  if (checksumOf(key, record) !== record.readUInt32LE(crcAt)) {
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
export const repairCodec = jsonCodec<RepairRecord>()
export const snapshotPieceCodec = jsonCodec<SnapshotPieceRecord>()
export const taskCodec = jsonCodec<TaskRecord>()

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
/** Above them, four bits of an object's storage class: its place in the list of classes. Records from before there were classes have zero, STANDARD. */
const storageClassShift = 2
const storageClassMask = 0b1111

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

type RestOfObject = Omit<ObjectAttributes, 'storageClass'> &
  Pick<ObjectRecord, 'data' | 'encryption'> & { checksumValue: string | undefined }

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
  return { sequence, versionId: decodeVersionId(bytes, sequence), modifiedMs: bytes.readDoubleLE(modifiedAt) }
}

function decodeVersionId(bytes: Buffer, sequence: number): string {
  const isNull = ((bytes[kindAt] ?? 0) & nullBit) !== 0
  return isNull ? nullVersionId : versionIdOf(sequence, bytes.subarray(versionRandomAt, sequenceAt))
}

function decodeStorageClass(key: Key, bytes: Buffer): ListedObject['storageClass'] {
  const name = storageClasses[((bytes[kindAt] ?? 0) >> storageClassShift) & storageClassMask]
  if (name === undefined) throw new RecordDamaged(key, 'unknown storage class')
  return name === 'STANDARD' ? undefined : name
}

function decodeListedObject(key: Key, bytes: Buffer): ListedObject {
  const parts = bytes.readUInt16LE(partCountAt)
  const md5 = bytes.toString('hex', etagAt, etagAt + 16)
  const sequence = bytes.readUIntLE(sequenceAt, 6)
  return {
    kind: 'object',
    sequence,
    versionId: decodeVersionId(bytes, sequence),
    modifiedMs: bytes.readDoubleLE(modifiedAt),
    size: bytes.readDoubleLE(sizeAt),
    etag: parts === 0 ? md5 : `${md5}-${parts}`,
    checksum: checksumCodes[bytes[checksumAt] ?? 0],
    storageClass: decodeStorageClass(key, bytes),
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
      websiteRedirectLocation: record.websiteRedirectLocation,
      data: record.data,
      encryption: record.encryption,
      checksumValue: record.checksum?.value,
    }
    const json = JSON.stringify(rest)
    const bytes = Buffer.allocUnsafe(restAt + Buffer.byteLength(json))
    encodeName(bytes, record)
    bytes[kindAt] =
      (bytes[kindAt] ?? 0) | (storageClasses.indexOf(record.storageClass ?? 'STANDARD') << storageClassShift)
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
    return isMarker(bytes) ? { kind: 'marker', ...decodeName(bytes) } : decodeListedObject(key, bytes)
  },

  decode(key: Key, bytes: Buffer): VersionRecord {
    const listed = versionCodec.decodeListed(key, bytes)
    if (listed.kind === 'marker') return listed
    const rest = JSON.parse(bytes.toString('utf8', restAt)) as RestOfObject
    const checksum =
      listed.checksum === undefined || rest.checksumValue === undefined
        ? undefined
        : { ...listed.checksum, value: rest.checksumValue }
    // Field by field: every GET comes by here, and to spread costs as much as to parse.
    return {
      kind: 'object',
      sequence: listed.sequence,
      versionId: listed.versionId,
      modifiedMs: listed.modifiedMs,
      size: listed.size,
      etag: listed.etag,
      storageClass: listed.storageClass,
      checksum,
      headers: rest.headers,
      metadata: rest.metadata,
      tags: rest.tags,
      retention: rest.retention,
      legalHold: rest.legalHold,
      websiteRedirectLocation: rest.websiteRedirectLocation,
      data: rest.data,
      encryption: rest.encryption,
    }
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
