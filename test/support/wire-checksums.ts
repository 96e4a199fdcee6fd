/** S3's checksums computed another way than the server does: CRCs bit by bit from the polynomials, xxHash by another library. */
import { createHash } from 'node:crypto'
import xxhash from '@node-rs/xxhash'

export const algorithms = [
  'CRC32',
  'CRC32C',
  'CRC64NVME',
  'MD5',
  'SHA1',
  'SHA256',
  'SHA512',
  'XXHASH128',
  'XXHASH3',
  'XXHASH64',
] as const

export type Algorithm = (typeof algorithms)[number]

/** Those whose checksum of an object made of parts can be of the whole object. */
const isCrc = (algorithm: Algorithm): algorithm is 'CRC32' | 'CRC32C' | 'CRC64NVME' => algorithm.startsWith('CRC')

/** Reflected polynomials of the catalogue of CRC algorithms, in halves of 32 bits: the high one of 32-bit CRCs is empty. */
const polynomials = {
  CRC32: [0, 0xedb88320, 4],
  CRC32C: [0, 0x82f63b78, 4],
  CRC64NVME: [0x9a6c9329, 0xac4bc9b5, 8],
} as const

const ones = 0xffffffff

/** What each byte makes of an empty register. */
const crcTables = {
  CRC32: crcTable('CRC32'),
  CRC32C: crcTable('CRC32C'),
  CRC64NVME: crcTable('CRC64NVME'),
}

function crcTable(algorithm: keyof typeof polynomials): { highs: Int32Array; lows: Int32Array; bytes: 4 | 8 } {
  const [polynomialHigh, polynomialLow, bytes] = polynomials[algorithm]
  const highs = new Int32Array(256)
  const lows = new Int32Array(256)
  for (let byte = 0; byte < 256; byte++) {
    let high = 0
    let low = byte
    for (let bit = 0; bit < 8; bit++) {
      const isOdd = (low & 1) === 1
      low = (low >>> 1) | (high << 31)
      high >>>= 1
      if (!isOdd) continue
      high ^= polynomialHigh
      low ^= polynomialLow
    }
    highs[byte] = high
    lows[byte] = low
  }
  return { highs, lows, bytes }
}

/** In the form that S3 sends: base64 of the digest, with a CRC in network byte order. */
export function referenceChecksum(algorithm: Algorithm, data: string | Buffer): string {
  return referenceDigest(algorithm, Buffer.from(data)).toString('base64')
}

export function referenceDigest(algorithm: Algorithm, data: Buffer): Buffer {
  if (algorithm === 'XXHASH64') return numberOf(xxhash.xxh64(data), 8)
  if (algorithm === 'XXHASH3') return numberOf(xxhash.xxh3.xxh64(data), 8)
  if (algorithm === 'XXHASH128') return numberOf(xxhash.xxh3.xxh128(data), 16)
  if (!isCrc(algorithm)) return createHash(algorithm).update(data).digest()
  const { highs, lows, bytes } = crcTables[algorithm]
  let high: number = bytes === 8 ? ones : 0
  let low: number = ones
  for (const byte of data) {
    const i = (low ^ byte) & 0xff
    low = (low >>> 8) ^ (high << 24) ^ (lows[i] ?? 0)
    high = (high >>> 8) ^ (highs[i] ?? 0)
  }
  const register = Buffer.alloc(8)
  register.writeUInt32BE((high ^ ones) >>> 0)
  register.writeUInt32BE((low ^ ones) >>> 0, 4)
  return register.subarray(8 - bytes)
}

const numberOf = (value: bigint, bytes: number): Buffer =>
  Buffer.from(value.toString(16).padStart(2 * bytes, '0'), 'hex')

/** The composite checksum of parts: the digest of their digests, and how many they are. */
export function referenceComposite(algorithm: Algorithm, parts: readonly Buffer[]): string {
  const digests = Buffer.concat(parts.map((part) => referenceDigest(algorithm, part)))
  return `${referenceDigest(algorithm, digests).toString('base64')}-${parts.length}`
}

export const md5Hex = (data: string | Buffer): string => createHash('md5').update(data).digest('hex')
export const md5Base64 = (data: string | Buffer): string => createHash('md5').update(data).digest('base64')

/** The entity tag that S3 gives an object of these parts. */
export function multipartEtag(parts: readonly (string | Buffer)[]): string {
  const digests = Buffer.concat(parts.map((part) => Buffer.from(md5Hex(part), 'hex')))
  return `"${md5Hex(digests)}-${parts.length}"`
}
