/** Who may import whom: the rooms of src/ as a table, and the check that holds the sources against it. */
import type { SourceFile } from './source-file.ts'

interface Room {
  /** Files, and folders that end with a slash. */
  holds: readonly string[]
  mayImport: readonly string[]
}

/** What any room may stand on. They know nothing of the rest. */
const leaves = [
  'errors.ts',
  'limits.ts',
  'clock.ts',
  'time-text.ts',
  'byte-source.ts',
  'chunk-pool.ts',
  'wasm.ts',
  'checksums/',
]
const kvInterface = ['kv/kv.ts', 'kv/ordered-key.ts']
const shardsInterface = ['shards/shard-store.ts', 'shards/blobs.ts']

/** A room's own files are always open to it. */
const rooms: readonly Room[] = [
  { holds: leaves, mayImport: [] },
  { holds: ['contract/'], mayImport: leaves },
  { holds: ['auth/'], mayImport: leaves },
  { holds: ['encryption/'], mayImport: leaves },
  { holds: ['threads/'], mayImport: [...leaves, 'encryption/'] },
  { holds: ['kv/'], mayImport: leaves },
  { holds: ['shards/'], mayImport: leaves },
  {
    holds: ['store/'],
    mayImport: [
      ...leaves,
      ...kvInterface,
      ...shardsInterface,
      'encryption/',
      'threads/byte-work.ts',
      'threads/threads.ts',
      'threads/worked-source.ts',
    ],
  },
  {
    holds: ['operations/'],
    mayImport: [...leaves, 'contract/', 'store/', 'encryption/', 'auth/principal.ts', 'auth/permissions.ts'],
  },
  { holds: ['http/'], mayImport: [...leaves, 'operations/', 'contract/', 'auth/'] },
  {
    holds: ['jobs/'],
    mayImport: [...leaves, 'store/', ...kvInterface, ...shardsInterface, 'shards/shape.ts', 'shards/forecast.ts'],
  },
  {
    holds: ['config/'],
    mayImport: [...leaves, 'auth/credentials.ts', 'encryption/key-ring.ts', 'shards/location-policy.ts'],
  },
  {
    holds: ['instance/'],
    mayImport: [
      ...leaves,
      ...kvInterface,
      'config/accounts.ts',
      'config/configuration-error.ts',
      'config/locations.ts',
      'encryption/key-ring.ts',
      'shards/location-policy.ts',
    ],
  },
  {
    holds: ['assembly/'],
    mayImport: [
      ...leaves,
      'auth/',
      'config/',
      'encryption/',
      'http/',
      'instance/',
      'jobs/',
      'kv/',
      'operations/',
      'shards/',
      'store/',
      'threads/',
    ],
  },
  { holds: ['cli/'], mayImport: [''] },
]

/** `open.ts` and `index.ts` wire the rooms. No room may import one, so that only the command line does. */
const composition: Room = { holds: [], mayImport: [''] }

const roomOf = (path: string): Room | undefined =>
  rooms.find(({ holds }) => isIn(path, holds)) ?? (path.includes('/') ? undefined : composition)

/** Libraries that only one place may know, so that another can take their place. */
const adapters: Readonly<Record<string, readonly string[]>> = {
  lmdb: ['kv/lmdb.ts'],
  saxes: ['http/xml-read.ts'],
  'smol-toml': ['config/toml-file.ts'],
  commander: ['cli/'],
  pino: ['cli/', 'index.ts', 'assembly/'],
  '@node-rs/crc32': ['checksums/', 'store/record-format.ts', 'shards/'],
  '@aws-sdk/client-s3': ['shards/s3/'],
  zod: ['config/', 'instance/', 'open.ts', 'cli/'],
}

/** Started or imported from outside src/. */
const entryPoints = ['index.ts', 'cli/main.ts', 'threads/thread.ts']

const isIn = (path: string, places: readonly string[]): boolean =>
  places.some((place) => path === place || ((place === '' || place.endsWith('/')) && path.startsWith(place)))

export function findForbiddenImports(files: readonly SourceFile[]): string[] {
  const known = new Set(files.map((file) => file.path))
  return files.flatMap((file) => {
    const room = roomOf(file.path)
    if (room === undefined) return [`${file.path} belongs to no room of the import table`]
    const mayImport = [...room.holds, ...room.mayImport]
    return file.imports.flatMap(({ specifier, target }) => {
      if (target === undefined) return forbiddenPackage(file.path, specifier)
      if (!known.has(target)) return [`${file.path} imports ${specifier}, which is no source file`]
      return isIn(target, mayImport) ? [] : [`${file.path} must not import ${target}`]
    })
  })
}

function forbiddenPackage(path: string, specifier: string): string[] {
  if (specifier.startsWith('node:')) return []
  const name = Object.keys(adapters).find((known) => specifier === known || specifier.startsWith(`${known}/`))
  if (name === undefined) return [`${path} imports ${specifier}, which the table of libraries does not list`]
  return isIn(path, adapters[name] ?? []) ? [] : [`${path} must not import the library ${specifier}`]
}

/** All that bench/ sees of src/, and what it starts: it measures from outside, and signs as clients do. */
const seenByBench = ['../src/auth/sigv4.ts', '../src/auth/canonical-request.ts', '../src/version.ts']
const startedByBench = '../src/cli/main.ts'

export function findForbiddenBenchImports(files: readonly SourceFile[]): string[] {
  const known = new Set(files.map((file) => file.path))
  return files.flatMap((file) =>
    file.imports.flatMap(({ specifier, target, starts }) => {
      if (target === undefined)
        return specifier.startsWith('node:') ? [] : [`${file.path} must not import ${specifier}`]
      if (known.has(target) || seenByBench.includes(target) || (starts && target === startedByBench)) return []
      return [`${file.path} must not import ${target}`]
    }),
  )
}

/** One finding for each cycle met, as its path. Type imports count: a cycle of types is two files that are one. */
export function findImportCycles(files: readonly SourceFile[]): string[] {
  const targets = new Map(
    files.map(({ path, imports }) => [path, imports.flatMap(({ target, starts }) => (starts ? [] : (target ?? [])))]),
  )
  const cycles: string[] = []
  const done = new Set<string>()
  const visit = (path: string, trail: readonly string[]): void => {
    const at = trail.indexOf(path)
    if (at >= 0) cycles.push([...trail.slice(at), path].join(' -> '))
    if (at >= 0 || done.has(path)) return
    for (const target of targets.get(path) ?? []) visit(target, [...trail, path])
    done.add(path)
  }
  for (const path of targets.keys()) visit(path, [])
  return cycles
}

/** `outside`: files of src/ that scripts load. What only tests import is dead. */
export function findUnimported(files: readonly SourceFile[], outside: readonly string[]): string[] {
  const imported = new Set([
    ...entryPoints,
    ...outside,
    ...files.flatMap((file) => file.imports.map((it) => it.target)),
  ])
  return files.filter((file) => !imported.has(file.path)).map((file) => `nothing imports ${file.path}`)
}
