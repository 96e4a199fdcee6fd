/** Writes a small file so that it exists whole and durable, or not at all. Only for small files of the data directory, never for clients' data. */
import { randomBytes } from 'node:crypto'
import { mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Suffix of files under way, some of which a crash leaves behind. Code that lists a directory skips them. */
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
 * Makes a directory and its missing parents. Each new entry is durable when it resolves. Does not use `recursive`, because Node then loops forever in
 * a directory that answers ENOENT to a new entry, as /proc does.
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

/** Ignores EEXIST, because another process may have made the directory meanwhile. */
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
