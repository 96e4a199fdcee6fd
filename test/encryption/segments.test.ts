/** Segments of encrypted bytes: any range gives back what was written, and nothing that was touched is given out. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lendingSource } from '../../src/byte-source.ts'
import { decrypting, encrypting, SegmentDamaged, sealedSize } from '../../src/encryption/segments.ts'
import { patternBytes } from '../support/seeded.ts'
import {
  drained,
  inPieces,
  opened,
  pieceSizes,
  placeIn,
  sealed,
  seed,
  segmentBytes as segment,
  segmentsOf,
  sizes,
  someSize,
} from './sealed.ts'

const key = patternBytes(99, 32)

describe('what was encrypted', () => {
  it('is read out of memory that is lent, which is given back, damaged or not', async () => {
    const plain = patternBytes(7, segment + 100)
    const range = { start: 0, end: plain.length }
    for (const rotten of [false, true]) {
      const bytes = Buffer.from(new SharedArrayBuffer(sealedSize(plain.length)))
      bytes.set(await sealed(plain, key))
      if (rotten) bytes.writeUInt8(bytes.readUInt8(segment + 50) ^ 1, segment + 50)
      let givenBack = 0
      const lent = lendingSource(bytes, () => {
        givenBack++
        bytes.fill(0xee)
      })
      const reading = decrypting(lent, key, range, plain.length).read()
      if (rotten) await expect(reading).rejects.toThrow(SegmentDamaged)
      else expect((await reading).equals(plain)).toBe(true)
      expect(givenBack).toBe(1)
    }
  })

  it('is given back, any range of it, in whatever pieces it comes', async () => {
    const cases = someSize.chain((size) => fc.tuple(fc.constant(size), placeIn(size - 1), placeIn(size), pieceSizes))
    await fc.assert(
      fc.asyncProperty(cases, async ([size, a, b, pieces]) => {
        const plain = patternBytes(size, size)
        const bytes = await sealed(plain, key)
        const range = { start: Math.min(a, b), end: Math.max(a, b, Math.min(a, b) + 1) }
        const expected = plain.subarray(range.start, range.end)
        const source = opened(bytes, { key, size, range, pieces })
        expect(source.size).toBe(expected.length)
        const { bytes: given, error } = await drained(source)
        expect(error).toBeUndefined()
        expect(given.equals(expected)).toBe(true)
        expect((await opened(bytes, { key, size, range }).read()).equals(expected)).toBe(true)
      }),
      { numRuns: 120, seed },
    )
  })

  it('is the same bytes, as many as announced, however the plaintext comes', async () => {
    await fc.assert(
      fc.asyncProperty(sizes, pieceSizes, async (size, pieces) => {
        const plain = patternBytes(size, size)
        const source = encrypting(inPieces(plain, pieces), key)
        const { bytes } = await drained(source)
        expect([bytes.length, source.size]).toEqual([sealedSize(size), sealedSize(size)])
        expect(bytes.equals(await encrypting(inPieces(plain, [1]), key).read())).toBe(true)
      }),
      { numRuns: 60, seed },
    )
  })

  it('shows nothing of the plaintext, not even which segments are alike', async () => {
    const size = 3 * segment
    const bytes = await sealed(Buffer.alloc(size), key)
    const blocks = new Set<string>()
    for (let at = 0; at + 16 <= bytes.length; at += 16) blocks.add(bytes.toString('hex', at, at + 16))
    expect(blocks.size).toBe(Math.floor(bytes.length / 16))
    const other = await sealed(Buffer.alloc(size), patternBytes(98, 32))
    expect(bytes.subarray(0, 16).equals(other.subarray(0, 16))).toBe(false)
  })
})

/** Sealed bytes of some size, and a way to damage them. Gives the damaged bytes, and the first segment that is not what was written. */
type Damage = (bytes: Buffer, size: number) => fc.Arbitrary<{ damaged: Buffer; first: number }>

/** Without the bytes in what a failure prints. */
const found = (damaged: Buffer, first: number) => ({
  damaged,
  first,
  [fc.toStringMethod]: () => `from segment ${first}`,
})

const flipped: Damage = (bytes, size) =>
  fc.tuple(fc.nat(bytes.length - 1), fc.nat(7)).map(([at, bit]) => {
    const damaged = Buffer.from(bytes)
    damaged[at] = (damaged[at] ?? 0) ^ (1 << bit)
    return found(damaged, segmentAt(size, at))
  })

const cutOff: Damage = (bytes, size) =>
  fc
    .oneof(placeIn(bytes.length - 1), fc.constantFrom(...segmentsOf(size).map(({ sealed: [start] }) => start)))
    .map((at) => found(bytes.subarray(0, at), segmentAt(size, at)))

const exchanged: Damage = (bytes, size) => {
  const all = segmentsOf(size)
  return fc.tuple(fc.nat(all.length - 1), fc.nat(all.length - 1)).map(([a, b]) => {
    const order = all.map((_, i) => (i === a ? b : i === b ? a : i))
    return found(
      inOrder(bytes, size, order),
      order.findIndex((from, i) => from !== i),
    )
  })
}

const repeated: Damage = (bytes, size) =>
  fc.nat(segmentsOf(size).length - 1).map((again) => {
    const order = segmentsOf(size).flatMap((_, i) => (i === again ? [i, i] : [i]))
    return found(inOrder(bytes, size, order), again + 1)
  })

const dropped: Damage = (bytes, size) =>
  fc.nat(segmentsOf(size).length - 1).map((gone) => {
    const order = segmentsOf(size).flatMap((_, i) => (i === gone ? [] : [i]))
    return found(inOrder(bytes, size, order), gone)
  })

const segmentAt = (size: number, at: number): number => segmentsOf(size).findIndex(({ sealed: [, end] }) => at < end)

function inOrder(bytes: Buffer, size: number, order: readonly number[]): Buffer {
  const all = segmentsOf(size)
  return Buffer.concat(order.map((i) => bytes.subarray(...(all[i]?.sealed ?? [0, 0]))))
}

describe('what was touched is refused, and nothing of it is given out', () => {
  it.each<[how: string, damage: Damage]>([
    ['a bit flipped', flipped],
    ['cut off anywhere', cutOff],
    ['two segments exchanged', exchanged],
    ['a segment repeated', repeated],
    ['a segment dropped', dropped],
  ])('%s', async (_how, damage) => {
    const cases = someSize.chain((size) =>
      fc.record({ size: fc.constant(size), pieces: pieceSizes, at: fc.noShrink(fc.gen()) }),
    )
    await fc.assert(
      fc.asyncProperty(cases, async ({ size, pieces, at }) => {
        const plain = patternBytes(size, size)
        const bytes = await sealed(plain, key)
        const { damaged, first } = at(() => damage(bytes, size))
        if (damaged.equals(bytes)) return
        const range = { start: 0, end: size }
        const { bytes: given, error } = await drained(opened(damaged, { key, size, range, pieces }))
        expect(error).toBeInstanceOf(SegmentDamaged)
        const before = segmentsOf(size)[first]?.plain[0] ?? size
        expect(given.length).toBeLessThanOrEqual(before)
        expect(given.equals(plain.subarray(0, given.length))).toBe(true)
        await expect(opened(damaged, { key, size, range }).read()).rejects.toThrow(SegmentDamaged)
      }),
      { numRuns: 80, seed },
    )
  })

  it.each<[what: string, bytes: () => Promise<Buffer>, size: number, key: Buffer]>([
    [
      'a short last segment with a whole one behind it',
      () => sealed(patternBytes(1, 2 * segment - 16), key).then((bytes) => Buffer.concat([bytes, bytes])),
      2 * segment - 16,
      key,
    ],
    ['read with another key', () => sealed(patternBytes(1, 100), key), 100, patternBytes(98, 32)],
    ['said to be one byte longer', () => sealed(patternBytes(1, 100), key), 101, key],
    ['said to be one byte shorter', () => sealed(patternBytes(1, 100), key), 99, key],
    ['whole segments said to be fewer', () => sealed(patternBytes(1, 2 * segment), key), segment, key],
    [
      'its last segments cut off and said never to have been',
      () =>
        sealed(patternBytes(1, 2 * segment), key).then((bytes) => bytes.subarray(0, segmentsOf(segment)[0]?.sealed[1])),
      segment,
      key,
    ],
    ['whole segments said to be more', () => sealed(patternBytes(1, segment), key), 2 * segment, key],
    [
      'with bytes behind it',
      async () => Buffer.concat([await sealed(patternBytes(1, 9), key), Buffer.alloc(30)]),
      9,
      key,
    ],
    [
      'a whole segment with itself behind it',
      () => sealed(patternBytes(1, segment), key).then((bytes) => Buffer.concat([bytes, bytes])),
      segment,
      key,
    ],
    ['nothing at all', async () => Buffer.alloc(0), 9, key],
  ])('%s', async (_what, bytes, size, used) => {
    const source = () => bytes().then((all) => opened(all, { key: used, size, range: { start: 0, end: size } }))
    const { bytes: given, error } = await drained(await source())
    expect(error).toBeInstanceOf(SegmentDamaged)
    expect(given.length).toBeLessThanOrEqual(size)
    await expect((await source()).read()).rejects.toThrow(SegmentDamaged)
  })

  it('of another blob, though the key wraps both: each blob has a key of its own', async () => {
    const [size, range] = [2 * segment, { start: 0, end: 2 * segment }]
    const one = await sealed(patternBytes(1, size), key)
    const other = await sealed(patternBytes(2, size), patternBytes(98, 32))
    const [first] = segmentsOf(size)
    const mixed = Buffer.concat([one.subarray(0, first?.sealed[1]), other.subarray(first?.sealed[1])])
    const { bytes: given, error } = await drained(opened(mixed, { key, size, range }))
    expect(error).toBeInstanceOf(SegmentDamaged)
    expect(given.equals(patternBytes(1, size).subarray(0, first?.plain[1]))).toBe(true)
  })
})
