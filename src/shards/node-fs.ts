/** The real file system behind `Fs`: plain descriptors and callbacks, which cost less a call than the promise API's handles. */
import * as fs from 'node:fs'
import * as fsPromises from 'node:fs/promises'
import { BlockingReads } from './blocking-reads.ts'
import { DirectWrites } from './direct-writes.ts'
import type { FileHandle, Fs } from './fs.ts'

const fileMode = 0o600
const directoryMode = 0o700
const openFlags = { read: 'r', create: 'wx+', write: 'r+' } as const

/** Of all files: a disk is slow, not a file. */
const blockingReads = new BlockingReads()

type Done = (error: Error | null) => void

function called(call: (done: Done) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    call((error) => (error === null ? resolve() : reject(error)))
  })
}

function systemError(code: string, message: string): Error {
  return Object.assign(new Error(`${code}: ${message}`), { code })
}

/** What is left of `buffers` after their first `bytes` bytes; empty buffers are dropped. */
function after(buffers: readonly Uint8Array[], bytes: number): Uint8Array[] {
  const rest: Uint8Array[] = []
  let skip = bytes
  for (const buffer of buffers) {
    if (skip < buffer.length) rest.push(skip === 0 ? buffer : buffer.subarray(skip))
    skip = Math.max(0, skip - buffer.length)
  }
  return rest
}

function readNow(descriptor: number, buffer: Uint8Array, position: number): number {
  let done = 0
  while (done < buffer.length) {
    const bytes = fs.readSync(descriptor, buffer, done, buffer.length - done, position + done)
    if (bytes === 0) break
    done += bytes
  }
  return done
}

class NodeFile implements FileHandle {
  #descriptor: number | undefined
  readonly #direct: DirectWrites | undefined

  constructor(descriptor: number, direct: DirectWrites | undefined) {
    this.#descriptor = descriptor
    this.#direct = direct
  }

  /** A descriptor is never used after close: by then the number may belong to another file. */
  get #open(): number {
    if (this.#descriptor === undefined) throw systemError('EBADF', 'the file is closed')
    return this.#descriptor
  }

  async read(buffer: Uint8Array, position: number): Promise<number> {
    if (!blockingReads.allows(buffer.length)) return this.#readByThread(buffer, position)
    const descriptor = this.#open
    return blockingReads.time(() => readNow(descriptor, buffer, position))
  }

  #readByThread(buffer: Uint8Array, position: number): Promise<number> {
    return new Promise((resolve, reject) => {
      const descriptor = this.#open
      const readFrom = (done: number): void => {
        fs.read(descriptor, buffer, done, buffer.length - done, position + done, (error, bytes) => {
          if (error !== null) reject(error)
          else if (bytes === 0 || done + bytes === buffer.length) resolve(done + bytes)
          else readFrom(done + bytes)
        })
      }
      readFrom(0)
    })
  }

  write(buffers: readonly Uint8Array[], position: number): Promise<void> {
    const [only, ...others] = buffers
    if (this.#direct === undefined || this.#descriptor === undefined || only === undefined || others.length > 0) {
      return this.#writeBuffered(buffers, position)
    }
    return this.#writeDirect(this.#direct, only, position)
  }

  async #writeDirect(direct: DirectWrites, bytes: Uint8Array, position: number): Promise<void> {
    const written = await direct.write(bytes, position)
    if (written < bytes.length) await this.#writeBuffered([bytes.subarray(written)], position + written)
  }

  #writeBuffered(buffers: readonly Uint8Array[], position: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const descriptor = this.#open
      const writeRest = (rest: Uint8Array[], at: number): void => {
        fs.writev(descriptor, rest, at, (error, bytes) => {
          const left = error === null ? after(rest, bytes) : []
          if (error !== null) reject(error)
          else if (left.length === 0) resolve()
          else if (bytes === 0) reject(systemError('EIO', 'a write made no progress'))
          else writeRest(left, at + bytes)
        })
      }
      writeRest([...buffers], position)
    })
  }

  async datasync(): Promise<void> {
    const descriptor = this.#open
    await called((done) => fs.fdatasync(descriptor, done))
  }

  async size(): Promise<number> {
    const descriptor = this.#open
    return new Promise((resolve, reject) => {
      fs.fstat(descriptor, (error, stats) => (error === null ? resolve(stats.size) : reject(error)))
    })
  }

  async truncate(size: number): Promise<void> {
    const descriptor = this.#open
    await called((done) => fs.ftruncate(descriptor, size, done))
  }

  async close(): Promise<void> {
    const descriptor = this.#open
    this.#descriptor = undefined
    await this.#direct?.close()
    await called((done) => fs.close(descriptor, done))
  }
}

function openDescriptor(path: string, flags: string): Promise<number> {
  return new Promise((resolve, reject) => {
    fs.open(path, flags, fileMode, (error, descriptor) => (error === null ? resolve(descriptor) : reject(error)))
  })
}

async function syncDirectory(path: string): Promise<void> {
  const descriptor = await openDescriptor(path, 'r')
  try {
    await called((done) => fs.fsync(descriptor, done))
  } finally {
    await called((done) => fs.close(descriptor, done))
  }
}

export const nodeFs: Fs = {
  open: async (path, mode) => {
    const descriptor = await openDescriptor(path, openFlags[mode])
    return new NodeFile(descriptor, mode === 'create' ? new DirectWrites(path) : undefined)
  },
  mkdir: (path) => fsPromises.mkdir(path, { mode: directoryMode }),
  syncDirectory,
  list: (path) => fsPromises.readdir(path),
  stat: (path) =>
    new Promise((resolve, reject) => {
      fs.stat(path, (error, stats) => {
        if (error === null) resolve({ size: stats.size, mtimeMs: stats.mtimeMs, isDirectory: stats.isDirectory() })
        else reject(error)
      })
    }),
  rename: (from, to) => fsPromises.rename(from, to),
  unlink: (path) => fsPromises.unlink(path),
  rmdir: (path) => fsPromises.rmdir(path),
  freeBytes: async (path) => {
    const { bavail, bsize } = await fsPromises.statfs(path)
    return bavail * bsize
  },
}
