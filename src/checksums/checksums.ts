/** The checksums that S3 knows: their names, computing them, joining those of parts. Says nothing of where they are sent or kept. */
import { createHash, hash } from 'node:crypto'
import { crc32, crc32c } from '@node-rs/crc32'
import type { ByteSource } from '../byte-source.ts'
import { crc64NvmePolynomial, crc64NvmeRegister, multiply } from './gf2.ts'

export type ChecksumAlgorithm = 'CRC32' | 'CRC32C' | 'CRC64NVME' | 'SHA1' | 'SHA256'
export type CrcAlgorithm = 'CRC32' | 'CRC32C' | 'CRC64NVME'

export interface ChecksumField {
  /** Vendor header or trailer, without prefix. */
  header: string
  /** XML element. */
  element: string
  /** Length of the digest. */
  bytes: number
}

export const checksumFields = {
  CRC32: { header: 'checksum-crc32', element: 'ChecksumCRC32', bytes: 4 },
  CRC32C: { header: 'checksum-crc32c', element: 'ChecksumCRC32C', bytes: 4 },
  CRC64NVME: { header: 'checksum-crc64nvme', element: 'ChecksumCRC64NVME', bytes: 8 },
  SHA1: { header: 'checksum-sha1', element: 'ChecksumSHA1', bytes: 20 },
  SHA256: { header: 'checksum-sha256', element: 'ChecksumSHA256', bytes: 32 },
} as const satisfies Record<ChecksumAlgorithm, ChecksumField>

/** Whether `value` is base64 of that many bytes, as an encoder writes it: what decoders merely tolerate is not. */
export function isBase64Of(bytes: number, value: string): boolean {
  const decoded = Buffer.from(value, 'base64')
  return decoded.length === bytes && decoded.toString('base64') === value
}

export interface Digest {
  update(chunk: Buffer): void
  /** Call once. A CRC is given as its big-endian bytes, as S3 sends it. */
  digest(): Buffer
}

export function createDigest(algorithm: ChecksumAlgorithm | 'MD5'): Digest {
  switch (algorithm) {
    case 'CRC32':
      return crc32Digest(crc32)
    case 'CRC32C':
      return crc32Digest(crc32c)
    case 'CRC64NVME':
      return crc64NvmeDigest()
    case 'SHA1':
    case 'SHA256':
    case 'MD5':
      return createHash(algorithm)
  }
}

/** The digest of what is there in one piece: making an object that could take more costs more than the digest of a few KiB. */
export function digestOf(algorithm: ChecksumAlgorithm | 'MD5', bytes: Buffer): Buffer {
  if (algorithm === 'MD5' || algorithm === 'SHA1' || algorithm === 'SHA256') {
    return hash(hashNames[algorithm], bytes, 'buffer')
  }
  const digest = createDigest(algorithm)
  digest.update(bytes)
  return digest.digest()
}

/** As Node keeps them: a name in other letters is looked up each time. */
const hashNames = { MD5: 'md5', SHA1: 'sha1', SHA256: 'sha256' } as const

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

/** x^1, which every further power is a square of. */
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
