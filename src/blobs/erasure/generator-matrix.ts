/**
 * Computes the coefficients that make parity from data, and lost shards from the remaining ones. Pure.
 * Shards are numbered data first, then parity. Why the matrix is what it is: docs/adr/0012-erasure-coding.md.
 */
import { limits } from '../../limits.ts'
import { inverse, invert, type Matrix, multiply, multiplyRow, unitRow } from './gf256.ts'

export interface ErasureScheme {
  /** The number of shards that hold the payload. Any this many shards are enough to read it. */
  data: number
  /** The number of shards that can be lost. */
  parity: number
}

/** The Cauchy matrix 1 / (x + y): x counts down from 255, y up from 0, so that no x is a y and neither depends on the scheme. */
const cauchy = (parity: number, data: number): number => inverse((255 - parity) ^ data)

/** The same with rows and columns scaled so that the first of each are ones. So the first parity is XOR, and all parity of a single data shard is its copy. */
function coefficient(parity: number, data: number): number {
  const scale = multiply(inverse(cauchy(parity, 0)), inverse(cauchy(0, data)))
  return multiply(multiply(cauchy(parity, data), cauchy(0, 0)), scale)
}

/** The coefficients of each shard, from all data shards. */
export function generatorMatrix({ data, parity }: ErasureScheme): Matrix {
  if (!isCount(data, 1, limits.dataShardsMax) || !isCount(parity, 0, limits.parityShardsMax))
    throw new RangeError(`no erasure code of ${data} + ${parity} shards`)
  return Array.from({ length: data + parity }, (_, shard) =>
    shard < data ? unitRow(data, shard) : Uint8Array.from({ length: data }, (_, at) => coefficient(shard - data, at)),
  )
}

const isCount = (value: number, min: number, max: number): boolean =>
  Number.isInteger(value) && value >= min && value <= max

/** The coefficients of the `wanted` shards from the `sources`: as many different shards as there are data shards, in any order. */
export function reconstructionMatrix(
  scheme: ErasureScheme,
  sources: readonly number[],
  wanted: readonly number[],
): Matrix {
  const generator = generatorMatrix(scheme)
  if (sources.length !== scheme.data || new Set(sources).size !== sources.length)
    throw new RangeError(`${scheme.data} different shards are needed, not [${sources}]`)
  const toData = invert(rowsOf(generator, sources))
  return rowsOf(generator, wanted).map((row) => multiplyRow(row, toData))
}

function rowsOf(matrix: Matrix, shards: readonly number[]): Matrix {
  return shards.map((shard) => {
    const row = matrix[shard]
    if (row === undefined) throw new RangeError(`there is no shard ${shard} of ${matrix.length}`)
    return row
  })
}
