/**
 * A digest of all entries of a metadata file, which every commit updates (ADR 0023): their number, and two sums over their keys and versions. No two
 * entries ever share both, so an entry that is missing, hidden, stale or duplicated changes the digest.
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
  /** The commit that wrote it. */
  txnId: number
  /** 0: the digest covers all entries. Otherwise it covers the changes since this commit; older entries have not been counted yet. */
  since: number
}

/** Sorts after every other key, because table names are letters. No key may begin with it. */
export const digestKey: Key = Buffer.alloc(16, 0xff)

/** A version in its stored form, and its halves. */
const storedVersion = new Float64Array(1)
const halves = new Int32Array(storedVersion.buffer)
/** The index of the lower half depends on the processor's byte order. */
const lowHalf = endianness() === 'LE' ? 0 : 1

/** Sums up the changes of a batch of commits. */
export class DigestTally {
  #entries = 0
  #first = 0
  #second = 0

  /** The number of writes counted. */
  writes = 0

  /** `before` or `after` is `undefined` when the entry does not exist then. */
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

  /** `keySum`: CRC32C of the key. `low`, `high`: the halves of the stored version. */
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

/** A bijection of 32 bits; flipping any bit of the input flips about half of the output's. */
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

/** The format, the ids, the sums, and a CRC32C over all of these. */
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

/** `undefined` when the bytes do not come from `packDigest`. */
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
