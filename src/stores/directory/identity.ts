/** The identity file of a store's directory. A directory that is missing, empty or another store's (as after a failed mount) is refused: writing to it would hide the loss. */
import { dirname, resolve } from 'node:path'
import { type Clock, randomId } from '../../clock.ts'
import { limits } from '../../limits.ts'
import type { Fs } from '../fs.ts'
import { StoreFull, StoreReadOnly } from '../shard-store.ts'
import { judgeStore, type Ownership, type StoreOwner, StoreRefused } from '../store-claim.ts'
import type { StoreContext } from './context.ts'
import { codeOf, unlessMissing, writeFailure } from './failures.ts'
import { identityName, type Layout, rootDirectories } from './layout.ts'
import { type FoundOwner, isOwnerName, readOwner, readText, writeExclusively, writeOwner } from './owner-file.ts'

const format = 1
const storeIdPattern = /^[0-9a-f]{32}$/

/** Names that an unfinished creation or a fresh file system leaves in a directory without a store. */
const unfinishedIdentity = /^holdfast-store\.json\.[0-9a-f]{32}$/
const foreignButHarmless = 'lost+found'

export interface Opening {
  fs: Fs
  layout: Layout
  clock: Clock
  /** Create a store if there is nothing yet. */
  create: boolean
  /** Absent: the owner is not checked, and the store is not claimed. */
  ownership: Ownership | undefined
  warn(message: string): void
}

/** Claims the store in the directory if need be, and resolves with its id. Rejects with `StoreRefused`. */
export async function openIdentity(opening: Opening): Promise<string> {
  const { fs, layout, create, ownership } = opening
  for (let tries = 0; tries < limits.claimTriesMax; tries++) {
    const storeId = await readIdentity(fs, layout)
    if (storeId === undefined) {
      if (!create) throw missingIdentity(layout)
      await createStore(opening)
      continue
    }
    await requireDirectories(fs, layout)
    if (ownership === undefined) return storeId
    const found = await readOwner(fs, layout)
    const isEmpty = (): Promise<boolean> => areEmpty(fs, layout)
    const verdict = await judgeStore({ name: layout.root, storeId, owner: found.owner, isEmpty }, ownership)
    if (verdict === 'open' || (await claim(opening, found))) return storeId
  }
  throw new StoreRefused(`${layout.root} is claimed by others again and again`)
}

/** Rejects when the opened store is gone: its directory is missing, empty, another store's, or claimed by another server. Resolves with its owner, if that is checked. */
export async function requireIdentity(context: StoreContext): Promise<StoreOwner | undefined> {
  const { fs, layout, storeId, ownership } = context
  const found = await readIdentity(fs, layout)
  if (found === undefined) throw missingIdentity(layout)
  await requireDirectories(fs, layout)
  if (found !== storeId) throw new Error(`${layout.root} holds another store than before`)
  if (ownership === undefined) return undefined
  const { owner } = await readOwner(fs, layout)
  if (owner !== undefined && owner.start === context.ownerSeen) return owner
  const { claimant } = ownership
  const isEmpty = async (): Promise<boolean> => false
  await judgeStore({ name: layout.root, storeId, owner, isEmpty }, { claimant, knows: storeId })
  context.ownerSeen = owner?.start
  return owner
}

function missingIdentity(layout: Layout): Error {
  return new Error(`${layout.root} holds no ${identityName}: not a Holdfast store, or its disk is not mounted`)
}

/** Resolves with false when another server was first. A store that can't be written to is opened without a claim, because this server can't harm it. */
async function claim({ fs, layout, clock, ownership, warn }: Opening, found: FoundOwner): Promise<boolean> {
  const claims = (await ownership?.claimant())?.claims
  if (claims === undefined) return true
  try {
    return await writeOwner({ fs, layout, clock }, found, claims)
  } catch (error) {
    const failure = writeFailure(error)
    if (!(failure instanceof StoreReadOnly || failure instanceof StoreFull)) throw error
    warn(`${layout.root} could not be claimed: ${failure.message}`)
    return true
  }
}

async function readIdentity(fs: Fs, layout: Layout): Promise<string | undefined> {
  const text = await readText(fs, identityPath(layout))
  return text === undefined ? undefined : parseIdentity(text, identityPath(layout))
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

/**
 * Writes the identity last, so that after a crash the next start creates the store again. Writes the owner first, so that no other server takes a store
 * that is still being created.
 */
async function createStore({ fs, layout, clock, ownership }: Opening): Promise<void> {
  await requireVacant(fs, layout)
  await makeDirectory(fs, layout.root)
  const claimant = await ownership?.claimant()
  const found = await readOwner(fs, layout)
  if (found.owner !== undefined && found.owner.metadataId !== claimant?.metadataId) {
    throw new StoreRefused(`${layout.root} is where ${found.owner.server} makes a store. Name another place`)
  }
  if (found.owner === undefined && claimant?.claims !== undefined) {
    if (!(await writeOwner({ fs, layout, clock }, found, claimant.claims))) return
  }
  for (const name of rootDirectories) await makeDirectory(fs, layout[name])
  const identity = { format, storeId: randomId(clock), createdAt: new Date(clock.now()).toISOString() }
  await writeExclusively({ fs, layout, clock }, identityPath(layout), identity)
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
