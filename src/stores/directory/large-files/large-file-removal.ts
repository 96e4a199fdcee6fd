/** Removes large shards, and what their writers have left. */
import type { ShardId } from '../../shard-store.ts'
import type { StoreContext } from '../context.ts'
import { codeOf, unlessMissing, unlessRemoved } from '../failures.ts'
import { type FileAddress, formatFileId } from '../shard-ids.ts'
import { partialSuffix } from './large-file-format.ts'

const unlinksAtOnce = 32

export class LargeFileRemoval {
  readonly #context: StoreContext
  readonly #forget: (id: ShardId) => void

  /** `forget`: called for each file that is removed, so that readers close it. */
  constructor(context: StoreContext, forget: (id: ShardId) => void) {
    this.#context = context
    this.#forget = forget
  }

  /** Syncs every directory, even if the file was already gone, because an earlier removal may not be durable. */
  async delete(addresses: readonly FileAddress[]): Promise<void> {
    const { fs, layout, directories } = this.#context
    for (let at = 0; at < addresses.length; at += unlinksAtOnce) {
      const some = addresses.slice(at, at + unlinksAtOnce)
      await Promise.all(some.map(({ batch, file }) => unlessMissing(fs.unlink(layout.file(batch, file)))))
      for (const { batch, file, bytes } of some) this.#forget(formatFileId(batch, file, bytes))
    }
    const batches = new Set(addresses.map(({ batch }) => batch))
    await Promise.all([...batches].map((batch) => unlessRemoved(directories.sync(layout.batch(batch)))))
  }

  /**
   * Removes what unfinished writers left in a closed batch, and makes their own removals durable, because the batch is never searched again.
   * Names distinguish unfinished files from finished ones, so a damaged file never looks unfinished.
   */
  async settle(batch: string): Promise<void> {
    const { fs, layout, directories } = this.#context
    const names = (await unlessMissing(fs.list(layout.batch(batch)))) ?? []
    const left = names.filter((name) => name.endsWith(partialSuffix)).sort()
    for (const name of left) await unlessMissing(fs.unlink(layout.file(batch, name)))
    await unlessRemoved(directories.sync(layout.batch(batch)))
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
}
