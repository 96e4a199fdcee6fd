/** The matrix that makes parity: any shards that are enough by number are enough, and what is stored never changes meaning. */
import { describe, expect, it } from 'vitest'
import {
  type ErasureScheme,
  generatorMatrix,
  reconstructionMatrix,
} from '../../../src/blobs/erasure/generator-matrix.ts'
import { invert, type Matrix } from '../../../src/blobs/erasure/gf256.ts'
import { limits } from '../../../src/limits.ts'
import { seededRandom } from '../../support/seeded.ts'

const shardsProvedMax = 16
const { dataShardsMax, parityShardsMax } = limits

const everyScheme: ErasureScheme[] = Array.from({ length: dataShardsMax }, (_, n) => n + 1).flatMap((data) =>
  Array.from({ length: parityShardsMax + 1 }, (_, parity) => ({ data, parity })),
)

/** Every choice of `count` of the numbers from `first` to `end`. */
function* choices(count: number, end: number, first = 0): Generator<number[]> {
  if (count === 0) yield []
  else
    for (let chosen = first; chosen <= end - count; chosen++)
      for (const others of choices(count - 1, end, chosen + 1)) yield [chosen, ...others]
}

function isInvertible(generator: Matrix, shards: readonly number[]): boolean {
  try {
    invert(shards.map((shard) => generator[shard] ?? new Uint8Array()))
    return true
  } catch {
    return false
  }
}

describe('the generator matrix', () => {
  it(`is invertible for every choice of shards that are enough, in every scheme of up to ${shardsProvedMax} shards`, () => {
    const counts = { schemes: 0, choices: 0, singular: 0 }
    for (const scheme of everyScheme.filter(({ data, parity }) => data + parity <= shardsProvedMax)) {
      const generator = generatorMatrix(scheme)
      counts.schemes++
      for (const shards of choices(scheme.data, scheme.data + scheme.parity)) {
        counts.choices++
        if (!isInvertible(generator, shards)) counts.singular++
      }
    }
    // The sum of the binomial coefficients over all those schemes.
    expect(counts).toEqual({ schemes: 108, choices: 89_836, singular: 0 })
  })

  it.each([1, 2, 3])('is invertible for random choices in wider schemes (seed %i)', (seed) => {
    const random = seededRandom(seed)
    const wide = everyScheme.filter(({ data, parity }) => data + parity > shardsProvedMax && parity > 0)
    for (let round = 0; round < 300; round++) {
      const scheme = wide[Math.floor(random() * wide.length)] ?? { data: dataShardsMax, parity: parityShardsMax }
      const order = Array.from({ length: scheme.data + scheme.parity }, (_, shard) => ({ shard, by: random() }))
      const shards = order.sort((a, b) => a.by - b.by).map(({ shard }) => shard)
      expect(isInvertible(generatorMatrix(scheme), shards.slice(0, scheme.data)), `${shards}`).toBe(true)
    }
  })

  it('keeps data as it is', () => {
    const identity = [Uint8Array.of(1, 0, 0), Uint8Array.of(0, 1, 0), Uint8Array.of(0, 0, 1)]
    expect(generatorMatrix({ data: 3, parity: 2 }).slice(0, 3)).toEqual(identity)
  })

  it('makes the first parity the XOR of the data, and every parity of one data shard a copy', () => {
    expect(generatorMatrix({ data: 10, parity: 1 })[10]).toEqual(new Uint8Array(10).fill(1))
    expect(generatorMatrix({ data: 1, parity: 8 })).toEqual(Array.from({ length: 9 }, () => Uint8Array.of(1)))
  })

  it('says what data shard j adds to parity i, whatever the scheme', () => {
    const widest = generatorMatrix({ data: dataShardsMax, parity: parityShardsMax }).slice(dataShardsMax)
    for (const scheme of everyScheme) {
      const parity = generatorMatrix(scheme).slice(scheme.data)
      expect(parity).toEqual(widest.slice(0, scheme.parity).map((row) => row.slice(0, scheme.data)))
    }
  })

  // Stored parity depends on these: a difference is a new format.
  it('has the coefficients with which parity is stored', () => {
    const parity = generatorMatrix({ data: 6, parity: 3 }).slice(6)
    expect(parity.map((row) => Buffer.from(row).toString('hex'))).toEqual([
      '010101010101',
      '01e7fd02b7ab',
      '01fdbe2c9627',
    ])
  })

  it.each([
    [0, 1],
    [dataShardsMax + 1, 1],
    [4, parityShardsMax + 1],
    [4, -1],
    [1.5, 1],
    [4, Number.NaN],
  ])('refuses a scheme of %d + %d', (data, parity) => {
    expect(() => generatorMatrix({ data, parity })).toThrow('no erasure code')
  })
})

describe('the reconstruction matrix', () => {
  const scheme = { data: 4, parity: 2 }

  it('gives a data shard that is there as it is', () => {
    expect(reconstructionMatrix(scheme, [0, 1, 2, 5], [1])).toEqual([Uint8Array.of(0, 1, 0, 0)])
  })

  it.each([
    ['too few shards', [0, 1, 2], [3], '4 different shards are needed'],
    ['too many shards', [0, 1, 2, 3, 4], [5], '4 different shards are needed'],
    ['a shard twice', [0, 1, 2, 2], [3], '4 different shards are needed'],
    ['a source that the scheme has not', [0, 1, 2, 6], [3], 'no shard 6 of 6'],
    ['a wish that the scheme has not', [0, 1, 2, 4], [-1], 'no shard -1 of 6'],
  ])('refuses %s', (_, sources, wanted, message) => {
    expect(() => reconstructionMatrix(scheme, sources, wanted)).toThrow(message)
  })
})
