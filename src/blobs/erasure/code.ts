/**
 * Computes the parity of a stripe, and lost shards from the remaining ones. Knows no stores and no objects.
 * Streams use a workspace and apply a prepared computation to each stripe; callers with whole blocks have them copied.
 */
import { limits } from '../../limits.ts'
import { type ErasureScheme, generatorMatrix, reconstructionMatrix } from './generator-matrix.ts'
import { openTrustedKernel, type TrustedKernel } from './trusted-kernel.ts'
import { type Computation, Workspaces } from './workspaces.ts'

const indexes = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, index) => from + index)

export class ErasureCode {
  readonly kernelName: string
  readonly rejectedKernels: TrustedKernel['rejected']
  /** For stripes: unit n of a workspace belongs to shard n. */
  readonly workspaces: Workspaces

  /** Create only one per process, because its memory limits the stripes under way. */
  constructor({ kernel, rejected }: TrustedKernel, unitBytes: number, memoryBytes: number) {
    this.kernelName = kernel.name
    this.rejectedKernels = rejected
    this.workspaces = new Workspaces(kernel, unitBytes, memoryBytes)
  }

  /** Parity from data. */
  encoding(scheme: ErasureScheme): Computation {
    const shards = scheme.data + scheme.parity
    const coefficients = generatorMatrix(scheme).slice(scheme.data)
    return this.workspaces.computation(indexes(0, scheme.data), indexes(scheme.data, shards), coefficients)
  }

  /** The `wanted` shards from the first sufficient ones of `available`, so the caller's order is its preference. Throws when there are too few. */
  reconstruction(scheme: ErasureScheme, available: readonly number[], wanted: readonly number[]): Computation {
    const sources = available.slice(0, scheme.data)
    if (wanted.some((shard) => sources.includes(shard))) throw new RangeError(`of [${wanted}] some are available`)
    return this.workspaces.computation(sources, wanted, reconstructionMatrix(scheme, sources, wanted))
  }

  /** The parity blocks of data blocks, all of one length. */
  async encode(scheme: ErasureScheme, blocks: readonly Buffer[]): Promise<Buffer[]> {
    if (blocks.length !== scheme.data)
      throw new RangeError(`${scheme.data} data blocks are needed, not ${blocks.length}`)
    return this.apply(scheme, this.encoding(scheme), new Map(blocks.entries()))
  }

  /** The `wanted` blocks from those available, by shard number. */
  async reconstruct(
    scheme: ErasureScheme,
    available: ReadonlyMap<number, Buffer>,
    wanted: readonly number[],
  ): Promise<Buffer[]> {
    return this.apply(scheme, this.reconstruction(scheme, [...available.keys()], wanted), available)
  }

  /** Computes the targets from blocks of one length, by shard number. Holds a workspace only during the computation, so that a slow caller does not block others. */
  async apply(scheme: ErasureScheme, computation: Computation, blocks: ReadonlyMap<number, Buffer>): Promise<Buffer[]> {
    const { sources, targets } = computation
    const blockBytes = Math.max(...sources.map((source) => blocks.get(source)?.length ?? 0))
    if (sources.some((source) => blocks.get(source)?.length !== blockBytes))
      throw new RangeError('the blocks of a stripe are equally long')
    const results = targets.map(() => Buffer.allocUnsafe(blockBytes))
    const workspace = await this.workspaces.take(scheme.data + scheme.parity)
    try {
      for (let at = 0; at < blockBytes; at += this.workspaces.unitBytes) {
        const columns = Math.min(this.workspaces.unitBytes, blockBytes - at)
        for (const source of sources) {
          const unit = workspace.units[source]
          if (unit !== undefined) blocks.get(source)?.copy(unit, 0, at, at + columns)
        }
        workspace.compute(computation, columns)
        targets.forEach((target, index) => {
          const result = results[index]
          if (result !== undefined) workspace.units[target]?.copy(result, at, 0, columns)
        })
      }
    } finally {
      workspace.release()
    }
    return results
  }
}

/** With the sizes from `limits`. */
export function openErasureCode(): ErasureCode {
  const { stripeUnitBytes, stripeMemoryBytes } = limits
  return new ErasureCode(openTrustedKernel(stripeMemoryBytes), stripeUnitBytes, stripeMemoryBytes)
}
