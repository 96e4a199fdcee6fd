/** Encodes and decodes the records of each kind. */
import type { Key } from '../kv/kv.ts'
import { storageClasses } from '../storage-class.ts'
import type { EventRecord } from './notifications.ts'
import type { ObjectAttributes } from './object-attributes.ts'
import { decodeFirstRest, decodeRest, encodeRest } from './object-rest.ts'
import {
  type Codec,
  contentAt,
  formatAt,
  jsonCodec,
  manifestCodec,
  RecordDamaged,
  seal,
  secondFormat,
  secondJsonCodec,
  unseal,
} from './record-format.ts'
import {
  type CompletedUpload,
  type DeleteMarker,
  type FirstLockClockRecord,
  type GarbageRecord,
  type ListedObject,
  type LockClockRecord,
  type MoveRecord,
  type NullVersionRecord,
  type ObjectRecord,
  type OpenUpload,
  type OrphanRecord,
  type PartRecord,
  type RepairRecord,
  type SnapshotPieceRecord,
  storedChecksumAlgorithms,
  type TaskRecord,
  type UploadRecord,
  type VersionName,
  type VersionRecord,
} from './records.ts'
import type { QueuedReplica } from './replication.ts'
import type { UsageRecord } from './usage.ts'
import { nullVersionId, versionIdOf, versionRandom, versionRandomBytes } from './version-id.ts'

const flatUploads = jsonCodec<CompletedUpload | (Omit<OpenUpload, 'attributes'> & ObjectAttributes)>()
/** The attributes of an open upload lie beside its other fields. */
export const uploadCodec: Codec<UploadRecord> = {
  encode(key, record) {
    if (record.state === 'completed') return flatUploads.encode(key, record)
    const { attributes, state, bucketId, initiatedMs, ...rest } = record
    return flatUploads.encode(key, { ...rest, ...attributes, state, bucketId, initiatedMs })
  },
  decode(key, bytes) {
    const flat = flatUploads.decode(key, bytes)
    if (flat.state === 'completed') return flat
    const { state, bucketId, key: objectKey, initiatedMs, initiator, checksum, encryption, ...attributes } = flat
    return { state, bucketId, key: objectKey, initiatedMs, initiator, checksum, encryption, attributes }
  },
}
export const partCodec = manifestCodec<PartRecord>()
export const garbageCodec = manifestCodec<GarbageRecord>()
export const orphanCodec = jsonCodec<OrphanRecord>()
export const repairCodec = jsonCodec<RepairRecord>()
export const snapshotPieceCodec = jsonCodec<SnapshotPieceRecord>()
export const moveCodec = jsonCodec<MoveRecord>()
export const eventCodec = jsonCodec<EventRecord>()
export const replicaCodec = jsonCodec<QueuedReplica>()
export const taskCodec = jsonCodec<TaskRecord>()
export const usageCodec = jsonCodec<UsageRecord>()

/** The first format holds only the time. Its upgrade has an unknown boot and unused allowances. */
export const lockClockCodec = secondJsonCodec<FirstLockClockRecord, LockClockRecord>(({ trustedMs }) => ({
  trustedMs,
  measured: { boot: '', ms: 0 },
  stepsUsedMs: 0,
  downtimeUsedMs: 0,
}))
export const nullVersionCodec = jsonCodec<NullVersionRecord>()

// A version's record is a fixed part, which listings read, then the rest (`object-rest`). A delete marker has only the start of the fixed part.
const kindAt = contentAt
const versionRandomAt = kindAt + 1
const sequenceAt = versionRandomAt + versionRandomBytes
const modifiedAt = sequenceAt + 6
const sizeAt = modifiedAt + 8
const etagAt = sizeAt + 8
const partCountAt = etagAt + 16
const checksumAt = partCountAt + 2
const restAt = checksumAt + 1

// Bits of the byte at `kindAt`.
const markerBit = 1
const nullBit = 2
/** Above them are four bits for an object's storage class: its position in the list of classes. Records from before there were classes have zero, STANDARD. */
const storageClassShift = 2
const storageClassMask = 0b1111

/** Code zero is no checksum. Then each algorithm has two codes, one per type, in the stored order. */
const checksumCodes: readonly (ListedObject['checksum'] | undefined)[] = [
  undefined,
  ...storedChecksumAlgorithms.flatMap((algorithm) => [
    { algorithm, type: 'FULL_OBJECT' as const },
    { algorithm, type: 'COMPOSITE' as const },
  ]),
]

function checksumCode(checksum: ListedObject['checksum']): number {
  if (checksum === undefined) return 0
  return checksumCodes.findIndex((known) => known?.algorithm === checksum.algorithm && known.type === checksum.type)
}

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

/** An unknown code must not read as "no checksum", because a later version of this server may have written it. */
function decodeChecksum(key: Key, bytes: Buffer): ListedObject['checksum'] {
  const code = bytes[checksumAt] ?? 0
  if (code >= checksumCodes.length) throw new RecordDamaged(key, `unknown checksum ${code}`)
  return checksumCodes[code]
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
    checksum: decodeChecksum(key, bytes),
    storageClass: decodeStorageClass(key, bytes),
  }
}

const isMarker = (bytes: Buffer): boolean => ((bytes[kindAt] ?? 0) & markerBit) !== 0

export const versionCodec = {
  encode(key: Key, record: VersionRecord): Buffer {
    if (record.kind === 'marker') {
      const bytes = Buffer.allocUnsafe(sizeAt)
      encodeName(bytes, record)
      return seal(key, bytes, secondFormat)
    }
    const bytes = encodeRest(record, restAt)
    encodeName(bytes, record)
    bytes[kindAt] =
      (bytes[kindAt] ?? 0) | (storageClasses.indexOf(record.attributes.storageClass ?? 'STANDARD') << storageClassShift)
    bytes.writeDoubleLE(record.size, sizeAt)
    const [md5, parts] = record.etag.split('-')
    bytes.write(md5 ?? '', etagAt, 16, 'hex')
    bytes.writeUInt16LE(parts === undefined ? 0 : Number(parts), partCountAt)
    bytes[checksumAt] = checksumCode(record.checksum)
    return seal(key, bytes, secondFormat)
  },

  /** Decodes only what a listing shows. */
  decodeListed(key: Key, bytes: Buffer): ListedObject | DeleteMarker {
    unseal(key, bytes, secondFormat)
    return isMarker(bytes) ? { kind: 'marker', ...decodeName(bytes) } : decodeListedObject(key, bytes)
  },

  /** The same with the object's owner, which needs the whole record decoded. */
  decodeOwned(key: Key, bytes: Buffer): ListedObject | DeleteMarker {
    const record = versionCodec.decode(key, bytes)
    return record.kind === 'marker' ? record : { ...decodeListedObject(key, bytes), owner: record.attributes.owner }
  },

  decode(key: Key, bytes: Buffer): VersionRecord {
    const listed = versionCodec.decodeListed(key, bytes)
    if (listed.kind === 'marker') return listed
    const decodeItsRest = bytes[formatAt] === secondFormat ? decodeRest : decodeFirstRest
    const rest = decodeItsRest(bytes, restAt, listed)
    const checksum =
      listed.checksum === undefined || rest.checksumValue === undefined
        ? undefined
        : { ...listed.checksum, value: rest.checksumValue }
    // Field by field: every GET runs this, and a spread costs as much as the parsing.
    return {
      kind: 'object',
      sequence: listed.sequence,
      versionId: listed.versionId,
      modifiedMs: listed.modifiedMs,
      size: listed.size,
      etag: listed.etag,
      checksum,
      attributes: rest.attributes,
      data: rest.data,
      encryption: rest.encryption,
    }
  },
}

/** For current versions, which are always objects. Throws `RecordDamaged` for a marker. */
export const objectCodec = {
  encode: (key: Key, record: ObjectRecord): Buffer => versionCodec.encode(key, record),
  decodeListed: (key: Key, bytes: Buffer): ListedObject => objectOf(key, versionCodec.decodeListed(key, bytes)),
  decodeOwned: (key: Key, bytes: Buffer): ListedObject => objectOf(key, versionCodec.decodeOwned(key, bytes)),
  decode: (key: Key, bytes: Buffer): ObjectRecord => objectOf(key, versionCodec.decode(key, bytes)),
}

function objectOf<T extends { kind: 'object' }>(key: Key, record: T | DeleteMarker): T {
  if (record.kind === 'marker') throw new RecordDamaged(key, 'a delete marker where only objects lie')
  return record
}
