/**
 * What all records have in common as bytes. Every record starts with its format and a CRC32C over key and content, so that a flipped bit or a record
 * under a wrong key is noticed on read. Older formats are upgraded on read; writes use the newest.
 */
import { crc32c } from '@node-rs/crc32'
import type { Key } from '../kv/kv.ts'
import { limits } from '../limits.ts'
import type { Manifest } from '../shards/blobs.ts'
import { manifestBytes, readManifest } from './manifest-bytes.ts'

/** Thrown when a stored record is not what was written under its key. */
export class RecordDamaged extends Error {
  constructor(key: Key, why: string) {
    super(`metadata record ${key.toString('hex')}: ${why}`)
    this.name = 'RecordDamaged'
  }
}

/** Content that is JSON as a whole. */
export const jsonFormat = 1
/** Content that has a manifest as bytes, and JSON behind it. */
export const manifestFormat = 2
export const formatAt = 0
const crcAt = 1
export const contentAt = 5

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

export function seal(key: Key, record: Buffer, format: number): Buffer {
  record[formatAt] = format
  record.writeUInt32LE(checksumOf(key, record), crcAt)
  return record
}

export function unseal(key: Key, record: Buffer): void {
  if (record.length < contentAt) throw new RecordDamaged(key, 'too short')
  const format = record[formatAt]
  if (format !== jsonFormat && format !== manifestFormat) throw new RecordDamaged(key, `unknown format ${format}`)
  if (checksumOf(key, record) !== record.readUInt32LE(crcAt)) {
    throw new RecordDamaged(key, 'checksum mismatch')
  }
}

export interface Codec<T> {
  encode(key: Key, record: T): Buffer
  decode(key: Key, bytes: Buffer): T
}

/** A record whose content is JSON alone. */
export function jsonCodec<T>(): Codec<T> {
  return {
    encode(key, record) {
      const json = JSON.stringify(record)
      const bytes = Buffer.allocUnsafe(contentAt + Buffer.byteLength(json))
      bytes.write(json, contentAt)
      return seal(key, bytes, jsonFormat)
    },
    decode(key, bytes) {
      unseal(key, bytes)
      return JSON.parse(bytes.toString('utf8', contentAt)) as T
    },
  }
}

/** Where JSON shows that a manifest stands before it. */
export interface Manifested {
  manifest?: Manifest
}

/** A record whose content is JSON, and may have a manifest. */
export function manifestCodec<T extends object>(): Codec<T> {
  return {
    encode(key, record) {
      const { manifest, ...rest }: Manifested = record
      return seal(key, withRest(contentAt, manifest, rest), manifestFormat)
    },
    decode(key, bytes) {
      unseal(key, bytes)
      return (
        bytes[formatAt] === jsonFormat ? JSON.parse(bytes.toString('utf8', contentAt)) : restOf(bytes, contentAt)
      ) as T
    },
  }
}

/** A record with room for `head` bytes: behind them the manifest's length (0: none) in two bytes, the manifest, and `rest` as JSON unless it is empty. */
export function withRest(head: number, manifest: Manifest | undefined, rest: object): Buffer {
  const placed = manifest === undefined ? noBytes : manifestBytes(manifest)
  const json = JSON.stringify(rest)
  const hasJson = json !== '{}'
  const restAt = head + 2 + placed.length
  const bytes = Buffer.allocUnsafe(restAt + (hasJson ? Buffer.byteLength(json) : 0))
  bytes.writeUInt16LE(placed.length, head)
  bytes.set(placed, head + 2)
  if (hasJson) bytes.write(json, restAt)
  return bytes
}

export function restOf(bytes: Buffer, head: number): Manifested {
  const restAt = head + 2 + bytes.readUInt16LE(head)
  const rest: Manifested = restAt === bytes.length ? {} : JSON.parse(bytes.toString('utf8', restAt))
  if (restAt > head + 2) rest.manifest = readManifest(bytes.subarray(head + 2, restAt))
  return rest
}

const noBytes = Buffer.alloc(0)
