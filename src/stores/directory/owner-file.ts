/**
 * The file that names the owner of a store's directory: `holdfast-owner.<number>.json`. The one with the greatest number counts. Numbers go up by one and the file that
 * counts is never removed, so exactly one of several concurrent claims wins.
 */
import { type Clock, randomId } from '../../clock.ts'
import type { Fs } from '../fs.ts'
import { ownerOf, type StoreOwner } from '../store-claim.ts'
import { closeQuietly } from './context.ts'
import { codeOf, unlessMissing } from './failures.ts'
import { identityName, type Layout } from './layout.ts'

const format = 1
const ownerName = /^holdfast-owner\.([0-9]{1,15})\.json$/

export interface FoundOwner {
  /** 0: there is none. */
  number: number
  owner: StoreOwner | undefined
}

export function isOwnerName(name: string): boolean {
  return ownerName.test(name)
}

export async function readOwner(fs: Fs, layout: Layout): Promise<FoundOwner> {
  for (;;) {
    const number = await newestNumber(fs, layout)
    if (number === 0) return { number, owner: undefined }
    const path = ownerPath(layout, number)
    const text = await readText(fs, path)
    // A newer one replaced it.
    if (text !== undefined) return { number, owner: parseOwner(text, path) }
  }
}

/** Resolves with false when another claim was first. */
export async function writeOwner(
  { fs, layout, clock }: { fs: Fs; layout: Layout; clock: Clock },
  before: FoundOwner,
  owner: StoreOwner,
): Promise<boolean> {
  const number = before.number + 1
  const claim = { format, ...owner, claimedAt: new Date(clock.now()).toISOString() }
  if (!(await writeExclusively({ fs, layout, clock }, ownerPath(layout, number), claim))) return false
  await fs.syncDirectory(layout.root)
  const found = await readOwner(fs, layout)
  if (found.owner?.start !== owner.start || found.number !== number) {
    // Another claim had removed the file that this one follows.
    if (found.number > number) await unlessMissing(fs.unlink(ownerPath(layout, number)))
    return false
  }
  for (const name of await fs.list(layout.root)) {
    if (isOwnerName(name) && numberOf(name) < number) await unlessMissing(fs.unlink(`${layout.root}/${name}`))
  }
  return true
}

/** Creates a small file, whole and durable. Resolves with false when the name is taken. The caller must still sync the directory. */
export async function writeExclusively(
  { fs, layout, clock }: { fs: Fs; layout: Layout; clock: Clock },
  path: string,
  content: object,
): Promise<boolean> {
  const unfinished = `${layout.root}/${identityName}.${randomId(clock)}`
  const file = await fs.open(unfinished, 'create')
  try {
    try {
      await file.write([Buffer.from(`${JSON.stringify(content, undefined, 2)}\n`)], 0)
      await file.datasync()
    } finally {
      await file.close()
    }
    return await linkUnlessThere(fs, unfinished, path)
  } finally {
    await unlessMissing(fs.unlink(unfinished))
  }
}

const withoutLinks = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']

/** Gives a file its name without replacing another. Where the file system has no links, falls back to a rename, which replaces; reading the file afterwards shows who was last. */
async function linkUnlessThere(fs: Fs, from: string, to: string): Promise<boolean> {
  try {
    await fs.link(from, to)
    return true
  } catch (error) {
    const code = codeOf(error) ?? ''
    // A process that finds no store here removes what an unfinished creation left: perhaps this file, and then that process wins.
    if (code === 'EEXIST' || code === 'ENOENT') return false
    if (!withoutLinks.includes(code)) throw error
    if ((await unlessMissing(fs.stat(to))) !== undefined) return false
    await fs.rename(from, to)
    return true
  }
}

async function newestNumber(fs: Fs, layout: Layout): Promise<number> {
  const names = (await unlessMissing(fs.list(layout.root))) ?? []
  return Math.max(0, ...names.map(numberOf))
}

function numberOf(name: string): number {
  const [, digits] = ownerName.exec(name) ?? []
  return digits === undefined ? 0 : Number(digits)
}

function ownerPath(layout: Layout, number: number): string {
  return `${layout.root}/holdfast-owner.${number}.json`
}

export async function readText(fs: Fs, path: string): Promise<string | undefined> {
  const file = await unlessMissing(fs.open(path, 'read'))
  if (file === undefined) return undefined
  try {
    const bytes = Buffer.alloc(await file.size())
    await file.read(bytes, 0)
    return bytes.toString()
  } finally {
    await closeQuietly(file)
  }
}

function parseOwner(text: string, path: string): StoreOwner {
  let claim: unknown
  try {
    claim = JSON.parse(text)
  } catch {
    // Falls through: text that is not JSON is as damaged as JSON with wrong fields.
  }
  return ownerOf(claim, path)
}
