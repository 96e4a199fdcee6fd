/** The field against its definition, and the inverse of matrices against their product. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { inverse, invert, multiply, multiplyRow, unitRow } from '../../../src/blobs/erasure/gf256.ts'
import { multiplyByDefinition } from './definition.ts'

const bytes = Array.from({ length: 256 }, (_, byte) => byte)
const byte = fc.integer({ min: 0, max: 255 })
const squareMatrix = fc
  .integer({ min: 1, max: 12 })
  .chain((size) => fc.array(fc.uint8Array({ minLength: size, maxLength: size }), { minLength: size, maxLength: size }))

describe('the field of bytes', () => {
  it('multiplies every two bytes as polynomials modulo 0x11d', () => {
    const wrong = bytes.flatMap((a) => bytes.filter((b) => multiply(a, b) !== multiplyByDefinition(a, b)))
    expect(wrong).toEqual([])
  })

  it('inverts every byte but zero', () => {
    expect(bytes.slice(1).map((value) => multiply(value, inverse(value)))).toEqual(bytes.slice(1).map(() => 1))
    expect(() => inverse(0)).toThrow('no inverse')
  })
})

describe('matrices', () => {
  it('have an inverse whose product with them is the identity, or are refused', () => {
    fc.assert(
      fc.property(squareMatrix, (matrix) => {
        let inverted: Uint8Array[]
        try {
          inverted = invert(matrix)
        } catch {
          expect(rank(matrix)).toBeLessThan(matrix.length)
          return
        }
        const identity = matrix.map((_, index) => unitRow(matrix.length, index))
        expect(matrix.map((row) => multiplyRow(row, inverted))).toEqual(identity)
      }),
    )
  })

  it.each([
    ['a row of zeros', (row: Uint8Array) => row.fill(0)],
    ['a multiple of another row', (row: Uint8Array, other: Uint8Array) => row.set(other.map((x) => multiply(x, 29)))],
  ])('with %s are refused', (_, spoil) => {
    fc.assert(
      fc.property(
        squareMatrix.filter((matrix) => matrix.length > 1),
        byte,
        (matrix, index) => {
          const at = index % matrix.length
          const [row, other] = [matrix[at], matrix[(at + 1) % matrix.length]]
          if (row !== undefined && other !== undefined) spoil(row, other)
          expect(() => invert(matrix)).toThrow('no inverse')
        },
      ),
    )
  })
})

/** By elimination without division. */
function rank(matrix: readonly Uint8Array[]): number {
  let rows = matrix.map((row) => [...row])
  let found = 0
  for (let column = 0; column < matrix.length; column++) {
    const pivot = rows.find((row) => row[column] !== 0)
    if (pivot === undefined) continue
    found++
    rows = rows
      .filter((row) => row !== pivot)
      .map((row) =>
        row.map(
          (entry, at) =>
            multiplyByDefinition(entry, pivot[column] ?? 0) ^ multiplyByDefinition(pivot[at] ?? 0, row[column] ?? 0),
        ),
      )
  }
  return found
}
