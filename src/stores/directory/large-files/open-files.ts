/** Keeps files open between readers: a bounded set that drops the least recently used first. */
import type { FileHandle, Fs } from '../../fs.ts'
import { closeQuietly } from '../context.ts'
import { isTransient } from '../failures.ts'

/** What readers learned about the file and need each time. */
export interface Learned {
  /** Bytes of memory, roughly. */
  readonly bytes: number
}

export interface OpenFilesBounds {
  filesMax: number
  /** Bytes of memory for all that was learned. */
  learnedBytesMax: number
}

export interface OpenedFile<L extends Learned> {
  file: FileHandle
  learned: L
}

/** One reader's hold on a file. The file stays readable until `release`, even when it is removed meanwhile. Release exactly once. */
export interface FileLease<L extends Learned> {
  /** Rejects when the file can't be opened or `learn` fails; the next reader then tries again. */
  readonly opened: Promise<OpenedFile<L>>
  /** An earlier reader opened the file, so its path may lead to another file by now. */
  readonly wasOpen: boolean
  release(): void
}

interface Entry<L extends Learned> {
  opened: Promise<OpenedFile<L>>
  readers: number
  /** Used since the last sweep. */
  used: boolean
  learnedBytes: number
}

export class OpenFiles<L extends Learned> {
  readonly #fs: Fs
  readonly #bounds: OpenFilesBounds
  /** Least recently used first. */
  readonly #entries = new Map<string, Entry<L>>()
  #learnedBytes = 0

  constructor(fs: Fs, bounds: OpenFilesBounds) {
    this.#fs = fs
    this.#bounds = bounds
  }

  /** `name` never names another file later. `path` and `learn` are called when the file has to be opened. */
  acquire(name: string, path: () => string, learn: (file: FileHandle) => Promise<L>): FileLease<L> {
    const known = this.#entries.get(name)
    const entry = known ?? this.#begin(name, path, learn)
    entry.readers++
    entry.used = true
    this.#entries.delete(name)
    this.#entries.set(name, entry)
    if (known === undefined) this.#shrink()
    return { opened: entry.opened, wasOpen: known !== undefined, release: () => this.#release(name, entry) }
  }

  /** Closes a removed file, which takes space on disk until then. */
  forget(name: string): void {
    void this.#evict(name)
  }

  /** Closes files that nobody read since the last sweep. */
  sweep(): void {
    for (const [name, entry] of this.#entries) {
      if (!entry.used) this.forget(name)
      entry.used = false
    }
  }

  close(): void {
    for (const name of this.#entries.keys()) this.forget(name)
  }

  #begin(name: string, path: () => string, learn: (file: FileHandle) => Promise<L>): Entry<L> {
    const entry = { opened: this.#openAndLearn(path(), learn), readers: 0, used: true, learnedBytes: 0 }
    entry.opened.then(
      ({ learned }) => {
        if (this.#entries.get(name) !== entry) return
        entry.learnedBytes = learned.bytes
        this.#learnedBytes += learned.bytes
        this.#shrink()
      },
      () => {
        if (this.#entries.get(name) === entry) this.#entries.delete(name)
      },
    )
    return entry
  }

  async #openAndLearn(path: string, learn: (file: FileHandle) => Promise<L>): Promise<OpenedFile<L>> {
    const file = await this.#openFile(path)
    try {
      return { file, learned: await learn(file) }
    } catch (error) {
      await closeQuietly(file)
      throw error
    }
  }

  /** When the process has no descriptor left, closes files without a reader. */
  async #openFile(path: string): Promise<FileHandle> {
    try {
      return await this.#fs.open(path, 'read')
    } catch (error) {
      if (!isTransient(error)) throw error
      await this.#closeUnread()
      return this.#fs.open(path, 'read')
    }
  }

  async #closeUnread(): Promise<void> {
    const unread = [...this.#entries].filter(([, { readers }]) => readers === 0)
    await Promise.all(unread.map(([name]) => this.#evict(name)))
  }

  #shrink(): void {
    const { filesMax, learnedBytesMax } = this.#bounds
    for (const name of this.#entries.keys()) {
      if (this.#entries.size <= filesMax && this.#learnedBytes <= learnedBytesMax) return
      this.forget(name)
    }
  }

  #release(name: string, entry: Entry<L>): void {
    entry.readers--
    if (this.#entries.get(name) !== entry) void closeUnlessRead(entry)
  }

  #evict(name: string): Promise<void> {
    const entry = this.#entries.get(name)
    if (entry === undefined) return Promise.resolve()
    this.#entries.delete(name)
    this.#learnedBytes -= entry.learnedBytes
    return closeUnlessRead(entry)
  }
}

/** Closes a file that is no longer in the set, once its last reader is done. Never rejects. */
async function closeUnlessRead({ readers, opened }: Entry<Learned>): Promise<void> {
  if (readers === 0) await opened.then(({ file }) => closeQuietly(file)).catch(() => {})
}
