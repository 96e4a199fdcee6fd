import fc from 'fast-check'
import { expect, test } from 'vitest'
import { plainBytes, SegmentDamaged, sealedBytes } from '../../src/encryption/segments.ts'
import { ByteWork, type WorkOrder } from '../../src/threads/byte-work.ts'
import { patternBytes } from '../support/seeded.ts'
import { key, md5, openedBy, sealedBy, sealedPart } from './bodies.ts'

/** Works through `bytes` in chunks of so many segments, each in memory that is as large as its longer form. */
function workThrough(order: WorkOrder, bytes: Buffer, segments: number): { result: Buffer; digests: Buffer[] } {
  const work = new ByteWork(order)
  const step = segments * (order.cipher?.kind === 'open' ? sealedBytes : plainBytes)
  const results: Buffer[] = []
  for (let at = 0; at < bytes.length; at += step) {
    const memory = Buffer.alloc(segments * sealedBytes, 0xee)
    const taken = bytes.copy(memory, 0, at, at + step)
    const { start, end } = work.work(memory, taken)
    results.push(memory.subarray(start, end))
  }
  return { result: Buffer.concat(results), digests: work.digest() }
}

const edges = [0, 1, plainBytes - 1, plainBytes, plainBytes + 1, 2 * plainBytes, 5 * plainBytes, 5 * plainBytes + 7]
const sizes = fc.oneof(fc.constantFrom(...edges), fc.integer({ min: 0, max: 6 * plainBytes }))

test('seals in place what the inline code seals, with the digests of the plaintext', async () => {
  await fc.assert(
    fc.asyncProperty(sizes, fc.integer({ min: 1, max: 4 }), async (size, segments) => {
      const plain = patternBytes(size, size)
      const cipher = { kind: 'seal', key, size } as const
      const { result, digests } = workThrough({ digests: ['MD5', 'CRC32C'], cipher }, plain, segments)
      expect(result.equals(await sealedBy(plain))).toBe(true)
      expect(digests[0]?.toString('hex')).toBe(md5(plain))
      expect(digests[1]).toHaveLength(4)
    }),
    { numRuns: 60 },
  )
})

test('opens in place what the inline code opens, trimmed to the range', async () => {
  const size = 5 * plainBytes + 77
  const plain = patternBytes(3, size)
  const sealed = await sealedBy(plain)
  const place = fc.oneof(fc.constantFrom(0, 1, plainBytes - 1, plainBytes, plainBytes + 1, size - 1), fc.nat(size - 1))
  await fc.assert(
    fc.asyncProperty(place, place, fc.integer({ min: 1, max: 4 }), async (a, b, segments) => {
      const range = { start: Math.min(a, b), end: Math.max(a, b) + 1 }
      const order: WorkOrder = { digests: [], cipher: { kind: 'open', key, size, range } }
      const { result } = workThrough(order, Buffer.from(sealedPart(sealed, range, size)), segments)
      expect(result.equals(plain.subarray(range.start, range.end))).toBe(true)
      expect(result.equals(await openedBy(sealed, range, size))).toBe(true)
    }),
    { numRuns: 60 },
  )
})

test('a segment that is not what was written is named, also in a later chunk', async () => {
  const size = 4 * plainBytes
  const sealed = await sealedBy(patternBytes(4, size))
  for (const segment of [0, 1, 3]) {
    const damaged = Buffer.from(sealed)
    damaged[segment * sealedBytes + 100] = (damaged[segment * sealedBytes + 100] ?? 0) ^ 1
    const order: WorkOrder = { digests: [], cipher: { kind: 'open', key, size, range: { start: 0, end: size } } }
    expect(() => workThrough(order, damaged, 2)).toThrow(new SegmentDamaged(segment))
  }
})

test('sealed bytes that end early, or go on, are damaged', async () => {
  const size = 4 * plainBytes
  const sealed = await sealedBy(patternBytes(4, size))
  const order: WorkOrder = { digests: [], cipher: { kind: 'open', key, size, range: { start: 0, end: size } } }
  expect(() => workThrough(order, sealed.subarray(0, 3 * sealedBytes), 1)).toThrow(new SegmentDamaged(3))
  expect(() => workThrough(order, Buffer.concat([sealed, sealed]), 4)).toThrow(new SegmentDamaged(4))
})
