/** The interface of kernels, which compute sums of multiples of units. Erasure coding spends nearly all of its time there. Knows no scheme and no stripe. */
import type { Matrix } from './gf256.ts'

/** Kernels work in whole steps, so they can overwrite the bytes after a unit's end, up to a multiple of this. */
export const stepBytes = 32

/** Computes the units at the addresses `targets` from those at `sources`, which it only reads. No target may overlap another unit. */
export type Combine = (sources: readonly number[], targets: readonly number[], bytes: number) => void

export interface Kernel {
  readonly name: string
  /** The only bytes that it works on; addresses are offsets into them. The memory never moves or grows. */
  readonly memory: ArrayBuffer
  /** The bytes before this belong to the kernel. */
  readonly freeFrom: number
  /** Prepares a computation for many stripes. `coefficients` has a row for each target and a column for each source. */
  combination(coefficients: Matrix): Combine
}
