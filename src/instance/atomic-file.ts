/** Writes a small file so that it is there whole and durably, or not at all. Small files of the data directory only, never clients' data. */
import { randomBytes } from 'node:crypto'
import { mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Ends the names of files that a crash left half written; whoever lists a directory overlooks them. */
export const unfinishedSuffix = '.unfinished'

export async function writeFileAtomically(path: string, text: string, mode: number): Promise<void> {
  const unfinished = `${path}.${randomBytes(8).toString('hex')}${unfinishedSuffix}`
  try {
    const file = await open(unfinished, 'wx', mode)
    try {
      await file.writeFile(text)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(unfinished, path)
  } catch (error) {
    await rm(unfinished, { force: true })
    throw error
  }
  await syncDirectory(dirname(path))
}

/**
 * Makes a directory and those above it; each new entry is durable when it resolves. Not by `recursive`: where a directory takes no entries and says ENOENT,
 * as /proc does, Node tries again for ever.
 */
export async function makeDirectories(path: string, mode: number): Promise<void> {
  const missing: string[] = []
  for (let at = path; await isMissing(at); at = dirname(at)) missing.push(at)
  for (const made of missing.reverse()) {
    await mkdir(made, { mode }).catch(unlessThere)
    await syncDirectory(dirname(made))
  }
}

async function isMissing(path: string): Promise<boolean> {
  return (await stat(path).catch(absent)) === undefined
}

/** Another process may have made it meanwhile. */
function unlessThere(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error
}

export function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT') return undefined
  throw error
}

export async function syncDirectory(path: string): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await open(path)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
