/** What erasure coding is held against: multiplication and sums as they are defined, a bit at a time. Shares nothing with the code under test. */

/** The product of two polynomials over GF(2), modulo x^8 + x^4 + x^3 + x^2 + 1. */
export function multiplyByDefinition(a: number, b: number): number {
  let product = 0
  for (let bit = 7; bit >= 0; bit--) {
    product <<= 1
    if (product & 0x100) product ^= 0x11d
    if ((b >> bit) & 1) product ^= a
  }
  return product
}

/** One row of coefficients applied to blocks. */
export function sumByDefinition(row: Uint8Array, blocks: readonly Buffer[]): Buffer {
  const sum = Buffer.alloc(blocks[0]?.length ?? 0)
  blocks.forEach((block, index) => {
    for (let at = 0; at < sum.length; at++) {
      sum[at] = (sum[at] ?? 0) ^ multiplyByDefinition(row[index] ?? 0, block[at] ?? 0)
    }
  })
  return sum
}
