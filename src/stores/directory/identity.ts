/** The identity of a store's directory. A directory that is missing, empty or another store's (as after a failed mount) is refused: writing to it would hide the loss. */
import { dirname, resolve } from 'node:path'
import { type Clock, randomId, systemClock } from '../../clock.ts'
import type { Fs } from '../fs.ts'
import { nodeFs } from '../node-fs.ts'
import { type Claimant, StoreRefused } from '../store-claim.ts'
import { type FoundIdentity, type IdentityStorage, parseIdentity } from '../store-identity.ts'
import { codeOf, unlessMissing, writeFailure } from './failures.ts'
import { dropFences } from './fence.ts'
import { identityName, Layout, rootDirectories } from './layout.ts'
import { isOwnerName, readOwner, readText, writeExclusively, writeOwner } from './owner-file.ts'

const format = 1

/** Names that an unfinished creation or a fresh file system leaves in a directory without a store. */
const unfinishedIdentity = /^holdfast-store\.json\.[0-9a-f]{32}$/
const foreignButHarmless = 'lost+found'

interface IdentityContext {
  fs: Fs
  layout: Layout
  clock: Clock
}

interface DirectoryIdentity extends FoundIdentity {
  /** The number of the owner file. 0: there is none. */
  number: number
}

export function directoryIdentity(context: IdentityContext): IdentityStorage<DirectoryIdentity> {
  const { fs, layout } = context
  return {
    name: layout.root,
    find: async () => {
      const path = identityPath(layout)
      const text = await readText(fs, path)
      if (text === undefined) return undefined
      const { storeId } = parseIdentity(text, path, [format])
      await requireDirectories(fs, layout)
      return { storeId, ...(await readOwner(fs, layout)) }
    },
    missing: () =>
      new Error(`${layout.root} holds no ${identityName}: not a Holdfast store, or its disk is not mounted`),
    create: (claimant) => createStore(context, claimant),
    claim: async (found, owner, anew) => {
      try {
        if (anew) await dropFences(fs, layout)
        return await writeOwner(context, found, owner)
      } catch (error) {
        throw writeFailure(error)
      }
    },
    isEmpty: () => areEmpty(fs, layout),
  }
}

/** The id of the store in a directory, without opening it. `undefined`: there is none. */
export async function storeIdAt(path: string): Promise<string | undefined> {
  const context = { fs: nodeFs, layout: new Layout(resolve(path)), clock: systemClock }
  return (await directoryIdentity(context).find())?.storeId
}

async function requireDirectories(fs: Fs, layout: Layout): Promise<void> {
  const names = await fs.list(layout.root)
  const missing = rootDirectories.filter((name) => !names.includes(name))
  if (missing.length > 0) throw new Error(`${layout.root} is damaged: it lacks ${missing.join(', ')}`)
}

/**
 * Writes the identity last, so that after a crash the next start creates the store again. Writes the owner first, so that no other server takes a store
 * that is still being created.
 */
async function createStore(context: IdentityContext, claimant: Claimant | undefined): Promise<void> {
  const { fs, layout, clock } = context
  await requireVacant(fs, layout)
  await makeDirectory(fs, layout.root)
  const found = await readOwner(fs, layout)
  if (found.owner !== undefined && found.owner.metadataId !== claimant?.metadataId) {
    throw new StoreRefused(`${layout.root} is where ${found.owner.server} makes a store. Name another place`)
  }
  if (found.owner === undefined && claimant?.claims !== undefined) {
    if (!(await writeOwner(context, found, claimant.claims))) return
  }
  for (const name of rootDirectories) await makeDirectory(fs, layout[name])
  const identity = { format, storeId: randomId(clock), createdAt: new Date(clock.now()).toISOString() }
  await writeExclusively(context, identityPath(layout), identity)
  await fs.syncDirectory(layout.root)
}

async function requireVacant(fs: Fs, layout: Layout): Promise<void> {
  for (const name of (await unlessMissing(fs.list(layout.root))) ?? []) {
    // Another process that makes the same store may have removed it.
    if (unfinishedIdentity.test(name)) await unlessMissing(fs.unlink(`${layout.root}/${name}`))
    else if (!isOurs(name) && !(await isEmptyRootDirectory(fs, layout, name))) {
      throw new Error(
        `${layout.root} is not empty (${name}) and holds no ${identityName}: no store is made over other data`,
      )
    }
  }
}

/** Whether a directory without a store can contain this name, for instance because another process is creating a store there. */
function isOurs(name: string): boolean {
  return name === foreignButHarmless || name === identityName || isOwnerName(name)
}

async function areEmpty(fs: Fs, layout: Layout): Promise<boolean> {
  for (const name of rootDirectories) if (!(await isEmptyRootDirectory(fs, layout, name))) return false
  return true
}

async function isEmptyRootDirectory(fs: Fs, layout: Layout, name: string): Promise<boolean> {
  const directory = rootDirectories.find((known) => known === name)
  return directory !== undefined && (await fs.list(layout[directory])).length === 0
}

/** Creates a directory and its missing ancestors, each durable in its parent. `isRepeated`: the parent was created just now. */
async function makeDirectory(fs: Fs, path: string, isRepeated = false): Promise<void> {
  const parent = dirname(resolve(path))
  try {
    await fs.mkdir(path)
  } catch (error) {
    // An existing parent that takes no entries can also answer ENOENT, as /proc does.
    if (codeOf(error) === 'ENOENT' && parent !== resolve(path) && !isRepeated) {
      await makeDirectory(fs, parent)
      return makeDirectory(fs, path, true)
    }
    if (codeOf(error) !== 'EEXIST') throw error
  }
  await fs.syncDirectory(parent)
}

function identityPath(layout: Layout): string {
  return `${layout.root}/${identityName}`
}
