/** S3's checksums computed another way than the server does: bit by bit from the polynomials, so that tables and WebAssembly are checked against it. */
import { createHash } from 'node:crypto'

export type Algorithm = 'CRC32' | 'CRC32C' | 'CRC64NVME' | 'SHA1' | 'SHA256'

export const algorithms: readonly Algorithm[] = ['CRC32', 'CRC32C', 'CRC64NVME', 'SHA1', 'SHA256']

/** Reflected polynomials of the catalogue of CRC algorithms. */
const polynomials = {
  CRC32: [0xedb88320n, 32n],
  CRC32C: [0x82f63b78n, 32n],
  CRC64NVME: [0x9a6c9329ac4bc9b5n, 64n],
} as const

/** As S3 sends it: base64 of the digest, a CRC's in network byte order. */
export function referenceChecksum(algorithm: Algorithm, data: string | Buffer): string {
  return referenceDigest(algorithm, Buffer.from(data)).toString('base64')
}

export function referenceDigest(algorithm: Algorithm, data: Buffer): Buffer {
  if (algorithm === 'SHA1' || algorithm === 'SHA256') return createHash(algorithm).update(data).digest()
  const [polynomial, bits] = polynomials[algorithm]
  const ones = (1n << bits) - 1n
  let register = ones
  for (const byte of data) {
    register ^= BigInt(byte)
    for (let bit = 0; bit < 8; bit++) register = (register & 1n) === 1n ? (register >> 1n) ^ polynomial : register >> 1n
  }
  const hex = (register ^ ones).toString(16).padStart(Number(bits) / 4, '0')
  return Buffer.from(hex, 'hex')
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
