/** Arithmetic in GF(2^8), the field of bytes in which parity is computed, and square matrices over it. Pure; meant for few bytes, not for data. */

/** x^8 + x^4 + x^3 + x^2 + 1, of which x is a generator. What is stored depends on it: see docs/adr/0012-erasure-coding.md. */
const polynomial = 0x11d
const order = 255

const { powers, logarithms } = tables()

function tables(): { powers: Uint8Array; logarithms: Uint8Array } {
  const powers = new Uint8Array(order)
  const logarithms = new Uint8Array(order + 1)
  let power = 1
  for (let exponent = 0; exponent < order; exponent++) {
    powers[exponent] = power
    logarithms[power] = exponent
    power <<= 1
    if (power > order) power ^= polynomial
  }
  return { powers, logarithms }
}

const power = (exponent: number): number => powers[exponent % order] ?? 0
const logarithm = (value: number): number => logarithms[value] ?? 0

export function multiply(a: number, b: number): number {
  return a === 0 || b === 0 ? 0 : power(logarithm(a) + logarithm(b))
}

/** Throws for zero, which has no inverse. */
export function inverse(value: number): number {
  if (value === 0) throw new RangeError('zero has no inverse')
  return power(order - logarithm(value))
}

/** Rows of a matrix. A row is added to another by XOR. */
export type Matrix = readonly Uint8Array[]

/** A row vector times a matrix. The matrix has one row per entry of the vector. */
export function multiplyRow(row: Uint8Array, matrix: Matrix): Uint8Array {
  const product = new Uint8Array(matrix[0]?.length ?? 0)
  matrix.forEach((other, index) => {
    addMultiple(product, other, row[index] ?? 0)
  })
  return product
}

/** By Gauss and Jordan. Throws when the square matrix has no inverse. */
export function invert(matrix: Matrix): Uint8Array[] {
  const size = matrix.length
  const rows = matrix.map((row, index) => Uint8Array.of(...row, ...unitRow(size, index)))
  for (let column = 0; column < size; column++) {
    const found = rows.findIndex((row, index) => index >= column && row[column] !== 0)
    const pivot = found < 0 ? undefined : rows.splice(found, 1)[0]
    if (pivot === undefined) throw new RangeError('the matrix has no inverse')
    const scale = inverse(pivot[column] ?? 0)
    const scaled = pivot.map((entry) => multiply(entry, scale))
    for (const row of rows) addMultiple(row, scaled, row[column] ?? 0)
    rows.splice(column, 0, scaled)
  }
  return rows.map((row) => row.subarray(size))
}

/** A row of zeros with a single one. */
export function unitRow(size: number, index: number): Uint8Array {
  const row = new Uint8Array(size)
  row[index] = 1
  return row
}

function addMultiple(row: Uint8Array, other: Uint8Array, factor: number): void {
  if (factor === 0) return
  for (let at = 0; at < row.length; at++) row[at] = (row[at] ?? 0) ^ multiply(factor, other[at] ?? 0)
}
