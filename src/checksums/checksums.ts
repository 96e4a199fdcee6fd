/** S3's checksums: their names, how to compute them, and how to combine those of parts. Does not know where they are sent or kept. */
import { createHash, hash } from 'node:crypto'
import { crc32, crc32c } from '@node-rs/crc32'
import type { ByteSource } from '../byte-source.ts'
import { crc64NvmePolynomial, crc64NvmeRegister, multiply } from './gf2.ts'
import { isXxHash, loadXxHash, xxHashDigest, xxHashLoaded } from './xxhash.ts'

export type CrcAlgorithm = 'CRC32' | 'CRC32C' | 'CRC64NVME'

export interface ChecksumField {
  /** Vendor header or trailer, without prefix. */
  header: string
  /** XML element. */
  element: string
  /** Length of the digest. */
  bytes: number
  /** The digest of no bytes at all, in base64. */
  ofNothing: string
}

export const checksumFields = {
  CRC32: { header: 'checksum-crc32', element: 'ChecksumCRC32', bytes: 4, ofNothing: 'AAAAAA==' },
  CRC32C: { header: 'checksum-crc32c', element: 'ChecksumCRC32C', bytes: 4, ofNothing: 'AAAAAA==' },
  CRC64NVME: { header: 'checksum-crc64nvme', element: 'ChecksumCRC64NVME', bytes: 8, ofNothing: 'AAAAAAAAAAA=' },
  MD5: { header: 'checksum-md5', element: 'ChecksumMD5', bytes: 16, ofNothing: '1B2M2Y8AsgTpgAmY7PhCfg==' },
  SHA1: { header: 'checksum-sha1', element: 'ChecksumSHA1', bytes: 20, ofNothing: '2jmj7l5rSw0yVb/vlWAYkK/YBwk=' },
  SHA256: {
    header: 'checksum-sha256',
    element: 'ChecksumSHA256',
    bytes: 32,
    ofNothing: '47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=',
  },
  SHA512: {
    header: 'checksum-sha512',
    element: 'ChecksumSHA512',
    bytes: 64,
    ofNothing: 'z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==',
  },
  XXHASH128: {
    header: 'checksum-xxhash128',
    element: 'ChecksumXXHASH128',
    bytes: 16,
    ofNothing: 'maoG0wFHmNhgAcMkRo1Jfw==',
  },
  XXHASH3: { header: 'checksum-xxhash3', element: 'ChecksumXXHASH3', bytes: 8, ofNothing: 'LQaABTjTlMI=' },
  XXHASH64: { header: 'checksum-xxhash64', element: 'ChecksumXXHASH64', bytes: 8, ofNothing: '70bbN1HY6Zk=' },
} as const satisfies Record<string, ChecksumField>

export type ChecksumAlgorithm = keyof typeof checksumFields

export const checksumAlgorithms = Object.keys(checksumFields) as ChecksumAlgorithm[]

/** Whether `value` is base64 of that many bytes, exactly as an encoder writes it. Refuses forms that decoders merely tolerate. */
export function isBase64Of(bytes: number, value: string): boolean {
  const decoded = Buffer.from(value, 'base64')
  return decoded.length === bytes && decoded.toString('base64') === value
}

export interface Digest {
  update(chunk: Buffer): void
  /** Call once. A number (CRC, xxHash) is returned as its big-endian bytes, as S3 sends it. */
  digest(): Buffer
}

/**
 * Resolves when digests of these algorithms can be created; `undefined` when they already can, which is nearly always. Await it before `createDigest` and
 * `digestOf`, because the xxHash library is loaded only when a request first names it.
 */
export function digestsReady(algorithms: readonly ChecksumAlgorithm[]): Promise<void> | undefined {
  return algorithms.some(isXxHash) && !xxHashLoaded() ? loadXxHash() : undefined
}

/** Throws when `digestsReady` was not awaited. */
export function createDigest(algorithm: ChecksumAlgorithm): Digest {
  switch (algorithm) {
    case 'CRC32':
      return crc32Digest(crc32)
    case 'CRC32C':
      return crc32Digest(crc32c)
    case 'CRC64NVME':
      return crc64NvmeDigest()
    case 'MD5':
    case 'SHA1':
    case 'SHA256':
    case 'SHA512':
      return createHash(hashNames[algorithm])
    case 'XXHASH128':
    case 'XXHASH3':
    case 'XXHASH64':
      return xxHashDigest(algorithm)
  }
}

/** The digest of bytes in one piece, without a `Digest` object: creating one costs more than the digest of a few KiB. */
export function digestOf(algorithm: ChecksumAlgorithm, bytes: Buffer): Buffer {
  if (isNodeHash(algorithm)) return hash(hashNames[algorithm], bytes, 'buffer')
  const digest = createDigest(algorithm)
  digest.update(bytes)
  return digest.digest()
}

/** In Node's own spelling, because Node looks up any other spelling each time. */
const hashNames = { MD5: 'md5', SHA1: 'sha1', SHA256: 'sha256', SHA512: 'sha512' } as const

function isNodeHash(algorithm: ChecksumAlgorithm): algorithm is keyof typeof hashNames {
  return algorithm in hashNames
}

function crc32Digest(checksum: (chunk: Buffer, before: number) => number): Digest {
  let crc = 0
  return {
    update: (chunk) => {
      crc = checksum(chunk, crc)
    },
    digest: () => bigEndian(BigInt(crc), 32),
  }
}

function crc64NvmeDigest(): Digest {
  const inverted = 0xffff_ffff_ffff_ffffn
  let register = inverted
  return {
    update: (chunk) => {
      register = crc64NvmeRegister(register, chunk)
    },
    digest: () => bigEndian(register ^ inverted, 64),
  }
}

function bigEndian(value: bigint, bits: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(value)
  return bytes.subarray(8 - bits / 8)
}

interface CrcParameters {
  bits: 32 | 64
  /** Reflected. */
  polynomial: bigint
  /** Element k is x^(2^k), reflected; grows as needed. */
  powers: bigint[]
}

/** x^1. Each further power is the square of the one before. */
const powersFrom = (bits: number): bigint[] => [1n << BigInt(bits - 2)]

const crcParameters: Record<CrcAlgorithm, CrcParameters> = {
  CRC32: { bits: 32, polynomial: 0xedb88320n, powers: powersFrom(32) },
  CRC32C: { bits: 32, polynomial: 0x82f63b78n, powers: powersFrom(32) },
  CRC64NVME: { bits: 64, polynomial: crc64NvmePolynomial, powers: powersFrom(64) },
}

/** The CRC of A followed by B, from their CRCs and the length of B in bytes: crcA * x^(8 * lengthB) + crcB. */
export function combineCrc(algorithm: CrcAlgorithm, crcA: Buffer, crcB: Buffer, lengthB: number): Buffer {
  const { bits, polynomial } = crcParameters[algorithm]
  let shifted = unsignedOf(crcA)
  let k = 3 // A byte is 2^3 bits.
  for (let rest = lengthB; rest > 0; rest = Math.floor(rest / 2), k++) {
    if (rest % 2 === 1) shifted = multiply(powerOfX(algorithm, k), shifted, polynomial, bits)
  }
  return bigEndian(shifted ^ unsignedOf(crcB), bits)
}

function powerOfX(algorithm: CrcAlgorithm, k: number): bigint {
  const { bits, polynomial, powers } = crcParameters[algorithm]
  let last = powers.at(-1) ?? 0n
  while (powers.length <= k) {
    last = multiply(last, last, polynomial, bits)
    powers.push(last)
  }
  return powers[k] ?? 0n
}

function unsignedOf(crc: Buffer): bigint {
  return crc.length === 4 ? BigInt(crc.readUInt32BE()) : crc.readBigUInt64BE()
}

/** `source`, feeding every byte to `digests` on its way. They are complete once it has been drained or read. */
export function digestingSource(source: ByteSource, digests: readonly Digest[]): ByteSource {
  const update = (chunk: Buffer): void => {
    for (const digest of digests) digest.update(chunk)
  }
  return {
    size: source.size,
    drain: (sink) =>
      source.drain((chunk) => {
        update(chunk)
        return sink(chunk)
      }),
    read: async () => {
      const bytes = await source.read()
      update(bytes)
      return bytes
    },
    cancel: () => source.cancel(),
  }
}
