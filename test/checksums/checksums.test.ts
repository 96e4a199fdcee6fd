/** Checksums against published vectors and an independent implementation, over any chunking, and joined from parts. */
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { bytesSource } from '../../src/byte-source.ts'
import {
  checksumAlgorithms as algorithms,
  type ChecksumAlgorithm,
  type CrcAlgorithm,
  checksumFields,
  combineCrc,
  createDigest,
  digestingSource,
  digestOf as digestOfOnePiece,
  digestsReady,
} from '../../src/checksums/checksums.ts'
import { referenceDigest } from '../support/wire-checksums.ts'

const crcAlgorithms: CrcAlgorithm[] = ['CRC32', 'CRC32C', 'CRC64NVME']

beforeAll(() => digestsReady(algorithms))

function digestOf(algorithm: ChecksumAlgorithm, ...chunks: Buffer[]): Buffer {
  const digest = createDigest(algorithm)
  for (const chunk of chunks) digest.update(chunk)
  return digest.digest()
}

/** CRC by the definition, a bit at a time. */
function crcByDefinition(polynomial: bigint, bits: number, bytes: Buffer): string {
  const ones = (1n << BigInt(bits)) - 1n
  let register = ones
  for (const byte of bytes) {
    register ^= BigInt(byte)
    for (let bit = 0; bit < 8; bit++) register = register & 1n ? (register >> 1n) ^ polynomial : register >> 1n
  }
  return (register ^ ones).toString(16).padStart(bits / 4, '0')
}

describe('digests', () => {
  it.each([
    ['CRC32', 'cbf43926'],
    ['CRC32C', 'e3069283'],
    ['CRC64NVME', 'ae8b14860a799888'],
    ['SHA1', 'f7c3bc1d808e04732adf679965ccc34ca7ae3441'],
    ['SHA256', '15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225'],
    ['MD5', '25f9e794323b453885f5181f1b624d0b'],
    [
      'SHA512',
      'd9e6762dd1c8eaf6d61b3c6192fc408d4d6d5f1176d0c29169bc24e71c3f274ad27fcd5811b313d681f7e55ec02d73d499c95455b6b5bb503acf574fba8ffe85',
    ],
    ['XXHASH64', '8cb841db40e6ae83'],
  ] as const)('%s of "123456789" is the published one', (algorithm, expected) => {
    expect(digestOf(algorithm, Buffer.from('123456789')).toString('hex')).toBe(expected)
  })

  it.each([
    ['CRC32', 'AAAAAA=='],
    ['CRC32C', 'AAAAAA=='],
    ['CRC64NVME', 'AAAAAAAAAAA='],
  ] as const)('%s of nothing is zero', (algorithm, expected) => {
    expect(digestOf(algorithm).toString('base64')).toBe(expected)
  })

  it.each(algorithms)('%s is as long as its table row says', (algorithm) => {
    expect(digestOf(algorithm, Buffer.from('x'))).toHaveLength(checksumFields[algorithm].bytes)
  })

  it.each([
    ['CRC32', 0xedb88320n, 32],
    ['CRC32C', 0x82f63b78n, 32],
    ['CRC64NVME', 0x9a6c9329ac4bc9b5n, 64],
  ] as const)('%s agrees with its definition on any bytes', (algorithm, polynomial, bits) => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        const data = Buffer.from(bytes)
        expect(digestOf(algorithm, data).toString('hex')).toBe(crcByDefinition(polynomial, bits, data))
      }),
    )
  })

  it.each(['XXHASH64', 'XXHASH3', 'XXHASH128'] as const)(
    '%s agrees with another implementation on any length, of which it has several ways',
    (algorithm) => {
      fc.assert(
        fc.property(fc.uint8Array({ maxLength: 3000 }), (bytes) => {
          const data = Buffer.from(bytes)
          expect(digestOf(algorithm, data)).toEqual(referenceDigest(algorithm, data))
        }),
      )
    },
  )

  it.each(algorithms)('%s of nothing is what the table says', (algorithm) => {
    expect(checksumFields[algorithm].ofNothing).toBe(digestOf(algorithm).toString('base64'))
  })

  it.each(algorithms)('%s does not depend on how the data is cut into chunks', (algorithm) => {
    const chunks = fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 20 })
    fc.assert(
      fc.property(chunks, (cut) => {
        const buffers = cut.map((chunk) => Buffer.from(chunk))
        expect(digestOf(algorithm, ...buffers)).toEqual(digestOf(algorithm, Buffer.concat(buffers)))
      }),
    )
  })

  it.each(crcAlgorithms)('%s of more than one window of memory equals that of its pieces', (algorithm) => {
    const data = Buffer.from(Array.from({ length: 200_003 }, (_, i) => (i * 131) & 0xff))
    const pieces = [data.subarray(0, 65_537), data.subarray(65_537, 65_538), data.subarray(65_538)]
    expect(digestOf(algorithm, data)).toEqual(digestOf(algorithm, ...pieces))
  })

  it.each(algorithms)('keeps digests of %s under way apart from each other', (algorithm) => {
    const [first, second] = [createDigest(algorithm), createDigest(algorithm)]
    first.update(Buffer.from('1234'))
    second.update(Buffer.from('other'))
    first.update(Buffer.from('56789'))
    expect(first.digest()).toEqual(referenceDigest(algorithm, Buffer.from('123456789')))
    expect(second.digest()).toEqual(referenceDigest(algorithm, Buffer.from('other')))
  })
})

describe('combineCrc', () => {
  it.each(crcAlgorithms)('%s of a whole follows from those of its two parts', (algorithm) => {
    const part = fc.uint8Array({ maxLength: 5000 }).map((bytes) => Buffer.from(bytes))
    fc.assert(
      fc.property(part, part, (a, b) => {
        const combined = combineCrc(algorithm, digestOf(algorithm, a), digestOf(algorithm, b), b.length)
        expect(combined).toEqual(digestOf(algorithm, a, b))
      }),
    )
  })

  it.each(crcAlgorithms)('%s combines in any grouping, also where lengths pass 32 bits', (algorithm) => {
    const crc = fc
      .uint8Array({ minLength: 8, maxLength: 8 })
      .map((b) => Buffer.from(b).subarray(0, checksumFields[algorithm].bytes))
    const length = fc.integer({ min: 0, max: 2 ** 46 })
    fc.assert(
      fc.property(crc, crc, crc, length, length, (a, b, c, lengthB, lengthC) => {
        const leftFirst = combineCrc(algorithm, combineCrc(algorithm, a, b, lengthB), c, lengthC)
        const rightFirst = combineCrc(algorithm, a, combineCrc(algorithm, b, c, lengthC), lengthB + lengthC)
        expect(leftFirst).toEqual(rightFirst)
      }),
    )
  })
})

describe('digestingSource', () => {
  it('feeds each digest what is drained, and hands every chunk on', async () => {
    const digests = [createDigest('CRC32'), createDigest('MD5')]
    const seen: Buffer[] = []
    const source = digestingSource(bytesSource(Buffer.from('123456789')), digests)
    await source.drain((chunk) => void seen.push(chunk))
    expect(source.size).toBe(9)
    expect(Buffer.concat(seen).toString()).toBe('123456789')
    expect(digests.map((digest) => digest.digest().toString('hex'))).toEqual([
      'cbf43926',
      '25f9e794323b453885f5181f1b624d0b',
    ])
  })

  it('feeds each digest what is read', async () => {
    const digest = createDigest('CRC32C')
    const bytes = await digestingSource(bytesSource(Buffer.from('123456789')), [digest]).read()
    expect(bytes.toString()).toBe('123456789')
    expect(digest.digest().toString('hex')).toBe('e3069283')
  })

  it('waits for a slow sink, and cancels its source', async () => {
    let cancelled = false
    const cancel = () => {
      cancelled = true
    }
    const source = { ...bytesSource(Buffer.from('abc')), cancel }
    let finished = false
    await digestingSource(source, []).drain(async () => {
      await Promise.resolve()
      finished = true
    })
    digestingSource(source, []).cancel()
    expect([finished, cancelled]).toEqual([true, true])
  })
})

it.each([...algorithms, 'MD5'] as const)('%s of one piece is that of the same bytes in several', (algorithm) => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 5000 }), fc.nat({ max: 5000 }), (given, cut) => {
      const bytes = Buffer.from(given)
      const inTwo = digestOf(algorithm, bytes.subarray(0, cut), bytes.subarray(cut))
      expect(digestOfOnePiece(algorithm, bytes).equals(inTwo)).toBe(true)
    }),
  )
})
