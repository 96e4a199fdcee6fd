/** The layout of a data directory, and the check that a directory is one. The engines know what each part holds. */
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { absent, makeDirectories, unfinishedSuffix, writeFileAtomically } from './atomic-file.ts'

export interface DataDirectory {
  path: string
  /** Directory of the metadata engine. */
  meta: string
  /** Directory of the default store. */
  store: string
  /** File with the root key that the first start made. */
  credentials: string
  /** File with the keys that wrap the keys of encrypted objects. */
  keyRing: string
}

/** The directory can't be used as it is. The message says why, and what to do about it. */
export class DataDirectoryRefused extends Error {
  constructor(path: string, reason: string) {
    super(`the data directory ${path} ${reason}`)
    this.name = 'DataDirectoryRefused'
  }
}

const layoutVersion = 1
const markerName = 'holdfast.json'
const privateMode = 0o700

/**
 * With `create`, creates the directory, or turns an empty one into a data directory. Without it, the directory must already be one. Throws
 * `DataDirectoryRefused`, also when the directory holds something else. Idempotent.
 */
export async function prepareDataDirectory(path: string, { create }: { create: boolean }): Promise<DataDirectory> {
  const found = await stat(path).catch(absent)
  if (found !== undefined && !found.isDirectory()) throw new DataDirectoryRefused(path, 'is not a directory')
  if (create) await makeDirectories(path, privateMode)

  const marker = join(path, markerName)
  const text = await readFile(marker, 'utf8').catch(absent)
  if (text === undefined) {
    if (!create) throw new DataDirectoryRefused(path, 'is none yet: no server has started on it')
    await refuseForeign(path)
    await writeFileAtomically(marker, `${JSON.stringify({ layout: layoutVersion })}\n`, 0o600)
  } else {
    refuseOtherLayout(path, text)
  }
  const directory = {
    path,
    meta: join(path, 'meta'),
    store: join(path, 'store'),
    credentials: join(path, 'credentials.json'),
    keyRing: join(path, 'keys'),
  }
  await makeDirectories(directory.meta, privateMode)
  return directory
}

/** Whether no server has started there yet. Does not check the path: `prepareDataDirectory` does. */
export async function isFirstStart(path: string): Promise<boolean> {
  return (await stat(join(path, markerName)).catch(() => undefined)) === undefined
}

/** Whether an entry is the file system's own directory, or left by a crashed or concurrent start. */
function isIgnored(name: string): boolean {
  return name === 'lost+found' || name === markerName || name.endsWith(unfinishedSuffix)
}

async function refuseForeign(path: string): Promise<void> {
  const foreign = (await readdir(path)).find((name) => !isIgnored(name))
  // A concurrent start may have made the marker meanwhile.
  if (foreign === undefined || (await stat(join(path, markerName)).catch(absent)) !== undefined) return
  throw new DataDirectoryRefused(
    path,
    `is not empty and not Holdfast's: it holds '${foreign}'. Name an empty or new one`,
  )
}

function refuseOtherLayout(path: string, text: string): void {
  let layout: unknown
  try {
    layout = JSON.parse(text).layout
  } catch {
    throw new DataDirectoryRefused(path, 'is damaged: holdfast.json is not readable')
  }
  if (layout !== layoutVersion) {
    throw new DataDirectoryRefused(path, `has layout ${layout}; this version knows layout ${layoutVersion}`)
  }
}
