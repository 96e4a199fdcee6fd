/** Where bytes lie: rows that can be checked by hand, and any geometry against a payload that was dealt out byte by byte. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  commonSpan,
  piecesOf,
  type Span,
  type StripeGeometry,
  shardBytes,
  shardSpan,
  stripeAt,
  stripeCount,
  stripesOf,
} from '../../../src/blobs/erasure/stripes.ts'

const KiB = 1024
const TiB = 1024 ** 4

describe('the geometry of stripes', () => {
  it.each([
    // size, data, unit, stripes, bytes of a shard
    [0, 4, 64 * KiB, 0, 0],
    [1, 4, 64 * KiB, 1, 1],
    [4, 4, 64 * KiB, 1, 1],
    [5, 4, 64 * KiB, 1, 2],
    [256 * KiB, 4, 64 * KiB, 1, 64 * KiB],
    [256 * KiB + 1, 4, 64 * KiB, 2, 64 * KiB + 1],
    [300_000, 4, 64 * KiB, 2, 75_000],
    [1024 * KiB, 4, 64 * KiB, 4, 256 * KiB],
    [100_000, 1, 64 * KiB, 2, 100_000],
    [1000, 3, 100, 4, 334],
    [50 * TiB - 1, 10, 64 * KiB, 83_886_080, 5 * TiB],
  ])(
    '%d bytes over %d data shards in units of %d are %d stripes, and %d bytes in each shard',
    (size, data, unitBytes, stripes, bytes) => {
      const geometry = { size, data, unitBytes }
      expect([stripeCount(geometry), shardBytes(geometry)]).toEqual([stripes, bytes])
    },
  )

  it('shrinks the units of the last stripe to what is left', () => {
    const geometry = { size: 1000, data: 3, unitBytes: 100 }
    expect(stripeAt(geometry, 2)).toEqual({
      index: 2,
      payload: { start: 600, end: 900 },
      unitBytes: 100,
      shardStart: 200,
    })
    expect(stripeAt(geometry, 3)).toEqual({
      index: 3,
      payload: { start: 900, end: 1000 },
      unitBytes: 34,
      shardStart: 300,
    })
  })

  it.each<[string, Span, [number, number, number][]]>([
    ['the first byte', { start: 0, end: 1 }, [[0, 0, 1]]],
    [
      'the last byte of a unit and the first of the next',
      { start: 99, end: 101 },
      [
        [0, 99, 100],
        [1, 0, 1],
      ],
    ],
    [
      'the seam of two stripes',
      { start: 299, end: 301 },
      [
        [2, 99, 100],
        [0, 100, 101],
      ],
    ],
    [
      'the tail',
      { start: 900, end: 1000 },
      [
        [0, 300, 334],
        [1, 300, 334],
        [2, 300, 332],
      ],
    ],
    ['the last byte', { start: 999, end: 1000 }, [[2, 331, 332]]],
    ['nothing', { start: 500, end: 500 }, []],
  ])('finds %s', (_, range, pieces) => {
    const found = [...piecesOf({ size: 1000, data: 3, unitBytes: 100 }, range)]
    expect(found.map(({ shard, start, end }) => [shard, start, end])).toEqual(pieces)
  })

  it('needs of the other shards no more than what was lost, where that lies in one unit', () => {
    const geometry = { size: 10_000_000, data: 4, unitBytes: 64 * KiB }
    const range = { start: 5 * 64 * KiB + 1000, end: 5 * 64 * KiB + 1100 }
    expect(commonSpan(geometry, range)).toEqual({ start: 64 * KiB + 1000, end: 64 * KiB + 1100 })
  })

  it.each([
    [{ start: -1, end: 1 }],
    [{ start: 2, end: 1 }],
    [{ start: 0, end: 1001 }],
    [{ start: Number.NaN, end: 1 }],
  ])('refuses the range %o of 1000 bytes', (range) => {
    const geometry = { size: 1000, data: 3, unitBytes: 100 }
    expect(() => [...piecesOf(geometry, range)]).toThrow('no range')
    expect(() => shardSpan(geometry, 0, range)).toThrow('no range')
    expect(() => commonSpan(geometry, range)).toThrow('no range')
  })
})

const anyGeometry: fc.Arbitrary<StripeGeometry> = fc.record({
  size: fc.integer({ min: 0, max: 600 }),
  data: fc.integer({ min: 1, max: 10 }),
  unitBytes: fc.integer({ min: 1, max: 40 }),
})
const anyRange = anyGeometry.chain((geometry) =>
  fc
    .tuple(fc.integer({ min: 0, max: geometry.size }), fc.integer({ min: 0, max: geometry.size }))
    .map(([a, b]) => ({ geometry, range: { start: Math.min(a, b), end: Math.max(a, b) } })),
)

/** What each data shard holds: offsets in the payload, dealt out as the words say, and -1 for padding. */
function dealtOut({ size, data, unitBytes }: StripeGeometry): number[][] {
  const shards: number[][] = Array.from({ length: data }, () => [])
  for (let start = 0; start < size; start += data * unitBytes) {
    const unit = Math.ceil(Math.min(data * unitBytes, size - start) / data)
    shards.forEach((shard, index) => {
      for (let at = 0; at < unit; at++) {
        const offset = start + index * unit + at
        shard.push(offset < size ? offset : -1)
      }
    })
  }
  return shards
}

const offsets = ({ start, end }: Span): number[] => Array.from({ length: end - start }, (_, at) => start + at)

describe('any range of any payload', () => {
  it('is the union of its pieces, in order', () => {
    fc.assert(
      fc.property(anyRange, ({ geometry, range }) => {
        const shards = dealtOut(geometry)
        const pieces = [...piecesOf(geometry, range)]
        expect(pieces.flatMap(({ shard, start, end }) => shards[shard]?.slice(start, end))).toEqual(offsets(range))
        expect(pieces.map(({ payloadStart }) => payloadStart)).toEqual(
          pieces.map(({ shard, start }) => shards[shard]?.[start]),
        )
      }),
    )
  })

  it('is in each data shard one span, which holds nothing else', () => {
    fc.assert(
      fc.property(anyRange, ({ geometry, range }) => {
        dealtOut(geometry).forEach((shard, index) => {
          const { start, end } = shardSpan(geometry, index, range)
          const expected = shard.filter((offset) => offset >= range.start && offset < range.end)
          expect(shard.slice(start, end)).toEqual(expected)
        })
      }),
    )
  })

  it('is within the common span of all shards, which begins and ends with a byte of it', () => {
    fc.assert(
      fc.property(anyRange, ({ geometry, range }) => {
        const { start, end } = commonSpan(geometry, range)
        const shards = dealtOut(geometry)
        const isWanted = (offset: number | undefined) =>
          offset !== undefined && offset >= range.start && offset < range.end
        const found = shards.flatMap((shard) => shard.slice(start, end).filter(isWanted)).sort((a, b) => a - b)
        expect(found).toEqual(offsets(range))
        if (range.start < range.end) {
          expect(shards.some((shard) => isWanted(shard[start]))).toBe(true)
          expect(shards.some((shard) => isWanted(shard[end - 1]))).toBe(true)
        }
      }),
    )
  })

  it('lies in the stripes that are named for it, and in no others', () => {
    fc.assert(
      fc.property(anyRange, ({ geometry, range }) => {
        const every = Array.from({ length: stripeCount(geometry) }, (_, index) => stripeAt(geometry, index))
        const touched = every.filter(
          ({ payload }) => Math.max(payload.start, range.start) < Math.min(payload.end, range.end),
        )
        expect([...stripesOf(geometry, range)]).toEqual(touched)
      }),
    )
  })

  it('leaves shards of equal length, with less padding than there are data shards', () => {
    fc.assert(
      fc.property(anyGeometry, (geometry) => {
        const shards = dealtOut(geometry)
        expect(shards.map((shard) => shard.length)).toEqual(shards.map(() => shardBytes(geometry)))
        expect(geometry.data * shardBytes(geometry) - geometry.size).toBeLessThan(geometry.data)
      }),
    )
  })
})
