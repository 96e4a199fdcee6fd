/**
 * The fencing number of a store's maintainer, as the name of an empty directory: `holdfast-fence.<metadata id>.<number>`. A greater number takes over by a rename of that directory.
 * Whatever a maintainer changes, it changes by a path that leads through the directory of its own number, so a late one finds no way: the file system itself compares the numbers.
 * (On a network mount, a host may trust the names that it has cached for some seconds. The number is a second line there, ADR 0043.)
 */
import type { FileHandle, Fs } from '../fs.ts'
import { requireHeld, tookOver } from '../post.ts'
import type { MaintenancePost } from '../shard-store.ts'
import type { StoreContext } from './context.ts'
import { codeOf, isMissing, unlessMissing } from './failures.ts'
import type { Layout } from './layout.ts'

const fenceName = /^holdfast-fence\.([0-9A-Za-z-]*)\.([0-9]{1,15})$/

interface FoundFence {
  name: string
  metadataId: string
  number: number
}

/**
 * Takes the number of the post durably, if the store knows no greater one; otherwise rejects with `StoreFenced`. Numbers of other metadata don't count: the store is not theirs any more.
 * Resolves with the name of the directory through which changes must go.
 */
export async function takeFence(context: StoreContext, post: MaintenancePost): Promise<string> {
  const { fs, layout, directories } = context
  requireHeld(post)
  const { owner } = await context.identity.require()
  const metadataId = owner?.metadataId ?? ''
  const nameOf = (number: number): string => `holdfast-fence.${metadataId}.${number}`
  for (;;) {
    const found = (await fs.list(layout.root)).flatMap(parseFence)
    const own = found.filter((fence) => fence.metadataId === metadataId).sort((a, b) => a.number - b.number)
    const newest = own.at(-1)
    if (newest === undefined) {
      // Every number follows another, so that a late process can't bring back a directory that was renamed.
      await fs.mkdir(layout.fence(nameOf(0))).catch(ignoreExisting)
      continue
    }
    if (newest.number > post.number) throw tookOver(post, newest.number)
    // Nobody may go on through those that a crash, or several first maintainers, have left.
    for (const { name } of found) if (name !== newest.name) await unlessMissing(fs.rmdir(layout.fence(name)))
    if (newest.number === post.number) {
      await directories.sync(layout.root)
      return newest.name
    }
    await unlessMissing(fs.rename(layout.fence(newest.name), layout.fence(nameOf(post.number))))
  }
}

/** Forgets all numbers, because the store gets another owner, or the same one as of an earlier day. */
export async function dropFences(fs: Fs, layout: Layout): Promise<void> {
  const found = (await fs.list(layout.root)).flatMap(parseFence)
  for (const { name } of found) await unlessMissing(fs.rmdir(layout.fence(name)))
}

/** A file system that looks and reads as `fs` does, and changes things only while `post` is held and the directory `name` is there. */
export function fencedFs({ fs, layout }: StoreContext, post: MaintenancePost, name: string): Fs {
  const { root } = layout
  const through = (path: string): string => `${layout.fence(name)}/..${path.slice(root.length)}`
  const requireFence = async (): Promise<void> => {
    if ((await unlessMissing(fs.stat(layout.fence(name)))) === undefined) throw tookOver(post)
  }
  const change = async <T>(work: () => Promise<T>): Promise<T> => {
    requireHeld(post)
    try {
      return await work()
    } catch (error) {
      if (isMissing(error)) await requireFence()
      throw error
    }
  }
  /** The file is open already, so its path does not protect it. */
  const changeOpen = async <T>(work: () => Promise<T>): Promise<T> => {
    requireHeld(post)
    await requireFence()
    return work()
  }
  const fenced = (file: FileHandle): FileHandle => ({
    read: (buffer, position) => file.read(buffer, position),
    write: (buffers, position) => changeOpen(() => file.write(buffers, position)),
    datasync: () => file.datasync(),
    size: () => file.size(),
    isUnchanged: () => file.isUnchanged(),
    truncate: (size) => changeOpen(() => file.truncate(size)),
    close: () => file.close(),
  })
  return {
    open: async (path, mode) =>
      mode === 'read' ? fs.open(path, mode) : fenced(await change(() => fs.open(through(path), mode))),
    mkdir: (path) => change(() => fs.mkdir(through(path))),
    rename: (from, to) => change(() => fs.rename(through(from), through(to))),
    link: (from, to) => change(() => fs.link(through(from), through(to))),
    unlink: (path) => change(() => fs.unlink(through(path))),
    rmdir: (path) => change(() => fs.rmdir(through(path))),
    syncDirectory: (path) => fs.syncDirectory(path),
    list: (path) => fs.list(path),
    stat: (path) => fs.stat(path),
    isLocal: (path) => fs.isLocal(path),
    requireThereNow: (path) => fs.requireThereNow(path),
    freeBytes: (path) => fs.freeBytes(path),
    requireWritable: (path) => fs.requireWritable(path),
  }
}

function parseFence(name: string): FoundFence[] {
  const [, metadataId, number] = fenceName.exec(name) ?? []
  return metadataId === undefined || number === undefined ? [] : [{ name, metadataId, number: Number(number) }]
}

function ignoreExisting(error: unknown): void {
  if (codeOf(error) !== 'EEXIST') throw error
}
