/** What the durability of metadata rests on: how LMDB is opened, and that the names of its files are synced. That commits reach the disk, `test/trust/durable-answers` shows. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { openLmdb } from '../../src/kv/lmdb.ts'

const opened = vi.hoisted((): object[] => [])
/** Directories, in the order of their syncs. */
const synced = vi.hoisted((): string[] => [])

vi.mock('lmdb', async (original) => {
  const lmdb = await original<typeof import('lmdb')>()
  const open = ((settings: object) => {
    opened.push(settings)
    return lmdb.open(settings as Parameters<typeof lmdb.open>[0])
  }) as typeof lmdb.open
  return { ...lmdb, open }
})

vi.mock('node:fs/promises', async (original) => {
  const fs = await original<typeof import('node:fs/promises')>()
  const open = (async (path: string, flags: string) => {
    const handle = await fs.open(path, flags)
    const sync = handle.sync.bind(handle)
    const isDirectory = (await handle.stat()).isDirectory()
    handle.sync = () => {
      if (isDirectory) synced.push(path)
      return sync()
    }
    return handle
  }) as typeof fs.open
  return { ...fs, open }
})

let root: string
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'holdfast-durable-'))
  opened.length = 0
  synced.length = 0
})
afterEach(() => rm(root, { recursive: true }))

async function openAndClose(path: string): Promise<void> {
  const fail = (error: Error): never => {
    throw error
  }
  await (await openLmdb({ path, onFatal: fail })).close()
}

test('nothing that LMDB is told lets a commit resolve before it is on stable storage', async () => {
  await openAndClose(join(root, 'meta'))
  expect(opened).toHaveLength(1)
  const settings = { ...opened[0] }
  // lmdb-js resolves commits before they are synced, unless told otherwise.
  expect(settings).toMatchObject({ overlappingSync: false })
  for (const name of ['noSync', 'noMetaSync', 'useWritemap', 'mapAsync', 'safeRestore', 'commitDelay']) {
    expect(settings, name).not.toHaveProperty(name)
  }
})

test('the directory of the environment is synced at each open, and all that were made for it', async () => {
  const path = join(root, 'a', 'b', 'meta')
  await openAndClose(path)
  expect(synced).toEqual([path, join(root, 'a', 'b'), join(root, 'a'), root])
  synced.length = 0
  await openAndClose(path)
  expect(synced).toEqual([path, join(root, 'a', 'b')])
})
