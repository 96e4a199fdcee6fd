/** Large shards, each in a file of its own: `files/<batch>/<file>`, with the suffix `.part` until it is complete. */
import type { ByteSource } from '../../byte-source.ts'
import { ChunkPool } from '../../chunk-pool.ts'
import { checkedDescription } from '../shard-contract.ts'
import {
  type FoundShard,
  type NewShard,
  ShardDamaged,
  type ShardId,
  ShardMissing,
  type ShardRange,
} from '../shard-store.ts'
import { alignUp, pageBytes } from './alignment.ts'
import type { Batches } from './batches.ts'
import { closeQuietly, type StoreContext } from './context.ts'
import { codeOf, unlessMissing } from './failures.ts'
import { FileBatches } from './file-batches.ts'
import { buildFooter, type FileName } from './large-file-format.ts'
import { LargeFileReader, readFooterOf } from './large-file-reader.ts'
import { LargeFileWriter } from './large-file-writer.ts'
import { type FileAddress, formatFileId } from './shard-ids.ts'

const partial = '.part'
const completeName = /^[0-9a-f]{32}$/
const unlinksAtOnce = 32

export class LargeFiles {
  readonly #context: StoreContext
  readonly #chunks: ChunkPool
  readonly #reader: LargeFileReader
  readonly #open: FileBatches

  /** `smallChunks`: each has room for the blocks of a small range, wherever the range begins. */
  constructor(context: StoreContext, batches: Batches, smallChunks: ChunkPool) {
    this.#context = context
    this.#chunks = new ChunkPool(context.sizes.readChunkBytes)
    this.#reader = new LargeFileReader(context, this.#chunks, smallChunks)
    this.#open = new FileBatches(context, batches)
  }

  async put(shard: NewShard): Promise<ShardId> {
    await this.#context.freeSpace.requireRoom(shard.payload.size)
    const { name, release } = await this.#open.reserve()
    try {
      return await this.#write(name, shard)
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
    const file = await unlessMissing(fs.open(layout.file(address.batch, address.file), 'read'))
    if (file === undefined) throw new ShardMissing(id)
    try {
      return (await readFooterOf(id, file, address, sizes.checksumBlockBytes)).description
    } finally {
      await closeQuietly(file)
    }
  }

  /** Syncs every directory, even if the file was already gone, because an earlier removal may not be durable. */
  async delete(addresses: readonly FileAddress[]): Promise<void> {
    const { fs, layout, directories } = this.#context
    for (let at = 0; at < addresses.length; at += unlinksAtOnce) {
      const some = addresses.slice(at, at + unlinksAtOnce)
      await Promise.all(some.map(({ batch, file }) => unlessMissing(fs.unlink(layout.file(batch, file)))))
      for (const { batch, file, bytes } of some) this.#reader.forget(formatFileId(batch, file, bytes))
    }
    const batches = new Set(addresses.map(({ batch }) => batch))
    await Promise.all([...batches].map((batch) => unlessMissing(directories.sync(layout.batch(batch)))))
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

  /**
   * Removes what unfinished writers left in a closed batch, and makes their own removals durable, because the batch is never searched again.
   * Names distinguish unfinished files from finished ones, so a damaged file never looks unfinished.
   */
  async settle(batch: string): Promise<void> {
    const { fs, layout, directories } = this.#context
    const left = (await this.#names(batch)).filter((name) => name.endsWith(partial))
    for (const name of left) await unlessMissing(fs.unlink(layout.file(batch, name)))
    await unlessMissing(directories.sync(layout.batch(batch)))
  }

  /** Removes the directory of a closed batch if it is empty. */
  async removeEmpty(batch: string): Promise<boolean> {
    try {
      await this.#context.fs.rmdir(this.#context.layout.batch(batch))
      return true
    } catch (error) {
      const code = codeOf(error)
      if (code === 'ENOTEMPTY' || code === 'EEXIST' || code === 'ENOENT') return false
      throw error
    }
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
    const incomplete = complete + partial
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
    const opened = await unlessMissing(fs.open(layout.file(batch, file), 'read'))
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
