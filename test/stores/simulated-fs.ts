/**
 * A deterministic file system in memory that loses what was not synced: a crash keeps synced data and entries, and of the rest a
 * random part, torn at sectors. Faults can be put behind every call. Everything random comes from one seeded source.
 */
import { basename, dirname } from 'node:path'
import type { FileHandle, Fs, OpenMode } from '../../src/stores/fs.ts'

const sectorBytes = 512

type Change = { kind: 'write'; position: number; bytes: Buffer } | { kind: 'truncate'; size: number }

class SimulatedFile {
  current: Buffer
  durable: Buffer
  unsynced: Change[] = []
  modifiedMs = 0

  constructor(content: Buffer = Buffer.alloc(0)) {
    this.current = content
    this.durable = Buffer.from(content)
  }
}

/** Entries that one operation sets or (with `undefined`) removes, all or none of them. */
type EntryChange = [name: string, node: SimulatedNode | undefined][]

class SimulatedDirectory {
  current = new Map<string, SimulatedNode>()
  durable = new Map<string, SimulatedNode>()
  unsynced: EntryChange[] = []
}

type SimulatedNode = SimulatedFile | SimulatedDirectory

export interface FsCall {
  /** Counts the calls from 0. */
  index: number
  name:
    | 'open'
    | 'read'
    | 'write'
    | 'datasync'
    | 'truncate'
    | 'close'
    | 'mkdir'
    | 'syncDirectory'
    | 'list'
    | 'stat'
    | 'rename'
    | 'link'
    | 'unlink'
    | 'rmdir'
  path: string
}

export interface SimulatedFsOptions {
  /** In [0, 1). */
  random: () => number
  /** The error code with which a call fails. */
  fault?: (call: FsCall) => string | undefined
  /** A planted bug: such a sync says that it worked and does nothing. */
  broken?: ((call: Pick<FsCall, 'name' | 'path'> & { bytes?: number }) => boolean) | undefined
}

export class SimulatedFs implements Fs {
  free = 2 ** 40
  calls: FsCall[] = []
  openHandles = 0
  /** At the call with this index the machine stops: neither it nor any later call ever answers. */
  crashAt = Number.POSITIVE_INFINITY
  fault: SimulatedFsOptions['fault']
  readonly crashed: Promise<void>
  readonly #random: () => number
  readonly #broken: SimulatedFsOptions['broken']
  readonly #root: SimulatedDirectory
  #signalCrash: () => void = () => {}
  #stopped = false

  constructor({ random, fault, broken }: SimulatedFsOptions, root = new SimulatedDirectory()) {
    this.#random = random
    this.fault = fault
    this.#broken = broken
    this.#root = root
    this.crashed = new Promise((resolve) => {
      this.#signalCrash = resolve
    })
  }

  /** What a machine finds that starts after this one lost its power now. */
  afterCrash(options: SimulatedFsOptions): SimulatedFs {
    const kept = new Map<SimulatedNode, SimulatedNode>()
    const keep = (node: SimulatedNode): SimulatedNode => {
      const known = kept.get(node)
      if (known !== undefined) return known
      const made =
        node instanceof SimulatedFile ? new SimulatedFile(this.#fileAfterCrash(node)) : new SimulatedDirectory()
      kept.set(node, made)
      if (node instanceof SimulatedDirectory && made instanceof SimulatedDirectory) {
        for (const [name, entry] of this.#entriesAfterCrash(node)) made.durable.set(name, keep(entry))
        made.current = new Map(made.durable)
      }
      return made
    }
    const root = keep(this.#root)
    if (!(root instanceof SimulatedDirectory)) throw new Error('the root is a directory')
    return new SimulatedFs(options, root)
  }

  async open(path: string, mode: OpenMode): Promise<FileHandle> {
    return this.#call('open', path, () => {
      const { directory, name } = this.#parent(path)
      const found = directory.current.get(name)
      if (mode === 'read' || mode === 'write') {
        if (found === undefined) throw failure('ENOENT', path)
        if (!(found instanceof SimulatedFile)) throw failure('EISDIR', path)
        return this.#handle(path, found)
      }
      if (found !== undefined) throw failure('EEXIST', path)
      const file = new SimulatedFile()
      change(directory, [[name, file]])
      return this.#handle(path, file, mode === 'create-synced')
    })
  }

  async mkdir(path: string): Promise<void> {
    return this.#call('mkdir', path, () => {
      const { directory, name } = this.#parent(path)
      if (name === '' || directory.current.has(name)) throw failure('EEXIST', path)
      change(directory, [[name, new SimulatedDirectory()]])
    })
  }

  async syncDirectory(path: string): Promise<void> {
    const covered = this.#stopped ? [] : [...this.#directory(path).unsynced]
    return this.#call(
      'syncDirectory',
      path,
      () => {
        if (!this.#broken?.({ name: 'syncDirectory', path })) this.#settleEntries(this.#directory(path), covered, 1)
      },
      () => this.#settleEntries(this.#directory(path), covered, 0.5),
    )
  }

  async list(path: string): Promise<string[]> {
    return this.#call('list', path, () => [...this.#directory(path).current.keys()])
  }

  async stat(path: string): Promise<{ size: number; mtimeMs: number; isDirectory: boolean }> {
    return this.#call('stat', path, () => {
      const node = this.#node(path)
      if (node instanceof SimulatedDirectory) return { size: 0, mtimeMs: 0, isDirectory: true }
      return { size: node.current.length, mtimeMs: node.modifiedMs, isDirectory: false }
    })
  }

  /** So that each look is a call that may fail. */
  async isLocal(): Promise<boolean> {
    return false
  }

  requireThereNow(): never {
    throw new Error('nothing here is local')
  }

  async rename(from: string, to: string): Promise<void> {
    return this.#call('rename', from, () => {
      if (dirname(from) !== dirname(to)) throw failure('EXDEV', from)
      const node = this.#node(from)
      change(this.#parent(from).directory, [
        [basename(from), undefined],
        [basename(to), node],
      ])
    })
  }

  async link(from: string, to: string): Promise<void> {
    return this.#call('link', to, () => {
      const node = this.#node(from)
      const { directory, name } = this.#parent(to)
      if (directory.current.has(name)) throw failure('EEXIST', to)
      change(directory, [[name, node]])
    })
  }

  async unlink(path: string): Promise<void> {
    return this.#call('unlink', path, () => {
      if (!(this.#node(path) instanceof SimulatedFile)) throw failure('EISDIR', path)
      change(this.#parent(path).directory, [[basename(path), undefined]])
    })
  }

  async rmdir(path: string): Promise<void> {
    return this.#call('rmdir', path, () => {
      if (this.#directory(path).current.size > 0) throw failure('ENOTEMPTY', path)
      change(this.#parent(path).directory, [[basename(path), undefined]])
    })
  }

  async freeBytes(): Promise<number> {
    return this.free
  }

  async requireWritable(): Promise<void> {}

  /** The bytes of a file as they are now, to be changed by tests that play the rotting disk. */
  content(path: string): Buffer {
    const node = this.#node(path)
    if (node instanceof SimulatedDirectory) throw failure('EISDIR', path)
    return node.current
  }

  replace(path: string, bytes: Buffer): void {
    const { directory, name } = this.#parent(path)
    directory.current.set(name, new SimulatedFile(bytes))
  }

  /** Paths of all files, sorted. */
  files(path = '/'): string[] {
    const node = this.#node(path)
    if (node instanceof SimulatedFile) return [path]
    return [...node.current.keys()].flatMap((name) => this.files(path === '/' ? `/${name}` : `${path}/${name}`)).sort()
  }

  #handle(path: string, file: SimulatedFile, syncsWrites = false): FileHandle {
    let closed = false
    // What bits that rot leave as it is, and most writes do not.
    const atOpen = file.current
    this.openHandles++
    const use = <T>(name: FsCall['name'], work: () => T, onFault?: () => void): Promise<T> => {
      if (closed) return Promise.reject(failure('EBADF', path))
      return this.#call(name, path, work, onFault)
    }
    const write = (bytes: Buffer, position: number): void => {
      file.unsynced.push({ kind: 'write', position, bytes })
      file.current = written(file.current, bytes, position)
    }
    return {
      read: (buffer, position) =>
        use('read', () => file.current.copy(buffer, 0, Math.min(position, file.current.length))),
      write: (buffers, position) => {
        const bytes = Buffer.concat(buffers)
        const written = (count: number, synced: number): void => {
          write(bytes.subarray(0, count), position)
          const syncs = syncsWrites && !this.#broken?.({ name: 'write', path, bytes: bytes.length })
          if (syncs) this.#settleChanges(file, file.unsynced.slice(-1), synced)
        }
        return use(
          'write',
          () => written(bytes.length, 1),
          () => written(Math.floor(this.#random() * bytes.length), 0.5),
        )
      },
      datasync: () => {
        const covered = [...file.unsynced]
        return use(
          'datasync',
          () => {
            if (!this.#broken?.({ name: 'datasync', path })) this.#settleChanges(file, covered, 1)
          },
          () => this.#settleChanges(file, covered, 0.5),
        )
      },
      size: async () => file.current.length,
      isUnchanged: async () => file.current === atOpen && this.#finds(path, file),
      truncate: (size) =>
        use('truncate', () => {
          file.unsynced.push({ kind: 'truncate', size })
          file.current = resized(file.current, size)
        }),
      close: () =>
        use('close', () => {
          closed = true
          this.openHandles--
        }),
    }
  }

  /** One call of the system: it takes some turns, may fail, and may be the one at which the machine stops, done or not. */
  async #call<T>(name: FsCall['name'], path: string, work: () => T, onFault?: () => void): Promise<T> {
    if (this.#stopped) return new Promise<T>(() => {})
    const call = { index: this.calls.length, name, path }
    this.calls.push(call)
    for (let turns = Math.floor(this.#random() * 4); turns >= 0; turns--) await Promise.resolve()
    if (call.index === this.crashAt) {
      if (this.#random() < 0.5) attempt(work)
      this.#stopped = true
      this.#signalCrash()
    }
    if (this.#stopped) return new Promise<T>(() => {})
    const code = this.fault?.(call)
    if (code === undefined) return work()
    onFault?.()
    // The descriptor is gone even when closing it reports an error.
    if (name === 'close') work()
    throw failure(code, path)
  }

  /** Makes each of the changes durable with this probability; the others will never be, as after a failed sync. */
  #settleChanges(file: SimulatedFile, covered: readonly Change[], probability: number): void {
    for (const one of covered) if (this.#random() < probability) file.durable = applied(file.durable, one)
    file.unsynced = file.unsynced.filter((one) => !covered.includes(one))
  }

  #settleEntries(directory: SimulatedDirectory, covered: readonly EntryChange[], probability: number): void {
    for (const one of covered) if (this.#random() < probability) applyEntries(directory.durable, one)
    directory.unsynced = directory.unsynced.filter((one) => !covered.includes(one))
  }

  #fileAfterCrash(file: SimulatedFile): Buffer {
    let content: Buffer = Buffer.from(file.durable)
    for (const one of file.unsynced.flatMap(sectors)) if (this.#random() < 0.5) content = applied(content, one)
    return content
  }

  #entriesAfterCrash(directory: SimulatedDirectory): Map<string, SimulatedNode> {
    const entries = new Map(directory.durable)
    for (const one of directory.unsynced) if (this.#random() < 0.5) applyEntries(entries, one)
    return entries
  }

  #parent(path: string): { directory: SimulatedDirectory; name: string } {
    return { directory: this.#directory(dirname(path)), name: basename(path) }
  }

  #directory(path: string): SimulatedDirectory {
    const node = this.#node(path)
    if (node instanceof SimulatedDirectory) return node
    throw failure('ENOTDIR', path)
  }

  #finds(path: string, file: SimulatedFile): boolean {
    try {
      return this.#node(path) === file
    } catch {
      return false
    }
  }

  #node(path: string): SimulatedNode {
    let node: SimulatedNode = this.#root
    const above: SimulatedNode[] = []
    for (const name of path.split('/').filter((part) => part !== '')) {
      if (node instanceof SimulatedFile) throw failure('ENOTDIR', path)
      const next: SimulatedNode | undefined = name === '..' ? above.pop() : node.current.get(name)
      if (next === undefined) throw failure('ENOENT', path)
      if (name !== '..') above.push(node)
      node = next
    }
    return node
  }
}

function failure(code: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${path}`), { code })
}

function attempt(work: () => unknown): void {
  try {
    work()
  } catch {
    // What a call would have answered does not matter to a machine that has stopped.
  }
}

function change(directory: SimulatedDirectory, entries: EntryChange): void {
  directory.unsynced.push(entries)
  applyEntries(directory.current, entries)
}

function applyEntries(entries: Map<string, SimulatedNode>, changed: EntryChange): void {
  for (const [name, node] of changed) {
    if (node === undefined) entries.delete(name)
    else entries.set(name, node)
  }
}

function sectors(one: Change): Change[] {
  if (one.kind === 'truncate') return [one]
  const torn: Change[] = []
  for (let at = 0; at < one.bytes.length; ) {
    const end = Math.min(one.bytes.length, at + sectorBytes - ((one.position + at) % sectorBytes))
    torn.push({ kind: 'write', position: one.position + at, bytes: one.bytes.subarray(at, end) })
    at = end
  }
  return torn
}

function applied(content: Buffer, one: Change): Buffer {
  return one.kind === 'truncate' ? resized(content, one.size) : written(content, one.bytes, one.position)
}

function written(content: Buffer, bytes: Buffer, position: number): Buffer {
  const grown = content.length < position + bytes.length ? resized(content, position + bytes.length) : content
  bytes.copy(grown, position)
  return grown
}

function resized(content: Buffer, size: number): Buffer {
  const made = Buffer.alloc(size)
  content.copy(made)
  return made
}
