/**
 * Lends units of the kernel's memory, so that data need not be copied for a computation. The memory is bounded, and never returned to the system.
 * Knows no scheme. Callers wait in order for free units. A caller that already holds some must not wait for more.
 */
import type { Matrix } from './gf256.ts'
import { type Combine, type Kernel, stepBytes } from './kernel.ts'

/** The gap between units, which keeps units of one stripe from competing for the same cache lines. */
const unitGapBytes = 256

const distance = (unitBytes: number): number => Math.ceil(unitBytes / stepBytes) * stepBytes + unitGapBytes

interface Unit {
  address: number
  bytes: Buffer
}

/** Computes some units of a stripe from others. Prepared once, applied to any number of stripes. */
export interface Computation {
  /** Numbers of units in a workspace, in the order of the coefficients' columns and rows. */
  sources: readonly number[]
  targets: readonly number[]
  combine: Combine
}

interface Waiter {
  units: number
  resolve(workspace: Workspace): void
}

export class Workspaces {
  /** Bytes of each unit. */
  readonly unitBytes: number
  readonly unitsMax: number
  readonly #kernel: Kernel
  /** A stack: the unit released last is taken first, so that no more memory becomes resident than is in use at one time. */
  readonly #free: Unit[]
  readonly #waiting: Waiter[] = []

  /** Takes the first `memoryBytes` of the kernel's free memory. */
  constructor(kernel: Kernel, unitBytes: number, memoryBytes: number) {
    this.unitBytes = unitBytes
    this.unitsMax = Math.floor(memoryBytes / distance(unitBytes))
    this.#kernel = kernel
    this.#free = Array.from({ length: this.unitsMax }, (_, index) => {
      const address = kernel.freeFrom + (this.unitsMax - 1 - index) * distance(unitBytes)
      return { address, bytes: Buffer.from(kernel.memory, address, unitBytes) }
    })
  }

  /** Waits until `units` units are free; callers are served in order. The caller must release the workspace. Rejects when there are never that many. */
  async take(units: number): Promise<Workspace> {
    if (units > this.unitsMax) throw new RangeError(`${units} units do not fit into memory for ${this.unitsMax}`)
    return this.tryTake(units) ?? new Promise((resolve) => this.#waiting.push({ units, resolve }))
  }

  /** The same for a caller that already holds a workspace: returns `undefined` instead of waiting. */
  tryTake(units: number): Workspace | undefined {
    return this.#waiting.length > 0 || units > this.#free.length ? undefined : this.#give(units)
  }

  /** `coefficients`: a row for each target, a column for each source. */
  computation(sources: readonly number[], targets: readonly number[], coefficients: Matrix): Computation {
    const fits = coefficients.length === targets.length && coefficients.every((row) => row.length === sources.length)
    if (!fits) throw new RangeError(`the coefficients are not those of ${targets.length} units from ${sources.length}`)
    return { sources, targets, combine: this.#kernel.combination(coefficients) }
  }

  #give(units: number): Workspace {
    const taken = this.#free.splice(this.#free.length - units).reverse()
    return new Workspace(taken, () => this.#takeBack(taken))
  }

  #takeBack(units: readonly Unit[]): void {
    this.#free.push(...units.toReversed())
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      if (next.units > this.#free.length) return
      this.#waiting.shift()
      next.resolve(this.#give(next.units))
    }
  }
}

/** The units of one stripe at a time. Until they are written, they hold what earlier stripes left there. */
export class Workspace {
  /** Nothing must touch them after `release`: no system call, no reader. */
  readonly units: readonly Buffer[]
  readonly #addresses: readonly number[]
  #giveBack: (() => void) | undefined

  constructor(units: readonly Unit[], giveBack: () => void) {
    this.units = units.map(({ bytes }) => bytes)
    this.#addresses = units.map(({ address }) => address)
    this.#giveBack = giveBack
  }

  /** Computes the first `unitBytes` of the computation's targets. */
  compute({ sources, targets, combine }: Computation, unitBytes: number): void {
    if (this.#giveBack === undefined) throw new Error('the workspace was released')
    combine(this.#addressesOf(sources), this.#addressesOf(targets), unitBytes)
  }

  /** Copies `chunk` into the first `data` units, of `unitBytes` each, from offset `at` of the stripe, as far as it fits. Returns the number of bytes copied. */
  fill(chunk: Buffer, at: number, data: number, unitBytes: number): number {
    let taken = 0
    for (let offset = at; taken < chunk.length && offset < data * unitBytes; offset = at + taken) {
      const inUnit = offset % unitBytes
      const source = chunk.subarray(taken, taken + unitBytes - inUnit)
      taken += source.copy(this.#unit(Math.floor(offset / unitBytes)), inUnit)
    }
    return taken
  }

  /** Zeroes the rest of the data units from offset `at` of the stripe, because it becomes part of shards. */
  pad(at: number, data: number, unitBytes: number): void {
    for (let offset = at; offset < data * unitBytes; ) {
      const inUnit = offset % unitBytes
      this.#unit(Math.floor(offset / unitBytes)).fill(0, inUnit, unitBytes)
      offset += unitBytes - inUnit
    }
  }

  /** Returns the units. Idempotent. */
  release(): void {
    this.#giveBack?.()
    this.#giveBack = undefined
  }

  #unit(index: number): Buffer {
    const unit = this.units[index]
    if (unit === undefined) throw new RangeError(`there is no unit ${index} of ${this.units.length}`)
    return unit
  }

  #addressesOf(indexes: readonly number[]): number[] {
    return indexes.map((index) => {
      const address = this.#addresses[index]
      if (address === undefined) throw new RangeError(`there is no unit ${index} of ${this.units.length}`)
      return address
    })
  }
}
