/** The bytes of one record in a segment (ADR 0003): header, description, block checksums, payload, padding. Pure. */
import { crc32c } from '@node-rs/crc32'
import { alignUp } from './alignment.ts'
import { checksumTableBytes, damagedBlock, writeChecksums } from './block-checksums.ts'

const magic = 0x72734648 // 'HFsr'
const version = 1
const kinds = ['shard', 'seal'] as const
const coveredFrom = 8

export const recordHeaderBytes = 64
export const recordAlignment = 16

/** The fields of a header. Its checksum also covers the description and the block checksums, which in turn cover the payload. */
export interface RecordHeader {
  /** `seal` ends a segment that was closed properly: its ordinal counts the records before it. */
  kind: (typeof kinds)[number]
  /** The segment and offset that the record was written for: the same bytes elsewhere are not this record. */
  segment: string
  offset: number
  /** Counts the records of a segment from 0, so that a lost one shows as a gap. */
  ordinal: number
  /** Ordinal of the first record that was written and synced together with this one. */
  groupOrdinal: number
  /** In a seal: bytes of all records of the segment. */
  payloadBytes: number
  descriptionBytes: number
  blockBytes: number
  writtenMs: number
}

/** A record that has no position yet: everything that can be computed before its group is written. */
export interface UnfinishedRecord {
  /** Header (blank), description and block checksums. */
  head: Buffer
  payload: Buffer
  /** Padding included. */
  totalBytes: number
}

const padding = Buffer.alloc(recordAlignment)

/** Bytes before the payload. */
export function headBytesOf(
  header: Pick<RecordHeader, 'kind' | 'payloadBytes' | 'descriptionBytes' | 'blockBytes'>,
): number {
  if (header.kind === 'seal') return recordHeaderBytes
  return recordHeaderBytes + header.descriptionBytes + checksumTableBytes(header.payloadBytes, header.blockBytes)
}

export function totalBytesOf(header: RecordHeader): number {
  const payloadBytes = header.kind === 'seal' ? 0 : header.payloadBytes
  return alignUp(headBytesOf(header) + payloadBytes, recordAlignment)
}

export function buildRecord(description: Buffer, payload: Buffer, blockBytes: number): UnfinishedRecord {
  const tableAt = recordHeaderBytes + description.length
  const headBytes = tableAt + checksumTableBytes(payload.length, blockBytes)
  const head = Buffer.allocUnsafe(headBytes)
  description.copy(head, recordHeaderBytes)
  writeChecksums(payload, blockBytes, head.subarray(tableAt))
  writeLengths(head, 'shard', payload.length, description.length, blockBytes)
  return { head, payload, totalBytes: alignUp(headBytes + payload.length, recordAlignment) }
}

export type RecordPosition = Pick<RecordHeader, 'segment' | 'offset' | 'ordinal' | 'groupOrdinal' | 'writtenMs'>

/** Finishes the record for its position: returns the buffers to write there, one after the other. */
export function finishRecord(record: UnfinishedRecord, position: RecordPosition): Buffer[] {
  writePosition(record.head, position)
  const used = record.head.length + record.payload.length
  return [record.head, record.payload, padding.subarray(0, record.totalBytes - used)]
}

export function buildSeal(position: RecordPosition, recordBytes: number): Buffer {
  const head = Buffer.allocUnsafe(recordHeaderBytes)
  writeLengths(head, 'seal', recordBytes, 0, 0)
  writePosition(head, position)
  return head
}

function writeLengths(
  head: Buffer,
  kind: RecordHeader['kind'],
  payloadBytes: number,
  descriptionBytes: number,
  blockBytes: number,
): void {
  head.writeUInt32LE(magic, 0)
  head.writeUInt8(version, 8)
  head.writeUInt8(kinds.indexOf(kind), 9)
  head.writeUInt16LE(0, 10)
  head.writeUInt32LE(blockBytes, 12)
  head.writeUIntLE(payloadBytes, 16, 6)
  head.writeUInt32LE(descriptionBytes, 22)
}

function writePosition(head: Buffer, { segment, offset, ordinal, groupOrdinal, writtenMs }: RecordPosition): void {
  head.writeUIntLE(writtenMs, 26, 6)
  head.writeUIntLE(offset, 32, 6)
  head.writeUInt32LE(ordinal, 38)
  head.writeUInt32LE(groupOrdinal, 42)
  head.writeUInt16LE(0, 46)
  head.write(segment, 48, 'hex')
  head.writeUInt32LE(crc32c(head.subarray(coveredFrom)), 4)
}

/**
 * The header at the start of `bytes`, if its own fields make sense for that segment and offset. Only `headIntact`
 * over all `headBytesOf(header)` bytes proves it.
 */
export function readHeader(bytes: Buffer, segment: string, offset: number): RecordHeader | undefined {
  if (bytes.length < recordHeaderBytes || bytes.readUInt32LE(0) !== magic || bytes.readUInt8(8) !== version)
    return undefined
  const kind = kinds[bytes.readUInt8(9)]
  const blockBytes = bytes.readUInt32LE(12)
  if (kind === undefined || (kind === 'shard' && blockBytes === 0)) return undefined
  if (bytes.readUIntLE(32, 6) !== offset || bytes.toString('hex', 48, 64) !== segment) return undefined
  return {
    kind,
    segment,
    offset,
    blockBytes,
    payloadBytes: bytes.readUIntLE(16, 6),
    descriptionBytes: bytes.readUInt32LE(22),
    writtenMs: bytes.readUIntLE(26, 6),
    ordinal: bytes.readUInt32LE(38),
    groupOrdinal: bytes.readUInt32LE(42),
  }
}

export function headIntact(bytes: Buffer, header: RecordHeader): boolean {
  const headBytes = headBytesOf(header)
  return bytes.length >= headBytes && bytes.readUInt32LE(4) === crc32c(bytes.subarray(coveredFrom, headBytes))
}

export function descriptionOf(bytes: Buffer, header: RecordHeader): Buffer {
  return Buffer.from(bytes.subarray(recordHeaderBytes, recordHeaderBytes + header.descriptionBytes))
}

/** The verified payload of the whole record in `bytes`, or why there is none. */
export function readPayload(bytes: Buffer, segment: string, offset: number): Buffer | string {
  const header = readShardHeader(bytes, segment, offset)
  if (typeof header === 'string') return header
  const headBytes = headBytesOf(header)
  const payload = bytes.subarray(headBytes, headBytes + header.payloadBytes)
  const table = bytes.subarray(recordHeaderBytes + header.descriptionBytes, headBytes)
  const damaged = damagedBlock(payload, header.blockBytes, table)
  return damaged === undefined ? payload : `block ${damaged} is damaged`
}

/** The verified description of the whole record in `bytes`, or why there is none. */
export function readDescription(bytes: Buffer, segment: string, offset: number): Buffer | string {
  const header = readShardHeader(bytes, segment, offset)
  return typeof header === 'string' ? header : descriptionOf(bytes, header)
}

function readShardHeader(bytes: Buffer, segment: string, offset: number): RecordHeader | string {
  const header = readHeader(bytes, segment, offset)
  if (header === undefined) return 'no record of this segment and offset is there'
  if (!headIntact(bytes, header)) return 'the header is damaged'
  if (header.kind !== 'shard' || totalBytesOf(header) !== bytes.length) return 'the record is another one'
  return header
}
