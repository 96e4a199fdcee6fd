/** Opens ranges of large shards. Keeps their files open, with the checksums of their blocks, for later readers. */
import { type ByteSource, lendingSource } from '../../../byte-source.ts'
import type { ChunkPool } from '../../../chunk-pool.ts'
import { limits } from '../../../limits.ts'
import type { FileHandle } from '../../fs.ts'
import { checkRange } from '../../shard-contract.ts'
import { ShardDamaged, type ShardId, type ShardRange } from '../../shard-store.ts'
import { BlockSource } from '../block-source.ts'
import type { StoreContext } from '../context.ts'
import { readFailure } from '../failures.ts'
import { BlockTable, OpenRange } from '../open-range.ts'
import type { FileAddress } from '../shard-ids.ts'
import { type Footer, footerBytesOf, readFooter, usualFooterBytes } from './large-file-format.ts'
import { type FileLease, OpenFiles } from './open-files.ts'

/** Reads and verifies the footer. One read, unless the description is unusually long. */
export async function readFooterOf(
  id: ShardId,
  file: FileHandle,
  address: FileAddress,
  blockBytes: number,
): Promise<Footer> {
  let tail = await readTail(id, file, address, usualFooterBytes(address.bytes, blockBytes))
  const footerBytes = footerBytesOf(tail, address)
  if (typeof footerBytes === 'string') throw new ShardDamaged(id, footerBytes)
  if (footerBytes > tail.length) tail = await readTail(id, file, address, footerBytes)
  const footer = readFooter(tail.subarray(tail.length - footerBytes))
  if (typeof footer === 'string') throw new ShardDamaged(id, footer)
  return footer
}

async function readTail(id: ShardId, file: FileHandle, address: FileAddress, bytes: number): Promise<Buffer> {
  const tail = Buffer.allocUnsafe(bytes)
  if ((await file.read(tail, address.bytes - bytes)) < bytes) throw new ShardDamaged(id, 'the file is too short')
  return tail
}

export class LargeFileReader {
  readonly #context: StoreContext
  readonly #chunks: ChunkPool
  /** Each chunk has room for the blocks of a small range, wherever the range begins. */
  readonly #smallChunks: ChunkPool
  readonly #open: OpenFiles<BlockTable>

  constructor(context: StoreContext, chunks: ChunkPool, smallChunks: ChunkPool) {
    this.#context = context
    this.#chunks = chunks
    this.#smallChunks = smallChunks
    this.#open = new OpenFiles(context.fs, {
      filesMax: limits.fileHandlesMax,
      learnedBytesMax: limits.fileFootersBytesMax,
    })
  }

  /** As `ShardStore.get`. */
  async get(id: ShardId, address: FileAddress, range: ShardRange): Promise<ByteSource> {
    const lease = await this.#leaseUnchanged(id, address)
    let open: OpenRange
    try {
      const opened = await lease.opened
      checkRange(range, opened.learned.payloadBytes)
      open = new OpenRange(id, opened, range, lease, () => this.#leaseAnew(id, address))
    } catch (error) {
      lease.release()
      throw readFailure(id, error)
    }
    if (range.end - range.start > this.#context.sizes.smallShardBytesMax) {
      return new BlockSource(open, this.#chunks)
    }
    try {
      return await this.#readSmall(open)
    } finally {
      open.release()
    }
  }

  /** Closes a file that was removed. */
  forget(id: ShardId): void {
    this.#open.forget(id)
  }

  /** Closes files that nobody read since the last sweep. */
  sweep(): void {
    this.#open.sweep()
  }

  close(): void {
    this.#open.close()
  }

  async #readSmall(open: OpenRange): Promise<ByteSource> {
    const { start, end } = open.blocks
    const chunk = this.#smallChunks.take(end - start)
    const giveBack = (): void => this.#smallChunks.give(chunk)
    try {
      const blocks = chunk.subarray(0, end - start)
      await open.fill(blocks, start)
      return lendingSource(open.verified(blocks, start), giveBack)
    } catch (error) {
      giveBack()
      throw error
    }
  }

  /** Leases the file that the path names now: the open one may have been removed or changed, or its disk may be gone. */
  async #leaseUnchanged(id: ShardId, address: FileAddress): Promise<FileLease<BlockTable>> {
    const lease = this.#lease(id, address)
    if (!lease.wasOpen) return lease
    try {
      const { file } = await lease.opened
      if (await file.isUnchanged()) return lease
    } catch (error) {
      lease.release()
      throw readFailure(id, error)
    }
    lease.release()
    return this.#leaseAnew(id, address)
  }

  #leaseAnew(id: ShardId, address: FileAddress): FileLease<BlockTable> {
    this.forget(id)
    return this.#lease(id, address)
  }

  #lease(id: ShardId, address: FileAddress): FileLease<BlockTable> {
    const { layout, sizes } = this.#context
    const path = (): string => layout.file(address.batch, address.file)
    return this.#open.acquire(id, path, async (file) => {
      return new BlockTable(await readFooterOf(id, file, address, sizes.checksumBlockBytes))
    })
  }
}
