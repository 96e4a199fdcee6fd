/**
 * Reserves room for deletes on a completely full disk: a file of zeros that is removed when a tombstone finds no room. A deleted record frees space only after it was
 * marked, and the mark needs room itself.
 */
import { limits } from '../../limits.ts'
import type { Fs } from '../fs.ts'
import { isMissing, unlessMissing } from './failures.ts'
import type { Layout } from './layout.ts'

export class DeleteRoom {
  readonly #fs: Fs
  readonly #path: string
  readonly #root: string
  readonly #bytes: number
  #isKept = false

  constructor(fs: Fs, layout: Layout, bytes: number) {
    this.#fs = fs
    this.#path = layout.deleteRoom
    this.#root = layout.root
    this.#bytes = bytes
  }

  /** Makes the file where there is enough room. Never rejects: the store works without it. */
  async keep(): Promise<void> {
    if (this.#isKept) return
    this.#isKept = true
    try {
      const found = await unlessMissing(this.#fs.stat(this.#path))
      if (found?.size === this.#bytes) return
      if ((await this.#fs.freeBytes(this.#root)) < limits.storeReserveBytes + this.#bytes) throw new Error('no room')
      if (found !== undefined) await this.#fs.unlink(this.#path)
      await this.#make()
    } catch {
      this.#isKept = false
    }
  }

  /** Removes the file. Resolves with whether there was one. */
  async giveUp(): Promise<boolean> {
    this.#isKept = false
    try {
      await this.#fs.unlink(this.#path)
      return true
    } catch (error) {
      if (isMissing(error)) return false
      throw error
    }
  }

  /** A file that a crash left incomplete is made again. */
  async #make(): Promise<void> {
    const file = await this.#fs.open(this.#path, 'create')
    try {
      await file.write([Buffer.alloc(this.#bytes)], 0)
      await file.datasync()
    } finally {
      await file.close()
    }
    await this.#fs.syncDirectory(this.#root)
  }
}
