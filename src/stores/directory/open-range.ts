/** A range of one open large file: which blocks hold it, and the verification of each block before any byte of it is given out. */
import type { FileHandle } from '../fs.ts'
import { ShardDamaged, type ShardId, type ShardRange } from '../shard-store.ts'
import { type BlockChecksums, damagedBlock } from './block-checksums.ts'
import { isRemoved, readFailure } from './failures.ts'
import type { FileLease, Learned, OpenedFile } from './large-files/open-files.ts'

const tableOverheadBytes = 256

/** The part of a verified footer that each read of the payload needs. */
export class BlockTable implements Learned {
  readonly payloadBytes: number
  readonly blockBytes: number
  readonly #checksums: BlockChecksums

  constructor({ payloadBytes, blockBytes, blockChecksum, table }: BlockChecksums & { payloadBytes: number }) {
    this.payloadBytes = payloadBytes
    this.blockBytes = blockBytes
    this.#checksums = { blockBytes, blockChecksum, table }
  }

  get bytes(): number {
    return this.#checksums.table.length + tableOverheadBytes
  }

  /** Where the blocks that hold a range begin and end. */
  blocksOf({ start, end }: ShardRange): ShardRange {
    if (start >= end) return { start, end: start }
    const { blockBytes, payloadBytes } = this
    return {
      start: Math.floor(start / blockBytes) * blockBytes,
      end: Math.min(Math.ceil(end / blockBytes) * blockBytes, payloadBytes),
    }
  }

  /** The first damaged one among whole blocks that begin at `position`, counted from the payload's start. */
  damagedBlock(blocks: Buffer, position: number): number | undefined {
    return damagedBlock(blocks, this.#checksums, position / this.blockBytes)
  }
}

/** A range of a shard in verified blocks, whatever holds them. */
export interface BlockRange {
  readonly range: ShardRange
  /** Where the blocks that hold the range begin and end. */
  readonly blocks: ShardRange
  readonly blockBytes: number
  /** Fills `blocks` from `position`. Errors: `ShardMissing`, `ShardDamaged`. */
  fill(blocks: Buffer, position: number): Promise<void>
  /** Throws `ShardDamaged` unless the whole blocks that begin at `position` are what was written there. */
  verify(blocks: Buffer, position: number): void
  /** Call once, when nothing more will be read. */
  release(): void
}

export class OpenRange implements BlockRange {
  readonly range: ShardRange
  readonly #id: ShardId
  readonly #table: BlockTable
  readonly #reopen: () => FileLease<BlockTable>
  #file: FileHandle
  readonly #leases: FileLease<BlockTable>[]
  #renewed: Promise<void> | undefined

  /** Takes over `lease`, whose file is open. `reopen`: leases the file that the path names now. */
  constructor(
    id: ShardId,
    { file, learned }: OpenedFile<BlockTable>,
    range: ShardRange,
    lease: FileLease<BlockTable>,
    reopen: () => FileLease<BlockTable>,
  ) {
    this.#id = id
    this.#file = file
    this.#table = learned
    this.range = range
    this.#leases = [lease]
    this.#reopen = reopen
  }

  /** Call once, when nothing more will be read. */
  release(): void {
    for (const lease of this.#leases) lease.release()
  }

  get blocks(): ShardRange {
    return this.#table.blocksOf(this.range)
  }

  get blockBytes(): number {
    return this.#table.blockBytes
  }

  /** Fills `blocks` from `position`. Errors: `ShardMissing`, `ShardDamaged`. */
  async fill(blocks: Buffer, position: number): Promise<void> {
    let filled: number
    try {
      filled = await this.#read(blocks, position)
    } catch (error) {
      throw readFailure(this.#id, error)
    }
    if (filled < blocks.length) throw new ShardDamaged(this.#id, 'the file is too short')
  }

  async #read(blocks: Buffer, position: number): Promise<number> {
    try {
      return await this.#file.read(blocks, position)
    } catch (error) {
      if (!isRemoved(error)) throw error
      // The descriptor leads nowhere, but the file may still be there, or be there again.
      this.#renewed ??= this.#renew()
      await this.#renewed
      return this.#file.read(blocks, position)
    }
  }

  /** Once for all reads of the range. The earlier lease stays, because other reads may be under way through it. */
  async #renew(): Promise<void> {
    const lease = this.#reopen()
    this.#leases.push(lease)
    this.#file = (await lease.opened).file
  }

  /** Throws `ShardDamaged` unless the whole blocks that begin at `position` are what was written there. */
  verify(blocks: Buffer, position: number): void {
    const damaged = this.#table.damagedBlock(blocks, position)
    if (damaged !== undefined) throw new ShardDamaged(this.#id, `block ${damaged} is damaged`)
  }

  /** Cuts the range out of all of its `blocks`. Throws `ShardDamaged`. */
  verified(blocks: Buffer, position: number): Buffer {
    this.verify(blocks, position)
    return blocks.subarray(this.range.start - position, this.range.end - position)
  }
}
