/** A range of one open large file: which blocks hold it, and the verification of each block before any byte of it is given out. */
import type { FileHandle } from '../fs.ts'
import { ShardDamaged, type ShardId, type ShardRange } from '../shard-store.ts'
import { damagedBlock } from './block-checksums.ts'
import { unreadable } from './failures.ts'
import type { Footer } from './large-file-format.ts'
import type { Learned } from './open-files.ts'

const tableOverheadBytes = 256

/** The part of a verified footer that each read of the payload needs. */
export class BlockTable implements Learned {
  readonly payloadBytes: number
  readonly blockBytes: number
  /** CRC32C of each block. */
  readonly #checksums: Buffer

  constructor({ payloadBytes, blockBytes, table }: Footer) {
    this.payloadBytes = payloadBytes
    this.blockBytes = blockBytes
    this.#checksums = table
  }

  get bytes(): number {
    return this.#checksums.length + tableOverheadBytes
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
    return damagedBlock(blocks, this.blockBytes, this.#checksums, position / this.blockBytes)
  }
}

export class OpenRange {
  readonly range: ShardRange
  readonly #id: ShardId
  readonly #file: FileHandle
  readonly #table: BlockTable
  /** Call once, when nothing more will be read. */
  readonly release: () => void

  constructor(id: ShardId, file: FileHandle, table: BlockTable, range: ShardRange, release: () => void) {
    this.#id = id
    this.#file = file
    this.#table = table
    this.range = range
    this.release = release
  }

  get blocks(): ShardRange {
    return this.#table.blocksOf(this.range)
  }

  get blockBytes(): number {
    return this.#table.blockBytes
  }

  /** Fills `blocks` from `position`. Errors: `ShardDamaged`. */
  async fill(blocks: Buffer, position: number): Promise<void> {
    let filled: number
    try {
      filled = await this.#file.read(blocks, position)
    } catch (error) {
      throw unreadable(this.#id, error)
    }
    if (filled < blocks.length) throw new ShardDamaged(this.#id, 'the file is too short')
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
