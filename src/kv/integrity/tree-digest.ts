/**
 * A digest of all entries of a metadata file, which every commit keeps up to date (ADR 0023): how many there are, and two sums over their keys and
 * versions. No two entries ever have the same, so what is missing, hidden, stale or there twice changes it.
 */
import { endianness } from 'node:os'
import { crc32c } from '@node-rs/crc32'
import type { Key } from '../kv.ts'

export interface DigestSums {
  entries: number
  /** Modulo 2 ** 32. */
  first: number
  second: number
}

/** The engine's own record, written by each commit. */
export interface TreeDigest extends DigestSums {
  /** Of the commit that wrote it. */
  txnId: number
  /** 0: of all entries. Else what commits changed since this one: what there was before, nobody has counted yet. */
  since: number
}

/** Behind every other key: tables are named by letters. No key may begin with it. */
export const digestKey: Key = Buffer.alloc(16, 0xff)

/** A version as it is stored, and its halves. */
const storedVersion = new Float64Array(1)
const halves = new Int32Array(storedVersion.buffer)
/** Which half is the lower one is the processor's choice. */
const lowHalf = endianness() === 'LE' ? 0 : 1

/** Collects sums. */
export class DigestTally {
  #entries = 0
  #first = 0
  #second = 0

  /** How many writes it was told of. */
  writes = 0

  /** `undefined`: there is no such entry. */
  replace(key: Key, before: number | undefined, after: number | undefined): void {
    const keySum = crc32c(key)
    this.writes++
    if (before !== undefined) this.#count(keySum, before, -1)
    if (after !== undefined) this.#count(keySum, after, 1)
  }

  #count(keySum: number, version: number, times: 1 | -1): void {
    storedVersion[0] = version
    this.addStored(keySum, halves[lowHalf] ?? 0, halves[1 - lowHalf] ?? 0, times)
  }

  /** `keySum`: CRC32C of the key. `low`, `high`: the version's halves, as they are stored. */
  addStored(keySum: number, low: number, high: number, times: 1 | -1): void {
    const first = mix(mix(keySum ^ low) ^ high)
    const second = mix(mix(Math.imul(keySum, 0x9e3779b1) ^ high) ^ Math.imul(low, 0x85ebca77))
    this.#entries += times
    this.#first = (this.#first + times * first) | 0
    this.#second = (this.#second + times * second) | 0
  }

  get sums(): DigestSums {
    return { entries: this.#entries, first: this.#first >>> 0, second: this.#second >>> 0 }
  }
}

/** A bijection of 32 bits in which every bit of the input changes about half of the output. */
function mix(value: number): number {
  let mixed = value ^ (value >>> 16)
  mixed = Math.imul(mixed, 0x7feb352d)
  mixed ^= mixed >>> 15
  mixed = Math.imul(mixed, 0x846ca68b)
  return (mixed ^ (mixed >>> 16)) | 0
}

export function sumOf(one: DigestSums, other: DigestSums): DigestSums {
  return {
    entries: one.entries + other.entries,
    first: (one.first + other.first) >>> 0,
    second: (one.second + other.second) >>> 0,
  }
}

export function differenceOf(one: DigestSums, other: DigestSums): DigestSums {
  return {
    entries: one.entries - other.entries,
    first: (one.first - other.first) >>> 0,
    second: (one.second - other.second) >>> 0,
  }
}

export function areEqual(one: DigestSums, other: DigestSums): boolean {
  return one.entries === other.entries && one.first === other.first && one.second === other.second
}

const digestFormat = 1
const digestBytes = 48

/** Its format, the ids, the sums, and a CRC32C over all of it. */
export function packDigest({ txnId, since, entries, first, second }: TreeDigest): Buffer {
  const bytes = Buffer.alloc(digestBytes)
  bytes.writeUInt32LE(digestFormat, 0)
  bytes.writeDoubleLE(txnId, 4)
  bytes.writeDoubleLE(since, 12)
  bytes.writeDoubleLE(entries, 20)
  bytes.writeUInt32LE(first, 28)
  bytes.writeUInt32LE(second, 32)
  bytes.writeUInt32LE(crc32c(bytes.subarray(0, digestBytes - 4)), digestBytes - 4)
  return bytes
}

/** `undefined` when the bytes are none that `packDigest` made. */
export function unpackDigest(bytes: Buffer): TreeDigest | undefined {
  if (bytes.length !== digestBytes || bytes.readUInt32LE(0) !== digestFormat) return undefined
  if (crc32c(bytes.subarray(0, digestBytes - 4)) !== bytes.readUInt32LE(digestBytes - 4)) return undefined
  return {
    txnId: bytes.readDoubleLE(4),
    since: bytes.readDoubleLE(12),
    entries: bytes.readDoubleLE(20),
    first: bytes.readUInt32LE(28),
    second: bytes.readUInt32LE(32),
  }
}
