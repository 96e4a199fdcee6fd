/** The layout of a data directory, and the check that a directory is one. The engines know what each part holds. */
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { absent, makeDirectories, unfinishedSuffix, writeFileAtomically } from './atomic-file.ts'

/** The part of a data directory that belongs to one host, which every data directory has. */
export interface HostDirectory {
  path: string
  /** File with the root key that the first start made. */
  credentials: string
  /** File with the keys that wrap the keys of encrypted objects. */
  keyRing: string
}

/** The data directory of a single server, which keeps metadata and objects too. */
export interface DataDirectory extends HostDirectory {
  /** Directory of the metadata engine. */
  meta: string
  /** Directory of the default store. */
  store: string
}

/** The directory can't be used as it is. The message says why, and what to do about it. */
export class DataDirectoryRefused extends Error {
  constructor(path: string, reason: string) {
    super(`the data directory ${path} ${reason}`)
    this.name = 'DataDirectoryRefused'
  }
}

const ownLayout = 1
/** The metadata is in a database. Older versions, which know only the first layout, refuse such a directory. They would take it for an empty one otherwise. */
const hostLayout = 2
const markerName = 'holdfast.json'
const privateMode = 0o700

/** Says what the directory is, in `holdfast.json`. */
const markerSchema = z.discriminatedUnion('layout', [
  z.object({ layout: z.literal(ownLayout) }),
  z.object({
    layout: z.literal(hostLayout),
    metadata: z.literal('postgres'),
    /** The id of the metadata. Absent: not known yet. */
    metadataId: z.string().optional(),
    /** The database that the metadata was moved to, for people. */
    movedTo: z.string().optional(),
  }),
])
type Marker = z.infer<typeof markerSchema>

/**
 * With `create`, creates the directory, or turns an empty one into a data directory. Without it, the directory must already be one. Throws
 * `DataDirectoryRefused`, also when the directory holds something else, or its metadata is in a database. Idempotent.
 */
export async function prepareDataDirectory(path: string, { create }: { create: boolean }): Promise<DataDirectory> {
  const marker = await readMarker(path)
  if (marker?.layout === hostLayout) {
    const where = marker.movedTo === undefined ? 'PostgreSQL' : `PostgreSQL, at ${marker.movedTo}`
    throw new DataDirectoryRefused(
      path,
      `belongs to a server whose metadata is in ${where}. Set metadata.url in the configuration file, or HOLDFAST_METADATA_URL; or run holdfast migrate to bring the metadata back`,
    )
  }
  if (marker === undefined) {
    if (!create) throw new DataDirectoryRefused(path, 'is none yet: no server has started on it')
    await makeMarked(path, { layout: ownLayout })
  }
  const directory = ownDirectory(path)
  await makeDirectories(directory.meta, privateMode)
  return directory
}

/** Where the metadata of a data directory is. `undefined`: the directory is none yet. Throws `DataDirectoryRefused`. */
export async function placeOfMetadata(path: string): Promise<'own' | 'database' | undefined> {
  const marker = await readMarker(path)
  return marker === undefined ? undefined : marker.layout === ownLayout ? 'own' : 'database'
}

/**
 * The same for a server whose metadata is in PostgreSQL. Without `create`, the directory may be missing, and stays so. Throws `DataDirectoryRefused`,
 * also when the directory holds metadata of its own.
 */
export async function prepareHostDirectory(path: string, { create }: { create: boolean }): Promise<HostDirectory> {
  const marker = await readMarker(path)
  if (marker?.layout === ownLayout) {
    throw new DataDirectoryRefused(
      path,
      'holds metadata of its own. Run holdfast migrate to bring it into PostgreSQL, or name another data directory',
    )
  }
  if (marker === undefined && create) await makeMarked(path, { layout: hostLayout, metadata: 'postgres' })
  return hostDirectory(path)
}

/** The id of the metadata in PostgreSQL that the directory belongs to. `undefined`: it has never belonged to any, or has its own metadata. */
export async function metadataIdOf(path: string): Promise<string | undefined> {
  const marker = await readMarker(path)
  return marker?.layout === hostLayout ? marker.metadataId : undefined
}

/** Marks the directory as one of a server whose metadata is in PostgreSQL under this id. `movedTo`: the database, if the metadata was moved there from here. */
export function markMetadata(path: string, metadataId: string, movedTo?: string): Promise<void> {
  return writeMarker(path, { layout: hostLayout, metadata: 'postgres', metadataId, movedTo })
}

/** Marks the directory as one that has its own metadata again. */
export function markOwnMetadata(path: string): Promise<void> {
  return writeMarker(path, { layout: ownLayout })
}

/** The paths in a directory that keeps metadata and objects. Checks and creates nothing. */
export function ownDirectory(path: string): DataDirectory {
  return { ...hostDirectory(path), meta: join(path, 'meta'), store: join(path, 'store') }
}

/** The paths in any data directory. Checks and creates nothing. */
export function hostDirectory(path: string): HostDirectory {
  return { path, credentials: join(path, 'credentials.json'), keyRing: join(path, 'keys') }
}

/** Creates the directory, or takes an empty one. */
async function makeMarked(path: string, marker: Marker): Promise<void> {
  await makeDirectories(path, privateMode)
  await refuseForeign(path)
  await writeMarker(path, marker)
}

function writeMarker(path: string, marker: Marker): Promise<void> {
  return writeFileAtomically(join(path, markerName), `${JSON.stringify(marker)}\n`, 0o600)
}

/** `undefined`: there is no marker. Throws `DataDirectoryRefused` when it is damaged or of another version. */
async function readMarker(path: string): Promise<Marker | undefined> {
  const found = await stat(path).catch(absent)
  if (found !== undefined && !found.isDirectory()) throw new DataDirectoryRefused(path, 'is not a directory')
  const text = await readFile(join(path, markerName), 'utf8').catch(absent)
  if (text === undefined) return undefined
  return parseMarker(path, text)
}

function parseMarker(path: string, text: string): Marker {
  try {
    const marker: unknown = JSON.parse(text)
    const { layout } = z.object({ layout: z.unknown() }).parse(marker)
    if (layout !== ownLayout && layout !== hostLayout) {
      throw new DataDirectoryRefused(
        path,
        `has layout ${layout}; this version knows layouts ${ownLayout} and ${hostLayout}`,
      )
    }
    return markerSchema.parse(marker)
  } catch (error) {
    if (error instanceof DataDirectoryRefused) throw error
    throw new DataDirectoryRefused(path, 'is damaged: holdfast.json is not readable')
  }
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
