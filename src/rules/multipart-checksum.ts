/** The checksum of an object made of parts, from the checksums of its parts. Pure. */
import { type ChecksumAlgorithm, type CrcAlgorithm, combineCrc, createDigest } from '../checksums/checksums.ts'
import { S3Error } from '../errors.ts'
import type { Checksum } from '../records/records.ts'

export type ChecksumType = Checksum['type']

const typesOf: Record<ChecksumAlgorithm, readonly [ChecksumType, ...ChecksumType[]]> = {
  CRC32: ['COMPOSITE', 'FULL_OBJECT'],
  CRC32C: ['COMPOSITE', 'FULL_OBJECT'],
  CRC64NVME: ['FULL_OBJECT'],
  MD5: ['COMPOSITE'],
  SHA1: ['COMPOSITE'],
  SHA256: ['COMPOSITE'],
  SHA512: ['COMPOSITE'],
  XXHASH128: ['COMPOSITE'],
  XXHASH3: ['COMPOSITE'],
  XXHASH64: ['COMPOSITE'],
}

/** The type that an upload uses: the one that the client asked for, or the algorithm's first. Throws InvalidRequest when the algorithm lacks that type. */
export function checksumTypeOf(algorithm: ChecksumAlgorithm, asked: ChecksumType | undefined): ChecksumType {
  const types = typesOf[algorithm]
  if (asked === undefined) return types[0]
  if (types.includes(asked)) return asked
  throw new S3Error('InvalidRequest', {
    message: `The ${asked} checksum type cannot be used with the ${algorithm.toLowerCase()} checksum algorithm.`,
  })
}

export interface DigestedPart {
  size: number
  etag: string
  checksum: Checksum | undefined
}

/** S3's entity tag of a multipart object: the MD5 of the parts' MD5s, and the number of parts. */
export function multipartEtag(parts: readonly Pick<DigestedPart, 'etag'>[]): string {
  const digest = createDigest('MD5')
  for (const { etag } of parts) digest.update(Buffer.from(etag, 'hex'))
  return `${digest.digest().toString('hex')}-${parts.length}`
}

/** `undefined` when a part lacks a checksum of the asked algorithm. Await `digestsReady` for that algorithm first. */
export function multipartChecksum(
  asked: Pick<Checksum, 'algorithm' | 'type'> | undefined,
  parts: readonly DigestedPart[],
): Checksum | undefined {
  if (asked === undefined) return undefined
  const { algorithm, type } = asked
  const values = parts.map(({ checksum }) =>
    checksum?.algorithm === algorithm ? Buffer.from(checksum.value, 'base64') : undefined,
  )
  if (!values.every((value) => value !== undefined)) return undefined
  if (type === 'COMPOSITE') {
    const digest = createDigest(algorithm)
    for (const value of values) digest.update(value)
    return { algorithm, type, value: `${digest.digest().toString('base64')}-${parts.length}` }
  }
  // Only CRCs of parts can be combined into the CRC of the whole.
  if (!isCrc(algorithm)) return undefined
  let whole = createDigest(algorithm).digest()
  for (const [i, value] of values.entries()) whole = combineCrc(algorithm, whole, value, parts[i]?.size ?? 0)
  return { algorithm, type, value: whole.toString('base64') }
}

const isCrc = (algorithm: ChecksumAlgorithm): algorithm is CrcAlgorithm => algorithm.startsWith('CRC')
