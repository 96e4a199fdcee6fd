/** The identity file of a store's directory. A mount that is missing, empty or another's is refused: to fill it anew would hide the loss. */
import { dirname, resolve } from 'node:path'
import { type Clock, randomId } from '../../clock.ts'
import type { Fs } from '../fs.ts'
import { closeQuietly, type StoreContext } from './context.ts'
import { codeOf, unlessMissing } from './failures.ts'
import { identityName, type Layout, rootDirectories } from './layout.ts'

const format = 1
const storeIdPattern = /^[0-9a-f]{32}$/

/** What an unfinished creation and a fresh file system may leave in a directory that holds no store. */
const unfinishedIdentity = /^holdfast-store\.json\.[0-9a-f]{32}$/
const foreignButHarmless = 'lost+found'

/** The id of the store in the directory. With `create`, makes one where nothing is yet. */
export async function openIdentity(fs: Fs, layout: Layout, clock: Clock, create: boolean): Promise<string> {
  const storeId = await readIdentity(fs, layout)
  if (storeId !== undefined) {
    await requireDirectories(fs, layout)
    return storeId
  }
  if (create) return createStore(fs, layout, clock)
  throw new Error(`${layout.root} holds no ${identityName}: not a Holdfast store, or its disk is not mounted`)
}

/** Throws when what was opened is no longer there: its directory is gone, empty, or another store's. */
export async function requireIdentity({ fs, layout, clock, storeId }: StoreContext): Promise<void> {
  const found = await openIdentity(fs, layout, clock, false)
  if (found !== storeId) throw new Error(`${layout.root} holds another store than before`)
}

async function readIdentity(fs: Fs, layout: Layout): Promise<string | undefined> {
  const file = await unlessMissing(fs.open(identityPath(layout), 'read'))
  if (file === undefined) return undefined
  try {
    const bytes = Buffer.alloc(await file.size())
    await file.read(bytes, 0)
    return parseIdentity(bytes.toString(), identityPath(layout))
  } finally {
    await closeQuietly(file)
  }
}

function parseIdentity(text: string, path: string): string {
  let identity: unknown
  try {
    identity = JSON.parse(text)
  } catch (cause) {
    throw new Error(`${path} is damaged: it is not JSON`, { cause })
  }
  if (typeof identity !== 'object' || identity === null || !('format' in identity) || !('storeId' in identity)) {
    throw new Error(`${path} is damaged: it names no format and no storeId`)
  }
  if (identity.format !== format)
    throw new Error(`${path} has format ${String(identity.format)}; this version knows ${format}`)
  if (typeof identity.storeId === 'string' && storeIdPattern.test(identity.storeId)) return identity.storeId
  throw new Error(`${path} is damaged: its storeId is not one`)
}

async function requireDirectories(fs: Fs, layout: Layout): Promise<void> {
  const names = await fs.list(layout.root)
  const missing = rootDirectories.filter((name) => !names.includes(name))
  if (missing.length > 0) throw new Error(`${layout.root} is damaged: it lacks ${missing.join(', ')}`)
}

/** The identity comes last: a crash on the way leaves a directory in which creation starts again. */
async function createStore(fs: Fs, layout: Layout, clock: Clock): Promise<string> {
  await requireVacant(fs, layout)
  await makeDirectory(fs, layout.root)
  for (const name of rootDirectories) await makeDirectory(fs, layout[name])
  const storeId = randomId(clock)
  const unfinished = `${identityPath(layout)}.${randomId(clock)}`
  const identity = { format, storeId, createdAt: new Date(clock.now()).toISOString() }
  const file = await fs.open(unfinished, 'create')
  try {
    await file.write([Buffer.from(`${JSON.stringify(identity, undefined, 2)}\n`)], 0)
    await file.datasync()
  } finally {
    await file.close()
  }
  await fs.rename(unfinished, identityPath(layout))
  await fs.syncDirectory(layout.root)
  return storeId
}

async function requireVacant(fs: Fs, layout: Layout): Promise<void> {
  for (const name of (await unlessMissing(fs.list(layout.root))) ?? []) {
    if (unfinishedIdentity.test(name)) await fs.unlink(`${layout.root}/${name}`)
    else if (name !== foreignButHarmless && !(await isEmptyRootDirectory(fs, layout, name))) {
      throw new Error(
        `${layout.root} is not empty (${name}) and holds no ${identityName}: no store is made over other data`,
      )
    }
  }
}

async function isEmptyRootDirectory(fs: Fs, layout: Layout, name: string): Promise<boolean> {
  const directory = rootDirectories.find((known) => known === name)
  return directory !== undefined && (await fs.list(layout[directory])).length === 0
}

/** Also every missing ancestor, each durable in its parent. */
async function makeDirectory(fs: Fs, path: string): Promise<void> {
  const parent = dirname(resolve(path))
  try {
    await fs.mkdir(path)
  } catch (error) {
    if (codeOf(error) === 'ENOENT' && parent !== resolve(path)) {
      await makeDirectory(fs, parent)
      return makeDirectory(fs, path)
    }
    if (codeOf(error) !== 'EEXIST') throw error
  }
  await fs.syncDirectory(parent)
}

function identityPath(layout: Layout): string {
  return `${layout.root}/${identityName}`
}
