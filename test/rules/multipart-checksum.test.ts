/** Entity tags and checksums of multipart objects, against values computed by other means: over the whole bytes, by Node or by the definition. */
import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import {
  checksumAlgorithms as algorithms,
  type ChecksumAlgorithm,
  digestsReady,
} from '../../src/checksums/checksums.ts'
import type { Checksum } from '../../src/records/records.ts'
import {
  checksumTypeOf,
  type DigestedPart,
  multipartChecksum,
  multipartEtag,
} from '../../src/rules/multipart-checksum.ts'
import { outcomeOf } from '../objects/fixture.ts'
import { referenceDigest } from '../support/wire-checksums.ts'

beforeAll(() => digestsReady(algorithms))

/** A reflected CRC by its definition, a bit at a time. */
function crcByDefinition(polynomial: bigint, bits: number, bytes: Buffer): Buffer {
  const ones = (1n << BigInt(bits)) - 1n
  let register = ones
  for (const byte of bytes) {
    register ^= BigInt(byte)
    for (let bit = 0; bit < 8; bit++) register = register & 1n ? (register >> 1n) ^ polynomial : register >> 1n
  }
  return Buffer.from((register ^ ones).toString(16).padStart(bits / 4, '0'), 'hex')
}

const independent: Record<ChecksumAlgorithm, (bytes: Buffer) => Buffer> = {
  CRC32: (bytes) => {
    const crc = Buffer.alloc(4)
    crc.writeUInt32BE(crc32(bytes))
    return crc
  },
  CRC32C: (bytes) => crcByDefinition(0x82f63b78n, 32, bytes),
  CRC64NVME: (bytes) => crcByDefinition(0x9a6c9329ac4bc9b5n, 64, bytes),
  SHA1: (bytes) => createHash('sha1').update(bytes).digest(),
  SHA256: (bytes) => createHash('sha256').update(bytes).digest(),
  MD5: (bytes) => createHash('md5').update(bytes).digest(),
  SHA512: (bytes) => createHash('sha512').update(bytes).digest(),
  XXHASH128: (bytes) => referenceDigest('XXHASH128', bytes),
  XXHASH3: (bytes) => referenceDigest('XXHASH3', bytes),
  XXHASH64: (bytes) => referenceDigest('XXHASH64', bytes),
}

const md5 = (bytes: Buffer): Buffer => createHash('md5').update(bytes).digest()

function digested(bytes: Buffer, algorithm: ChecksumAlgorithm): DigestedPart {
  return {
    size: bytes.length,
    etag: md5(bytes).toString('hex'),
    checksum: { algorithm, type: 'FULL_OBJECT', value: independent[algorithm](bytes).toString('base64') },
  }
}

const partData = fc.array(
  fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
  { minLength: 1, maxLength: 6 },
)

describe('the entity tag of a multipart object', () => {
  it('is the MD5 of the MD5s, and the number of parts', () => {
    fc.assert(
      fc.property(partData, (data) => {
        const expected = `${md5(Buffer.concat(data.map(md5))).toString('hex')}-${data.length}`
        expect(multipartEtag(data.map((bytes) => digested(bytes, 'CRC32')))).toBe(expected)
      }),
    )
  })

  it('is the known one of 5 MiB parts of zeros', () => {
    const part = digested(Buffer.alloc(5 * 1024 * 1024), 'CRC32')
    expect(part.etag).toBe('5f363e0e58a95f06cbe9bbc662c5dfb6')
    expect(multipartEtag([part])).toMatch(/-1$/)
    expect(multipartEtag([part, part])).toBe(`${md5(Buffer.from(part.etag + part.etag, 'hex')).toString('hex')}-2`)
  })
})

describe('the checksum of a multipart object', () => {
  it.each(['CRC32', 'CRC32C', 'CRC64NVME'] as const)(
    '%s of the full object is that of the parts joined',
    (algorithm) => {
      fc.assert(
        fc.property(partData, (data) => {
          const parts = data.map((bytes) => digested(bytes, algorithm))
          expect(multipartChecksum({ algorithm, type: 'FULL_OBJECT' }, parts)).toEqual({
            algorithm,
            type: 'FULL_OBJECT',
            value: independent[algorithm](Buffer.concat(data)).toString('base64'),
          })
        }),
        { numRuns: 50 },
      )
    },
  )

  it.each(algorithms.filter((name) => name !== 'CRC64NVME'))(
    '%s as composite is that of the checksums, and their number',
    (algorithm) => {
      fc.assert(
        fc.property(partData, (data) => {
          const parts = data.map((bytes) => digested(bytes, algorithm))
          const joined = Buffer.concat(data.map((bytes) => independent[algorithm](bytes)))
          expect(multipartChecksum({ algorithm, type: 'COMPOSITE' }, parts)).toEqual({
            algorithm,
            type: 'COMPOSITE',
            value: `${independent[algorithm](joined).toString('base64')}-${data.length}`,
          })
        }),
        { numRuns: 50 },
      )
    },
  )

  it('is none when the upload has none, and when a part has none or another', () => {
    const part = digested(Buffer.from('x'), 'CRC32')
    expect(multipartChecksum(undefined, [part])).toBeUndefined()
    expect(multipartChecksum({ algorithm: 'CRC32C', type: 'COMPOSITE' }, [part])).toBeUndefined()
    const without = { ...part, checksum: undefined }
    expect(multipartChecksum({ algorithm: 'CRC32', type: 'COMPOSITE' }, [part, without])).toBeUndefined()
  })
})

describe('the checksum type of an upload', () => {
  const types: Record<ChecksumAlgorithm, Record<'COMPOSITE' | 'FULL_OBJECT', boolean> & { first: Checksum['type'] }> = {
    CRC32: { first: 'COMPOSITE', COMPOSITE: true, FULL_OBJECT: true },
    CRC32C: { first: 'COMPOSITE', COMPOSITE: true, FULL_OBJECT: true },
    CRC64NVME: { first: 'FULL_OBJECT', COMPOSITE: false, FULL_OBJECT: true },
    SHA1: { first: 'COMPOSITE', COMPOSITE: true, FULL_OBJECT: false },
    SHA256: { first: 'COMPOSITE', COMPOSITE: true, FULL_OBJECT: false },
    MD5: { first: 'COMPOSITE', COMPOSITE: true, FULL_OBJECT: false },
    SHA512: { first: 'COMPOSITE', COMPOSITE: true, FULL_OBJECT: false },
    XXHASH128: { first: 'COMPOSITE', COMPOSITE: true, FULL_OBJECT: false },
    XXHASH3: { first: 'COMPOSITE', COMPOSITE: true, FULL_OBJECT: false },
    XXHASH64: { first: 'COMPOSITE', COMPOSITE: true, FULL_OBJECT: false },
  }
  it.each(algorithms)("%s goes with the types that AWS's table gives it", (algorithm) => {
    const row = types[algorithm]
    expect(checksumTypeOf(algorithm, undefined)).toBe(row.first)
    for (const asked of ['COMPOSITE', 'FULL_OBJECT'] as const) {
      expect(outcomeOf(() => checksumTypeOf(algorithm, asked))).toBe(row[asked] ? 'ok' : 'InvalidRequest')
      if (row[asked]) expect(checksumTypeOf(algorithm, asked)).toBe(asked)
    }
  })
})
