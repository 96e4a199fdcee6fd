/** Large shards, each in a file of its own: `files/<batch>/<file>`, with the suffix `.part` until it is complete. */
import type { ByteSource } from '../../../byte-source.ts'
import { ChunkPool } from '../../../chunk-pool.ts'
import { timeOrderedId } from '../../../clock.ts'
import type { Batches } from '../../batches/batches.ts'
import { SharedBatch } from '../../batches/shared-batch.ts'
import { checkedDescription } from '../../shard-contract.ts'
import {
  type FoundShard,
  type NewShard,
  ShardDamaged,
  type ShardId,
  ShardMissing,
  type ShardRange,
} from '../../shard-store.ts'
import { alignUp, pageBytes } from '../alignment.ts'
import { batchIdOf } from '../batch-ids.ts'
import { closeQuietly, type StoreContext } from '../context.ts'
import { readFailure, unlessMissing, unlessRemoved } from '../failures.ts'
import { type FileAddress, formatFileId } from '../shard-ids.ts'
import { buildFooter, type FileName, partialSuffix } from './large-file-format.ts'
import { LargeFileReader, readFooterOf } from './large-file-reader.ts'
import { LargeFileWriter } from './large-file-writer.ts'

const completeName = /^[0-9a-f]{32}$/

export class LargeFiles {
  readonly #context: StoreContext
  readonly #chunks: ChunkPool
  readonly #reader: LargeFileReader
  readonly #open: SharedBatch

  /** `smallChunks`: each has room for the blocks of a small range, wherever the range begins. */
  constructor(context: StoreContext, batches: Batches, smallChunks: ChunkPool) {
    this.#context = context
    this.#chunks = new ChunkPool(context.sizes.readChunkBytes)
    this.#reader = new LargeFileReader(context, this.#chunks, smallChunks)
    const { fs, layout, directories, clock, sizes } = context
    this.#open = new SharedBatch({
      batches,
      clock,
      shardsMax: sizes.batchFilesMax,
      batchIdOf: (id) => batchIdOf('files', id),
      prepare: async (id) => {
        await fs.mkdir(layout.batch(id))
        await directories.sync(layout.files)
      },
    })
  }

  async put(shard: NewShard): Promise<ShardId> {
    await this.#context.freeSpace.requireRoom(shard.payload.size)
    const { batch, release } = await this.#open.reserve()
    try {
      return await this.#write({ batch, file: timeOrderedId(this.#context.clock) }, shard)
    } finally {
      await release()
    }
  }

  get(id: ShardId, address: FileAddress, range: ShardRange): Promise<ByteSource> {
    return this.#reader.get(id, address, range)
  }

  /** Reads the file as it is now, not one that stayed open. */
  async description(id: ShardId, address: FileAddress): Promise<Buffer> {
    const { fs, layout, sizes } = this.#context
    const file = await unlessRemoved(fs.open(layout.file(address.batch, address.file), 'read'))
    if (file === undefined) throw new ShardMissing(id)
    try {
      return (await readFooterOf(id, file, address, sizes.checksumBlockBytes)).description
    } catch (error) {
      throw readFailure(id, error)
    } finally {
      await closeQuietly(file)
    }
  }

  async *list(batch: string): AsyncGenerator<FoundShard> {
    for (const file of await this.#names(batch)) {
      if (!completeName.test(file)) continue
      const found = await this.#describe({ batch, file })
      if (found !== undefined) yield found
    }
  }

  async batches(): Promise<string[]> {
    return (await this.#context.fs.list(this.#context.layout.files)).sort()
  }

  /** Closes a file that was removed. */
  forget(id: ShardId): void {
    this.#reader.forget(id)
  }

  endIdle(beforeMs: number): Promise<void> {
    return this.#open.endIdle(beforeMs)
  }

  /** Closes files that nobody read for a while. */
  sweep(): void {
    this.#reader.sweep()
  }

  async close(): Promise<void> {
    this.#reader.close()
    await this.#open.close()
  }

  async #write(name: FileName, { payload, describe }: NewShard): Promise<ShardId> {
    const { fs, layout, directories, freeSpace, clock, sizes } = this.#context
    const complete = layout.file(name.batch, name.file)
    const incomplete = complete + partialSuffix
    const file = await fs.open(incomplete, 'create')
    const writer = new LargeFileWriter(file, this.#chunks, payload.size, sizes.checksumBlockBytes)
    try {
      await payload.drain((chunk) => {
        const busy = writer.write(chunk)
        freeSpace.wrote(chunk.length)
        return busy?.then(() => freeSpace.requireRoom(0))
      })
      let fileBytes = 0
      await writer.finish((written) => {
        const footer = buildFooter(name, {
          ...written,
          writtenMs: clock.now(),
          description: checkedDescription(describe()),
        })
        fileBytes = alignUp(written.payloadBytes, pageBytes) + footer.length
        return footer
      })
      await fs.rename(incomplete, complete)
      await directories.sync(layout.batch(name.batch))
      return formatFileId(name.batch, name.file, fileBytes)
    } catch (error) {
      await writer.abort()
      for (const path of [incomplete, complete]) await fs.unlink(path).catch(() => {})
      throw error
    }
  }

  async #describe({ batch, file }: FileName): Promise<FoundShard | undefined> {
    const { fs, layout, sizes } = this.#context
    const opened = await unlessRemoved(fs.open(layout.file(batch, file), 'read'))
    if (opened === undefined) return undefined
    try {
      const bytes = await opened.size()
      const id = formatFileId(batch, file, bytes)
      const address = { kind: 'file', batch, file, bytes } as const
      const { description, payloadBytes } = await readFooterOf(id, opened, address, sizes.checksumBlockBytes)
      return { id, description, payloadBytes }
    } catch (error) {
      if (!(error instanceof ShardDamaged)) throw error
      this.#context.warn(error.message)
      return undefined
    } finally {
      await closeQuietly(opened)
    }
  }

  async #names(batch: string): Promise<string[]> {
    const { fs, layout } = this.#context
    return ((await unlessMissing(fs.list(layout.batch(batch)))) ?? []).sort()
  }
}
