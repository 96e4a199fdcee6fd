/** What a kernel offers: sums of multiples of units, where all the time of erasure coding goes. Knows no scheme and no stripe. */
import type { Matrix } from './gf256.ts'

/** Kernels work in whole steps. What lies behind a unit's last byte, up to a multiple of this, may be overwritten. */
export const stepBytes = 32

/** Sets the units at the addresses `targets` from those at `sources`, which it leaves alone. No target may overlap another unit. */
export type Combine = (sources: readonly number[], targets: readonly number[], bytes: number) => void

export interface Kernel {
  readonly name: string
  /** The only bytes that it works on; addresses are offsets in it. It never moves or grows. */
  readonly memory: ArrayBuffer
  /** What lies before is the kernel's own. */
  readonly freeFrom: number
  /** Prepares what is applied to many stripes. `coefficients` has a row for each target and a column for each source. */
  combination(coefficients: Matrix): Combine
}
