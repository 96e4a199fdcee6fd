/** Writes a small file so that it is there whole and durably, or not at all. Small files of the data directory only, never clients' data. */
import { randomBytes } from 'node:crypto'
import { mkdir, open, rename, rm } from 'node:fs/promises'
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

/** Makes a directory and those above it; each new entry is durable when it resolves. */
export async function makeDirectories(path: string, mode: number): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode })
  if (first === undefined) return
  for (let made = path; ; made = dirname(made)) {
    await syncDirectory(dirname(made))
    if (made === first || made === dirname(made)) return
  }
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
