/** The kernel in plain JavaScript, one byte at a time. It runs where there are no vectors, and other kernels are tested against it. */
import { multiply } from './gf256.ts'
import { type Kernel, stepBytes } from './kernel.ts'

export function openTableKernel(memoryBytes: number): Kernel {
  const memory = new ArrayBuffer(memoryBytes)
  return {
    name: 'tables',
    memory,
    freeFrom: 0,
    combination(coefficients) {
      const products = coefficients.map((row) => Array.from(row, productTable))
      return (sources, targets, unitBytes) => {
        const bytes = Math.ceil(unitBytes / stepBytes) * stepBytes
        products.forEach((tables, row) => {
          const sum = new Uint8Array(memory, targets[row], bytes).fill(0)
          tables.forEach((table, column) => {
            addProducts(sum, new Uint8Array(memory, sources[column], bytes), table)
          })
        })
      }
    },
  }
}

/** The products of a coefficient with every byte. Made when first needed. */
const productTables: Uint8Array[] = []

function productTable(coefficient: number): Uint8Array {
  const known = productTables[coefficient]
  if (known !== undefined) return known
  const table = Uint8Array.from({ length: 256 }, (_, byte) => multiply(coefficient, byte))
  productTables[coefficient] = table
  return table
}

function addProducts(sum: Uint8Array, source: Uint8Array, table: Uint8Array): void {
  for (let at = 0; at < sum.length; at++) sum[at] = (sum[at] ?? 0) ^ (table[source[at] ?? 0] ?? 0)
}
