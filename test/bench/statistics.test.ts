import { describe, expect, it } from 'vitest'
import {
  type Count,
  medianInterval,
  pairedRatios,
  percentile,
  spread,
  withoutWrkCorrection,
} from '../../bench/statistics.ts'

describe('a spread', () => {
  it.each([
    [[3], { median: 3, min: 3, max: 3 }],
    [[9, 1, 5], { median: 5, min: 1, max: 9 }],
    [[4, 1, 2, 10], { median: 3, min: 1, max: 10 }],
  ])('of %j is %j', (values, expected) => {
    expect(spread(values)).toEqual(expected)
  })

  it('of nothing is refused', () => {
    expect(() => spread([])).toThrow(RangeError)
  })
})

describe('a percentile', () => {
  const hundred: Count[] = Array.from({ length: 100 }, (_, index) => [100 - index, 1])

  it.each([
    [0.5, 50],
    [0.99, 99],
    [1, 100],
  ])('%d of 1 to 100 is %d', (fraction, expected) => {
    expect(percentile(hundred, fraction)).toBe(expected)
  })

  it('counts a value as often as it was measured', () => {
    const counts: Count[] = [
      [1, 98],
      [7, 1],
      [50, 1],
    ]
    expect(percentile(counts, 0.98)).toBe(1)
    expect(percentile(counts, 0.99)).toBe(7)
  })
})

describe('ratios of rounds', () => {
  it('are taken within a round', () => {
    expect(pairedRatios([10, 20], [20, 80])).toEqual([0.5, 0.25])
  })

  it('leave out rounds that have no reference', () => {
    expect(pairedRatios([10, 20, 30], [20, 0])).toEqual([0.5])
  })
})

describe('what wrk adds to latencies', () => {
  /** As stats_correct of wrk 4 does it, over a dense histogram. */
  const corrected = (counts: readonly Count[], interval: number): Count[] => {
    const data = new Map(counts)
    const most = Math.max(...data.keys())
    for (let at = 2 * interval; at <= most; at++) {
      const count = data.get(at) ?? 0
      for (let added = at - interval; count > 0 && added > interval; added -= interval) {
        data.set(added, (data.get(added) ?? 0) + count)
      }
    }
    return [...data]
  }

  it.each<[string, Count[], number]>([
    [
      'one request that took long',
      [
        [10, 1_000],
        [95, 3],
      ],
      10,
    ],
    [
      'requests that took long and what those add falls on others',
      [
        [5, 10],
        [20, 4],
        [30, 2],
        [40, 7],
        [53, 1],
      ],
      10,
    ],
    [
      'nothing that took long',
      [
        [1, 5],
        [2, 6],
      ],
      10,
    ],
  ])('is taken away: %s', (_, counts, interval) => {
    const sorted = (of: readonly Count[]): Count[] => [...of].sort(([a], [b]) => a - b)
    const seen = withoutWrkCorrection(corrected(counts, interval), interval)
    expect(sorted(seen)).toEqual(sorted(counts))
  })
})

describe('the interval of a median', () => {
  const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => count - i)
  // Tables of the sign test, such as Conover's: the ranks for 95 %.
  it.each([
    [6, 1, 6],
    [9, 2, 8],
    [15, 4, 12],
    [20, 6, 15],
    [30, 10, 21],
  ])('of %i values goes from rank %i to %i', (count, low, high) => {
    expect(medianInterval(upTo(count))).toEqual({ low, high })
  })

  it('of few values is all of them', () => {
    expect(medianInterval([3, 1, 2])).toEqual({ low: 1, high: 3 })
  })
})
