/** The real file system behind `Fs`: plain descriptors and callbacks, which cost less per call than the promise API's handles. */
import * as fs from 'node:fs'
import * as fsPromises from 'node:fs/promises'
import { BlockingCalls } from './blocking-calls.ts'
import { DirectWrites } from './direct-writes.ts'
import type { FileHandle, Fs, OpenMode } from './fs.ts'

const fileMode = 0o600
const directoryMode = 0o700
const { O_CREAT, O_DSYNC, O_EXCL, O_RDWR } = fs.constants
/** On other systems the flag is missing, or leaves data in the disk's cache, unlike `fdatasync`. */
const writesCanSync = process.platform === 'linux'
const openFlags = {
  read: 'r',
  create: 'wx+',
  'create-synced': O_RDWR | O_CREAT | O_EXCL | (writesCanSync ? O_DSYNC : 0),
  write: 'r+',
} as const

/** Shared by all files, because slowness is a property of the disk, not of a file. */
const blockingCalls = new BlockingCalls()

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

function bytesOf(buffers: readonly Uint8Array[]): number {
  let bytes = 0
  for (const { length } of buffers) bytes += length
  return bytes
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
  readonly #path: string
  readonly #syncs: boolean
  /** For a file that is only read. */
  readonly #statsAtOpen: fs.Stats | undefined

  /** `syncs`: a datasync follows each write. */
  constructor(descriptor: number, path: string, how: { direct?: DirectWrites; stats?: fs.Stats; syncs?: boolean }) {
    this.#descriptor = descriptor
    this.#path = path
    this.#syncs = how.syncs ?? false
    this.#direct = how.direct
    this.#statsAtOpen = how.stats
  }

  /** A descriptor is never used after close: by then the number may belong to another file. */
  get #open(): number {
    if (this.#descriptor === undefined) throw systemError('EBADF', 'the file is closed')
    return this.#descriptor
  }

  async read(buffer: Uint8Array, position: number): Promise<number> {
    if (!blockingCalls.allows(buffer.length)) return this.#readByThread(buffer, position)
    const descriptor = this.#open
    return blockingCalls.time(() => readNow(descriptor, buffer, position))
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
    if (this.#syncs) return this.#writeBuffered(buffers, position).then(() => this.datasync())
    if (this.#direct === undefined || this.#descriptor === undefined) return this.#writeBuffered(buffers, position)
    return this.#writeDirect(this.#direct, buffers, position)
  }

  async #writeDirect(direct: DirectWrites, buffers: readonly Uint8Array[], position: number): Promise<void> {
    const rest = after(buffers, await direct.write(buffers, position))
    if (rest.length > 0) await this.#writeBuffered(rest, position + bytesOf(buffers) - bytesOf(rest))
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
    return (await statsOf((done) => fs.fstat(descriptor, done))).size
  }

  async isUnchanged(): Promise<boolean> {
    const before = this.#statsAtOpen
    try {
      return before !== undefined && isSame(before, await pathStats(this.#path))
    } catch {
      return false
    }
  }

  async truncate(size: number): Promise<void> {
    const descriptor = this.#open
    await called((done) => fs.ftruncate(descriptor, size, done))
  }

  async close(): Promise<void> {
    const descriptor = this.#open
    this.#descriptor = undefined
    // The file is only read, so a close has no error to report and can block.
    if (this.#statsAtOpen !== undefined && blockingCalls.allows())
      return blockingCalls.time(() => fs.closeSync(descriptor))
    await this.#direct?.close()
    await called((done) => fs.close(descriptor, done))
  }
}

/** A change of content, links or owner shows in `ctimeMs`. */
function isSame(before: fs.Stats, now: fs.Stats | undefined): boolean {
  return now !== undefined && now.ino === before.ino && now.dev === before.dev && now.ctimeMs === before.ctimeMs
}

async function pathStats(path: string): Promise<fs.Stats | undefined> {
  if (blockingCalls.allows()) return blockingCalls.time(() => fs.statSync(path, { throwIfNoEntry: false }))
  return statsOf((done) => fs.stat(path, done))
}

function statsOf(call: (done: (error: Error | null, stats: fs.Stats) => void) => void): Promise<fs.Stats> {
  return new Promise((resolve, reject) => {
    call((error, stats) => (error === null ? resolve(stats) : reject(error)))
  })
}

function openDescriptor(path: string, flags: string | number): Promise<number> {
  return new Promise((resolve, reject) => {
    fs.open(path, flags, fileMode, (error, descriptor) => (error === null ? resolve(descriptor) : reject(error)))
  })
}

async function openToRead(path: string): Promise<FileHandle> {
  if (blockingCalls.allows()) return blockingCalls.time(() => openNow(path))
  const descriptor = await openDescriptor(path, openFlags.read)
  try {
    return new NodeFile(descriptor, path, { stats: await statsOf((done) => fs.fstat(descriptor, done)) })
  } catch (error) {
    fs.closeSync(descriptor)
    throw error
  }
}

function openNow(path: string): FileHandle {
  const descriptor = fs.openSync(path, openFlags.read)
  try {
    return new NodeFile(descriptor, path, { stats: fs.fstatSync(descriptor) })
  } catch (error) {
    fs.closeSync(descriptor)
    throw error
  }
}

async function openToWrite(path: string, mode: Exclude<OpenMode, 'read'>): Promise<FileHandle> {
  const descriptor = await openDescriptor(path, openFlags[mode])
  if (mode === 'create-synced' && !writesCanSync) return new NodeFile(descriptor, path, { syncs: true })
  if (mode === 'create-synced') return new NodeFile(descriptor, path, { direct: new DirectWrites(path, O_DSYNC) })
  return new NodeFile(descriptor, path, { direct: new DirectWrites(path) })
}

async function syncDirectory(path: string): Promise<void> {
  const descriptor = await openDescriptor(path, 'r')
  try {
    await called((done) => fs.fsync(descriptor, done))
  } finally {
    await called((done) => fs.close(descriptor, done))
  }
}

/** The types of ext2 to ext4, XFS, Btrfs, tmpfs, overlayfs, F2FS and ZFS: statfs(2) of Linux, `linux/magic.h`. An unknown type counts as remote. */
const localTypes: ReadonlySet<number> = new Set([
  0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0xf2f52010, 0x2fc12fc1,
])

export const nodeFs: Fs = {
  open: (path, mode) => (mode === 'read' ? openToRead(path) : openToWrite(path, mode)),
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
  isLocal: async (path) => localTypes.has((await fsPromises.statfs(path)).type),
  requireThereNow: (path) => {
    fs.statSync(path)
  },
  rename: (from, to) => fsPromises.rename(from, to),
  link: (from, to) => fsPromises.link(from, to),
  unlink: (path) => fsPromises.unlink(path),
  rmdir: (path) => fsPromises.rmdir(path),
  freeBytes: async (path) => {
    const { bavail, bsize } = await fsPromises.statfs(path)
    return bavail * bsize
  },
  requireWritable: (path) => fsPromises.access(path, fs.constants.W_OK),
}
