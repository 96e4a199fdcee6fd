/**
 * The byte format that all records share. Every record starts with its format number and a CRC32C over key and content, so that a read notices a flipped bit
 * or a record under a wrong key. Older formats are upgraded on read; writes use the newest.
 */
import { crc32c } from '@node-rs/crc32'
import type { Manifest } from '../blobs/blobs.ts'
import type { Key } from '../kv/kv.ts'
import { limits } from '../limits.ts'
import { manifestBytes, readManifest } from './manifest-bytes.ts'

/** Thrown when a stored record is not what was written under its key. */
export class RecordDamaged extends Error {
  constructor(key: Key, why: string) {
    super(`metadata record ${key.toString('hex')}: ${why}`)
    this.name = 'RecordDamaged'
  }
}

/** The first format of every kind of record: JSON, after a fixed part if the kind has one. */
const jsonFormat = 1
/** The second format, of the kinds that have one. */
export const secondFormat = 2
export const formatAt = 0
const crcAt = 1
export const contentAt = 5

/** Small records are copied behind their key and checked in one piece, because a second native call costs more than the copy. */
const pieceAt = contentAt
const pieceBytesMax = limits.kvKeyBytesMax + 4096
const piece = Buffer.allocUnsafeSlow(pieceAt + pieceBytesMax)
/** Views of `piece` by length, kept because making a view takes as long as the copy. */
const pieceViews = new Array<Buffer | undefined>(pieceBytesMax + 1)

function checksumOf(key: Key, record: Buffer): number {
  const bytes = key.length + record.length - contentAt
  if (bytes > pieceBytesMax) return crc32c(record.subarray(contentAt), crc32c(key))
  // The copy of the record begins with its format and checksum. The key overwrites them.
  piece.set(record, pieceAt + key.length - contentAt)
  piece.set(key, pieceAt)
  let view = pieceViews[bytes]
  if (view === undefined) {
    view = piece.subarray(pieceAt, pieceAt + bytes)
    pieceViews[bytes] = view
  }
  return crc32c(view)
}

export function seal(key: Key, record: Buffer, format = jsonFormat): Buffer {
  record[formatAt] = format
  record.writeUInt32LE(checksumOf(key, record), crcAt)
  return record
}

/** Verifies a record. `newest`: the newest format of its kind. Throws `RecordDamaged`. */
export function unseal(key: Key, record: Buffer, newest = jsonFormat): void {
  if (record.length < contentAt) throw new RecordDamaged(key, 'too short')
  const format = record[formatAt] ?? 0
  if (format < jsonFormat || format > newest) throw new RecordDamaged(key, `unknown format ${format}`)
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
    encode: (key, record) => sealJson(key, record, jsonFormat),
    decode(key, bytes) {
      unseal(key, bytes)
      return contentOf(bytes) as T
    },
  }
}

/** The same for a kind whose JSON has changed once. `upgrade` turns a record of the first format into one of the second. */
export function secondJsonCodec<First, T>(upgrade: (first: First) => T): Codec<T> {
  return {
    encode: (key, record) => sealJson(key, record, secondFormat),
    decode(key, bytes) {
      unseal(key, bytes, secondFormat)
      return bytes[formatAt] === jsonFormat ? upgrade(contentOf(bytes) as First) : (contentOf(bytes) as T)
    },
  }
}

function sealJson(key: Key, record: unknown, format: number): Buffer {
  const json = JSON.stringify(record)
  const bytes = Buffer.allocUnsafe(contentAt + Buffer.byteLength(json))
  bytes.write(json, contentAt)
  return seal(key, bytes, format)
}

function contentOf(bytes: Buffer): unknown {
  return JSON.parse(bytes.toString('utf8', contentAt))
}

/** The field that `manifestCodec` keeps out of the JSON. */
interface Manifested {
  manifest?: Manifest
}

/** A record that can have a manifest: the manifest's length (0: none) in two bytes, the packed manifest, and the other fields as JSON. */
export function manifestCodec<T extends object>(): Codec<T> {
  return {
    encode(key, record) {
      const { manifest, ...rest }: Manifested = record
      const placed = manifest === undefined ? noBytes : manifestBytes(manifest)
      const json = JSON.stringify(rest)
      const bytes = Buffer.allocUnsafe(manifestAt + placed.length + Buffer.byteLength(json))
      bytes.writeUInt16LE(placed.length, contentAt)
      bytes.set(placed, manifestAt)
      bytes.write(json, manifestAt + placed.length)
      return seal(key, bytes, secondFormat)
    },
    decode(key, bytes) {
      unseal(key, bytes, secondFormat)
      if (bytes[formatAt] === jsonFormat) return JSON.parse(bytes.toString('utf8', contentAt)) as T
      const jsonAt = manifestAt + bytes.readUInt16LE(contentAt)
      const record = JSON.parse(bytes.toString('utf8', jsonAt)) as T & Manifested
      if (jsonAt > manifestAt) record.manifest = readManifest(bytes.subarray(manifestAt, jsonAt))
      return record
    },
  }
}

const manifestAt = contentAt + 2
const noBytes = Buffer.alloc(0)
