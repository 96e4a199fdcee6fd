/**
 * The real file system, one call at a time: of the calls that wait, a seeded choice is next, and what follows from it in the process happens before the one after it. So the order in
 * which several processes' calls reach the system is random, known, and can be repeated.
 */
import * as fs from 'node:fs'
import type { FileHandle, Fs } from '../../../src/stores/fs.ts'

export class Turns {
  readonly #random: () => number
  readonly #waiting: (() => void)[] = []
  #isRunning = false

  constructor(random: () => number) {
    this.#random = random
  }

  take<T>(call: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#waiting.push(() => {
        try {
          resolve(call())
        } catch (error) {
          reject(error)
        }
      })
      if (!this.#isRunning) void this.#run()
    })
  }

  /** Resolves after one more call, or when none waits. */
  next(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve))
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    for (;;) {
      await this.next()
      const [next] = this.#waiting.splice(Math.floor(this.#random() * this.#waiting.length), 1)
      if (next === undefined) break
      next()
    }
    this.#isRunning = false
  }
}

/** `changed`: called with the path of each change of names, and each opening of a file to write, that succeeds. */
export function turnFs(turns: Turns, changed: (path: string) => void): Fs {
  const change = (path: string, call: () => void): Promise<void> =>
    turns.take(() => {
      call()
      changed(path)
    })
  const flags = { read: 'r', create: 'wx+', 'create-synced': 'wx+', write: 'r+' } as const
  return {
    open: (path, mode) =>
      turns.take(() => {
        const descriptor = fs.openSync(path, flags[mode])
        if (mode !== 'read') changed(path)
        return handleOf(turns, descriptor)
      }),
    mkdir: (path) => change(path, () => fs.mkdirSync(path)),
    // No power is lost here.
    syncDirectory: (path) => turns.take(() => fs.accessSync(path)),
    list: (path) => turns.take(() => fs.readdirSync(path)),
    stat: (path) =>
      turns.take(() => {
        const stats = fs.statSync(path)
        return { size: stats.size, mtimeMs: stats.mtimeMs, isDirectory: stats.isDirectory() }
      }),
    isLocal: async () => false,
    requireThereNow: (path) => fs.accessSync(path),
    rename: (from, to) => change(from, () => fs.renameSync(from, to)),
    link: (from, to) => change(to, () => fs.linkSync(from, to)),
    unlink: (path) => change(path, () => fs.unlinkSync(path)),
    rmdir: (path) => change(path, () => fs.rmdirSync(path)),
    freeBytes: async () => 2 ** 40,
    requireWritable: async () => {},
  }
}

function handleOf(turns: Turns, descriptor: number): FileHandle {
  return {
    read: (buffer, position) => turns.take(() => fs.readSync(descriptor, buffer, 0, buffer.length, position)),
    write: (buffers, position) => turns.take(() => void fs.writevSync(descriptor, buffers, position)),
    datasync: async () => {},
    size: () => turns.take(() => fs.fstatSync(descriptor).size),
    isUnchanged: async () => false,
    truncate: (size) => turns.take(() => fs.ftruncateSync(descriptor, size)),
    close: () => turns.take(() => fs.closeSync(descriptor)),
  }
}
