/** S3's checksums computed another way than the server does: bit by bit from the polynomials, so that tables and WebAssembly are checked against it. */
import { createHash } from 'node:crypto'

export type Algorithm = 'CRC32' | 'CRC32C' | 'CRC64NVME' | 'SHA1' | 'SHA256'

export const algorithms: readonly Algorithm[] = ['CRC32', 'CRC32C', 'CRC64NVME', 'SHA1', 'SHA256']

/** Reflected polynomials of the catalogue of CRC algorithms, in halves of 32 bits: the high one of 32-bit CRCs is empty. */
const polynomials = {
  CRC32: [0, 0xedb88320, 4],
  CRC32C: [0, 0x82f63b78, 4],
  CRC64NVME: [0x9a6c9329, 0xac4bc9b5, 8],
} as const

/** As S3 sends it: base64 of the digest, a CRC's in network byte order. */
export function referenceChecksum(algorithm: Algorithm, data: string | Buffer): string {
  return referenceDigest(algorithm, Buffer.from(data)).toString('base64')
}

export function referenceDigest(algorithm: Algorithm, data: Buffer): Buffer {
  if (algorithm === 'SHA1' || algorithm === 'SHA256') return createHash(algorithm).update(data).digest()
  const [polynomialHigh, polynomialLow, bytes] = polynomials[algorithm]
  const ones = 0xffffffff
  let high: number = bytes === 8 ? ones : 0
  let low: number = ones
  for (const byte of data) {
    low ^= byte
    for (let bit = 0; bit < 8; bit++) {
      const isOdd = (low & 1) === 1
      low = (low >>> 1) | (high << 31)
      high >>>= 1
      if (!isOdd) continue
      high ^= polynomialHigh
      low ^= polynomialLow
    }
  }
  const register = Buffer.alloc(8)
  register.writeUInt32BE((high ^ ones) >>> 0)
  register.writeUInt32BE((low ^ ones) >>> 0, 4)
  return register.subarray(8 - bytes)
}

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
