/** The bytes of one record in a segment (ADR 0003): header, description, block checksums, payload, padding. Pure. */
import { crc32c } from '@node-rs/crc32'
import { alignUp, pageBytes } from '../alignment.ts'
import { type BlockChecksum, checksumTableBytes, damagedBlock, writeChecksums } from '../block-checksums.ts'

const magic = 0x72734648 // 'HFsr'
const version = 3
/** Version 1 has zeros where later ones have the bytes of the gap. */
const blockChecksums: Readonly<Record<number, BlockChecksum>> = { 1: 'crc32c', 2: 'crc32c', [version]: 'crc32' }
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
  blockChecksum: BlockChecksum
  /** Zeros between the block checksums and the payload. */
  gapBytes: number
  writtenMs: number
}

type RecordLengths = Pick<RecordHeader, 'kind' | 'payloadBytes' | 'descriptionBytes' | 'blockBytes' | 'gapBytes'>

/** A record that has no position yet: everything that can be computed before its group is written. */
export interface UnfinishedRecord {
  /** Header (blank), description and block checksums. */
  head: Buffer
  payload: Buffer
  /** Padding included. */
  totalBytes: number
  /** For a record that is written in place: its pages, in which everything else is zeros. */
  pages?: { bytes: Buffer; recordAt: number }
}

/** How many bytes the record takes in a segment. */
export const roomOf = ({ pages, totalBytes }: UnfinishedRecord): number => pages?.bytes.length ?? totalBytes

const padding = Buffer.alloc(recordAlignment)

/** Bytes before the payload. */
export function headBytesOf(header: RecordLengths): number {
  if (header.kind === 'seal') return recordHeaderBytes
  const { descriptionBytes, payloadBytes, blockBytes, gapBytes } = header
  return recordHeaderBytes + descriptionBytes + checksumTableBytes(payloadBytes, blockBytes) + gapBytes
}

export function totalBytesOf(header: RecordHeader): number {
  const payloadBytes = header.kind === 'seal' ? 0 : header.payloadBytes
  return alignUp(headBytesOf(header) + payloadBytes, recordAlignment)
}

export function buildRecord(description: Buffer, payload: Buffer, blockBytes: number): UnfinishedRecord {
  const head = Buffer.allocUnsafe(unalignedHeadBytes(description, payload.length, blockBytes))
  fillHead(head, description, payload, blockBytes)
  return { head, payload, totalBytes: alignUp(head.length + payload.length, recordAlignment) }
}

/** Room before the payload of a record that is written in place. */
export const pagedLeadBytes = pageBytes

/**
 * A record that is written in place, in whole pages. `memory` holds the payload from `pagedLeadBytes` on, and its last page. The head goes right before the payload. A
 * head that has no room there is written separately, as that of a small record.
 */
export function buildPagedRecord(
  description: Buffer,
  memory: Buffer,
  payloadBytes: number,
  blockBytes: number,
): UnfinishedRecord {
  const payloadEnd = pagedLeadBytes + payloadBytes
  const payload = memory.subarray(pagedLeadBytes, payloadEnd)
  const headBytes = alignUp(unalignedHeadBytes(description, payloadBytes, blockBytes), recordAlignment)
  if (headBytes > pagedLeadBytes) return buildRecord(description, payload, blockBytes)
  const recordAt = pagedLeadBytes - headBytes
  const bytes = memory.subarray(0, alignUp(payloadEnd, pageBytes))
  bytes.fill(0, 0, pagedLeadBytes).fill(0, payloadEnd)
  const head = bytes.subarray(recordAt, pagedLeadBytes)
  fillHead(head, description, payload, blockBytes)
  return {
    head,
    payload,
    totalBytes: alignUp(headBytes + payloadBytes, recordAlignment),
    pages: { bytes, recordAt },
  }
}

function unalignedHeadBytes(description: Buffer, payloadBytes: number, blockBytes: number): number {
  return recordHeaderBytes + description.length + checksumTableBytes(payloadBytes, blockBytes)
}

/** Fills in the head, except for the record's position. Room that is left over becomes the gap. */
function fillHead(head: Buffer, description: Buffer, payload: Buffer, blockBytes: number): void {
  const tableAt = recordHeaderBytes + description.length
  const gapAt = unalignedHeadBytes(description, payload.length, blockBytes)
  description.copy(head, recordHeaderBytes)
  writeChecksums(payload, blockBytes, head.subarray(tableAt, gapAt))
  writeLengths(head, {
    kind: 'shard',
    payloadBytes: payload.length,
    descriptionBytes: description.length,
    blockBytes,
    gapBytes: head.length - gapAt,
  })
}

export type RecordPosition = Pick<RecordHeader, 'segment' | 'offset' | 'ordinal' | 'groupOrdinal' | 'writtenMs'>

/** Finishes the record for its position: returns the buffers to write there, one after the other. */
export function finishRecord(record: UnfinishedRecord, position: RecordPosition): Buffer[] {
  writePosition(record.head, position)
  if (record.pages !== undefined) return [record.pages.bytes]
  const used = record.head.length + record.payload.length
  return [record.head, record.payload, padding.subarray(0, record.totalBytes - used)]
}

export function buildSeal(position: RecordPosition, recordBytes: number): Buffer {
  const head = Buffer.allocUnsafe(recordHeaderBytes)
  writeLengths(head, { kind: 'seal', payloadBytes: recordBytes, descriptionBytes: 0, blockBytes: 0, gapBytes: 0 })
  writePosition(head, position)
  return head
}

function writeLengths(
  head: Buffer,
  { kind, payloadBytes, descriptionBytes, blockBytes, gapBytes }: RecordLengths,
): void {
  head.writeUInt32LE(magic, 0)
  head.writeUInt8(version, 8)
  head.writeUInt8(kinds.indexOf(kind), 9)
  head.writeUInt16LE(gapBytes, 10)
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
  if (bytes.length < recordHeaderBytes || bytes.readUInt32LE(0) !== magic) return undefined
  const blockChecksum = blockChecksums[bytes.readUInt8(8)]
  const kind = kinds[bytes.readUInt8(9)]
  const blockBytes = bytes.readUInt32LE(12)
  if (blockChecksum === undefined || kind === undefined || (kind === 'shard' && blockBytes === 0)) return undefined
  if (bytes.readUIntLE(32, 6) !== offset || bytes.toString('hex', 48, 64) !== segment) return undefined
  return {
    kind,
    segment,
    offset,
    blockBytes,
    blockChecksum,
    gapBytes: bytes.readUInt16LE(10),
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

/** The header of the record of `totalBytes` bytes whose beginning is in `bytes`, or why there is none. `isWhole`: all of the head is there, and intact. */
export function readHead(
  bytes: Buffer,
  { segment, offset, totalBytes }: { segment: string; offset: number; totalBytes: number },
): { header: RecordHeader; isWhole: boolean } | string {
  const header = readHeader(bytes, segment, offset)
  if (header === undefined) return 'no record of this segment and offset is there'
  const isWhole = headBytesOf(header) <= bytes.length
  if (isWhole && !headIntact(bytes, header)) return 'the header is damaged'
  if (header.kind !== 'shard' || totalBytesOf(header) !== totalBytes) return 'the record is another one'
  return { header, isWhole }
}

/** The checksums of the payload's blocks. */
export function tableOf(bytes: Buffer, header: RecordHeader): Buffer {
  const tableAt = recordHeaderBytes + header.descriptionBytes
  return bytes.subarray(tableAt, tableAt + checksumTableBytes(header.payloadBytes, header.blockBytes))
}

/** The verified payload of the whole record in `bytes`, or why there is none. */
export function readPayload(bytes: Buffer, segment: string, offset: number): Buffer | string {
  const header = readShardHeader(bytes, segment, offset)
  if (typeof header === 'string') return header
  const headBytes = headBytesOf(header)
  const payload = bytes.subarray(headBytes, headBytes + header.payloadBytes)
  const { blockBytes, blockChecksum } = header
  const damaged = damagedBlock(payload, { blockBytes, blockChecksum, table: tableOf(bytes, header) })
  return damaged === undefined ? payload : `block ${damaged} is damaged`
}

/** The verified description of the whole record in `bytes`, or why there is none. */
export function readDescription(bytes: Buffer, segment: string, offset: number): Buffer | string {
  const header = readShardHeader(bytes, segment, offset)
  return typeof header === 'string' ? header : descriptionOf(bytes, header)
}

function readShardHeader(bytes: Buffer, segment: string, offset: number): RecordHeader | string {
  const found = readHead(bytes, { segment, offset, totalBytes: bytes.length })
  if (typeof found === 'string') return found
  return found.isWhole ? found.header : 'the header is damaged'
}
