/** Makes directory entries durable. Concurrent calls for one directory share a sync that begins after all of them. */
import type { Fs } from '../fs.ts'
import { isRemoved, isTransient } from './failures.ts'

interface Run {
  current: Promise<void>
  next: Promise<void> | undefined
}

export class DirectorySync {
  readonly #fs: Fs
  readonly #onFatal: (error: Error) => void
  readonly #runs = new Map<string, Run>()
  #failure: Error | undefined

  constructor(fs: Fs, onFatal: (error: Error) => void) {
    this.#fs = fs
    this.#onFatal = onFatal
  }

  /** Throws once a sync has failed: the next one would succeed although entries are lost, so nothing may be promised any more. */
  assertSound(): void {
    if (this.#failure !== undefined) throw this.#failure
  }

  sync(path: string): Promise<void> {
    const run = this.#runs.get(path)
    if (run === undefined) return this.#start(path)
    run.next ??= run.current.catch(() => {}).then(() => this.#start(path))
    return run.next
  }

  #start(path: string): Promise<void> {
    const current = this.#run(path).finally(() => {
      if (run.next === undefined) this.#runs.delete(path)
    })
    const run: Run = { current, next: undefined }
    this.#runs.set(path, run)
    return current
  }

  async #run(path: string): Promise<void> {
    this.assertSound()
    try {
      await this.#fs.syncDirectory(path)
    } catch (error) {
      if (!isRemoved(error) && !isTransient(error)) this.#fail(path, error)
      throw error
    }
  }

  #fail(path: string, cause: unknown): void {
    if (this.#failure !== undefined) return
    this.#failure = new Error(`the directory ${path} could not be synced: what it lists may be lost`, { cause })
    this.#onFatal(this.#failure)
  }
}
