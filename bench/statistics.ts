/** Medians, percentiles and ratios of measurements. Pure. */

/** A value, and how often it was measured. */
export type Count = readonly [value: number, count: number]

export interface Spread {
  median: number
  min: number
  max: number
}

/** Throws for no values: a median of nothing is no number. */
export function spread(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b)
  const [min] = sorted
  const max = sorted.at(-1)
  if (min === undefined || max === undefined) throw new RangeError('no values to summarise')
  const upper = sorted[sorted.length >> 1] ?? max
  const lower = sorted[(sorted.length - 1) >> 1] ?? min
  return { median: (lower + upper) / 2, min, max }
}

export function median(values: readonly number[]): number {
  return spread(values).median
}

/** The least value that `fraction` of all do not exceed. NaN when nothing was counted. */
export function percentile(counts: readonly Count[], fraction: number): number {
  const sorted = [...counts].sort(([a], [b]) => a - b)
  const total = sorted.reduce((sum, [, count]) => sum + count, 0)
  let below = 0
  for (const [value, count] of sorted) {
    below += count
    if (below >= total * fraction) return value
  }
  return Number.NaN
}

/** The ratio in each pair of rounds, so that what slows down a whole pair does not count. */
export function pairedRatios(values: readonly number[], references: readonly number[]): number[] {
  return values.flatMap((value, round) => {
    const reference = references[round]
    return reference === undefined || reference === 0 ? [] : [value / reference]
  })
}

export interface Interval {
  low: number
  high: number
}

/** Where the median lies with 95 % certainty: order statistics by the binomial distribution. For fewer than 6 values, all of them. */
export function medianInterval(values: readonly number[]): Interval {
  const sorted = [...values].sort((a, b) => a - b)
  const { min, max } = spread(sorted)
  const count = sorted.length
  // How likely it is that so many values or fewer lie below the median.
  let likely = 0
  let ways = 1
  let cut = 0
  for (let below = 0; below < count / 2; below++) {
    likely += ways / 2 ** count
    if (likely > 0.025) break
    cut = below
    ways = (ways * (count - below)) / (below + 1)
  }
  return count < 6 ? { low: min, high: max } : { low: sorted[cut] ?? min, high: sorted[count - 1 - cut] ?? max }
}

/**
 * The latencies that wrk measured. It adds what it thinks clients would have waited, had they sent at even intervals (`stats_correct` in its
 * stats.c); requests here wait for the answer before. The interval is the run's length divided by the requests of one connection.
 */
export function withoutWrkCorrection(counts: readonly Count[], interval: number): Count[] {
  const left = new Map(counts)
  const values = [...left.keys()].sort((a, b) => b - a)
  for (const value of values) {
    const count = left.get(value) ?? 0
    if (value < 2 * interval || count <= 0) continue
    for (let added = value - interval; added > interval; added -= interval) {
      const before = left.get(added)
      if (before !== undefined) left.set(added, before - count)
    }
  }
  return [...left].filter(([, count]) => count > 0)
}
