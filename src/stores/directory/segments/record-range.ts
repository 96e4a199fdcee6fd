/** A range of one large record in a segment: only the blocks that hold it are read. */
import type { ShardRange } from '../../shard-store.ts'
import type { BlockRange, BlockTable } from '../open-range.ts'

/** Fills `bytes` from `position` of the payload. `damaged` says which block is wrong. Errors: `ShardMissing`, `ShardDamaged`. */
export type ReadBlocks = (
  bytes: Buffer,
  position: number,
  damaged: (blocks: Buffer) => number | undefined,
) => Promise<void>

export class RecordRange implements BlockRange {
  readonly range: ShardRange
  readonly #table: BlockTable
  readonly #read: ReadBlocks

  constructor(range: ShardRange, table: BlockTable, read: ReadBlocks) {
    this.range = range
    this.#table = table
    this.#read = read
  }

  get blocks(): ShardRange {
    return this.#table.blocksOf(this.range)
  }

  get blockBytes(): number {
    return this.#table.blockBytes
  }

  /** Also verifies, because what is damaged may have been read through a stale descriptor, and be read again. */
  fill(blocks: Buffer, position: number): Promise<void> {
    return this.#read(blocks, position, (found) => this.#table.damagedBlock(found, position))
  }

  verify(): void {}

  release(): void {}
}
