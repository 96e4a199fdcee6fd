/** Chooses the fastest kernel of this engine whose results match the tables. It is tested first, because wrong parity would show only when it is needed. */
import { limits } from '../../limits.ts'
import type { Matrix } from './gf256.ts'
import { type Kernel, stepBytes } from './kernel.ts'
import { openSimdKernel } from './simd-kernel.ts'
import { openTableKernel } from './table-kernel.ts'

export interface KernelCandidate {
  name: string
  /** Opens the kernel with at least `memoryBytes` free bytes. Throws when the engine lacks what the kernel needs. */
  open(memoryBytes: number): Kernel
}

/** Fastest first. */
const candidates: readonly KernelCandidate[] = [
  { name: 'relaxed SIMD', open: (memoryBytes) => openSimdKernel(memoryBytes, 'relaxed') },
  { name: 'SIMD', open: (memoryBytes) => openSimdKernel(memoryBytes, 'strict') },
]

export interface TrustedKernel {
  kernel: Kernel
  /** Faster kernels, and why they are not used. */
  rejected: readonly { name: string; reason: string }[]
}

/** Opens the first candidate that can be trusted, or the tables when there is none. */
export function openTrustedKernel(memoryBytes: number, among = candidates): TrustedKernel {
  const rejected: { name: string; reason: string }[] = []
  for (const { name, open } of among) {
    try {
      const kernel = open(Math.max(memoryBytes, checkedBytes))
      checkKernel(kernel)
      return { kernel, rejected }
    } catch (error) {
      rejected.push({ name, reason: error instanceof Error ? error.message : String(error) })
    }
  }
  return { kernel: openTableKernel(memoryBytes), rejected }
}

/** One byte per possible value, so that every byte is multiplied by every coefficient. */
const checkedUnitBytes = 256
/** An odd distance between units: unaligned, with different content, and with a gap in which overruns show. */
const unitDistance = checkedUnitBytes + stepBytes + 1
const checkedTargetsMax = 2 * limits.parityShardsMax
const checkedBytes = (limits.dataShardsMax + checkedTargetsMax) * unitDistance

/** Any 256 consecutive bytes of it hold every value. */
const content = Uint8Array.from({ length: checkedBytes }, (_, at) => at * 37)

const matrix = (rows: number, columns: number, entry: (row: number, column: number) => number): Matrix =>
  Array.from({ length: rows }, (_, row) => Uint8Array.from({ length: columns }, (_, column) => entry(row, column)))

/** Every coefficient with every byte, and sums of every shape that a pass can have, in one step and in many. */
function* checkedCases(): Iterable<{ coefficients: Matrix; unitBytes: number }> {
  for (let first = 0; first < 256; first += checkedTargetsMax)
    yield { coefficients: matrix(checkedTargetsMax, 1, (row) => first + row), unitBytes: checkedUnitBytes }
  for (let targets = 1; targets <= limits.parityShardsMax; targets++)
    for (const sources of [2, 3, limits.dataShardsMax])
      for (const unitBytes of [1, 3 * stepBytes])
        yield { coefficients: matrix(targets, sources, (row, column) => (row * 29 + column * 31 + 7) % 256), unitBytes }
}

/** Throws when the kernel computes anything but what the tables say, or writes where it should not. Overwrites its free memory. */
function checkKernel(kernel: Kernel): void {
  const tables = openTableKernel(checkedBytes)
  for (const { coefficients, unitBytes } of checkedCases()) {
    const [computed, expected] = [kernel, tables].map((each) => outcome(each, coefficients, unitBytes))
    if (computed === undefined || expected === undefined || !computed.equals(expected))
      throw new Error(`${kernel.name} computes wrong sums`)
  }
}

function outcome(kernel: Kernel, coefficients: Matrix, unitBytes: number): Buffer {
  const area = Buffer.from(kernel.memory, kernel.freeFrom, checkedBytes)
  area.set(content)
  const sources = coefficients[0]?.length ?? 0
  const addresses = Array.from({ length: sources + coefficients.length }, (_, n) => kernel.freeFrom + n * unitDistance)
  kernel.combination(coefficients)(addresses.slice(0, sources), addresses.slice(sources), unitBytes)
  return area
}
