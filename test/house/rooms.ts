/** Who may import whom: the rooms of src/ as a table, and the check that holds the sources against it. */
import type { SourceFile } from './source-file.ts'

export interface Room {
  /** Files, and folders that end with a slash. */
  holds: readonly string[]
  mayImport: readonly string[]
}

/** What any room may stand on. They know nothing of the rest. */
export const leaves = [
  'errors.ts',
  'known.ts',
  'percent-encode.ts',
  'limits.ts',
  'key-length.ts',
  'access-log-limits.ts',
  'admin-limits.ts',
  'process-limits.ts',
  'clock.ts',
  'time-text.ts',
  'trace-parent.ts',
  'spans.ts',
  'lease-time.ts',
  'byte-budget.ts',
  'byte-source.ts',
  'chunk-pool.ts',
  'shared-copy.ts',
  'closing-stack.ts',
  'edit-distance.ts',
  'file-failure.ts',
  'connection-failure.ts',
  'process-end.ts',
  'lazy-schema.ts',
  'address-range.ts',
  'wasm.ts',
  'webhook.ts',
  'replica-header.ts',
  'replication-limits.ts',
  'replication-site.ts',
  'each-of.ts',
  'pauses.ts',
  'deadline.ts',
  'storage-class.ts',
  'checksums/',
]
export const kvInterface = ['kv/kv.ts', 'kv/ordered-key.ts']
export const blobsInterface = ['blobs/blobs.ts']
export const storesInterface = ['stores/shard-store.ts']

/** A room's own files are always open to it. */
export const rooms: readonly Room[] = [
  { holds: leaves, mayImport: [] },
  { holds: ['contract/'], mayImport: leaves },
  { holds: ['auth/'], mayImport: leaves },
  { holds: ['access/'], mayImport: leaves },
  { holds: ['encryption/'], mayImport: leaves },
  { holds: ['threads/'], mayImport: [...leaves, 'encryption/'] },
  { holds: ['kv/'], mayImport: leaves },
  { holds: ['stores/'], mayImport: leaves },
  { holds: ['blobs/'], mayImport: [...leaves, ...storesInterface, 'stores/guarded-store.ts'] },
  { holds: ['records/'], mayImport: [...leaves, ...kvInterface, ...blobsInterface] },
  { holds: ['rules/'], mayImport: [...leaves, ...blobsInterface, 'records/'] },
  {
    holds: ['commits/'],
    mayImport: [
      ...leaves,
      ...kvInterface,
      ...blobsInterface,
      'encryption/',
      'threads/threads.ts',
      'records/',
      'rules/',
    ],
  },
  {
    holds: ['objects/'],
    mayImport: [
      ...leaves,
      ...kvInterface,
      ...blobsInterface,
      ...storesInterface,
      'encryption/',
      'threads/byte-work.ts',
      'threads/worked-source.ts',
      'records/',
      'rules/',
      'commits/',
    ],
  },
  {
    holds: ['operations/'],
    mayImport: [
      ...leaves,
      'contract/',
      'records/',
      'rules/',
      'commits/',
      'objects/',
      'encryption/',
      'auth/principal.ts',
      'access/',
    ],
  },
  { holds: ['sts/'], mayImport: [...leaves, 'access/', 'auth/'] },
  {
    holds: ['http/'],
    mayImport: [
      ...leaves,
      'audit/audit-log.ts',
      'operations/',
      'contract/',
      'auth/',
      'sts/',
      'config/configuration-error.ts',
    ],
  },
  {
    holds: ['jobs/'],
    mayImport: [
      ...leaves,
      ...kvInterface,
      ...blobsInterface,
      ...storesInterface,
      'stores/guarded-store.ts',
      'blobs/shape.ts',
      'blobs/forecast.ts',
      'endpoint/',
      'records/',
      'members/membership.ts',
      'rules/',
      'commits/',
      'objects/',
    ],
  },
  {
    holds: ['identities/'],
    mayImport: [
      ...leaves,
      ...kvInterface,
      'access/',
      'auth/credentials.ts',
      'auth/known-identities.ts',
      'auth/principal.ts',
      'commits/',
      'encryption/',
      'records/',
    ],
  },
  { holds: ['audit/'], mayImport: leaves },
  { holds: ['endpoint/'], mayImport: [...leaves, 'auth/sign-request.ts', 'http/xml/xml-tokens.ts'] },
  { holds: ['imports/'], mayImport: [...leaves, 'endpoint/', 'rules/utf8-order.ts'] },
  { holds: ['metrics/'], mayImport: [...leaves, 'http/telemetry/traffic.ts'] },
  {
    holds: ['logins/'],
    mayImport: [...leaves, ...kvInterface, 'auth/', 'instance/sealed-record.ts', 'sts/'],
  },
  {
    holds: ['admin/'],
    mayImport: [
      ...leaves,
      'access/',
      'audit/audit-log.ts',
      'auth/',
      'commits/backend.ts',
      'contract/markdown.ts',
      'http/',
      'identities/identities.ts',
      'identities/refusal.ts',
      'logins/',
      'version.ts',
      'operations/access/account-blocks.ts',
      'operations/access/authorize.ts',
      'operations/access/authorize-account.ts',
      'operations/bucket-name.ts',
      'operations/context.ts',
      'operations/access/explain-access.ts',
    ],
  },
  {
    holds: ['config/'],
    mayImport: [
      ...leaves,
      'auth/credentials.ts',
      'encryption/key-ring.ts',
      'blobs/location-policy.ts',
      'sts/oidc/provider-settings.ts',
    ],
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
      'blobs/location-policy.ts',
      'stores/store-claim.ts',
      'commits/backend.ts',
    ],
  },
  { holds: ['members/'], mayImport: [...leaves, ...kvInterface, 'instance/sealed-record.ts'] },
  {
    holds: ['opening/'],
    mayImport: [
      ...leaves,
      'admin/',
      'audit/',
      'auth/',
      'blobs/',
      'commits/',
      'config/',
      'encryption/key-ring.ts',
      'http/',
      'identities/',
      'instance/',
      'jobs/',
      'contract/support-table.ts',
      'kv/',
      'logins/',
      'members/',
      'metrics/',
      'objects/',
      'operations/',
      'records/',
      'stores/',
      'sts/',
      'threads/worker-threads.ts',
      'version.ts',
    ],
  },
  { holds: ['cli/'], mayImport: [''] },
]

/** `index.ts` wires the rooms. No room may import it. */
const composition: Room = { holds: [], mayImport: [''] }

const roomOf = (path: string): Room | undefined =>
  rooms.find(({ holds }) => isIn(path, holds)) ?? (path.includes('/') ? undefined : composition)

/** Libraries that only one place may know, so that another can take their place. */
const adapters: Readonly<Record<string, readonly string[]>> = {
  lmdb: ['kv/lmdb.ts'],
  pg: ['kv/postgres/'],
  '@fastify/busboy': ['http/forms/form-body.ts'],
  'smol-toml': ['config/toml-file.ts'],
  commander: ['cli/'],
  pino: ['cli/', 'index.ts', 'opening/'],
  '@node-rs/crc32': ['checksums/', 'records/record-format.ts', 'stores/', 'kv/integrity/'],
  'hash-wasm': ['checksums/xxhash.ts'],
  '@aws-sdk/client-s3': ['stores/s3/'],
  jose: ['sts/oidc/'],
  '@opentelemetry/api': ['opening/open-telemetry.ts'],
  'openid-client': ['logins/'],
  'prom-client': ['metrics/'],
  zod: ['lazy-schema.ts', 'admin/', 'config/', 'instance/', 'jobs/', 'logins/', 'members/', 'cli/'],
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

/** All that bench/ sees of the rest, and what it starts: it measures from outside, and signs as clients do. */
const seenByBench = [
  '../src/auth/sigv4.ts',
  '../src/auth/canonical-request.ts',
  '../src/version.ts',
  // What a decision costs is held against what a verification costs: both are functions.
  '../src/auth/credentials.ts',
  '../src/auth/verify.ts',
  '../src/operations/access/request-scope.ts',
  // The engines of metadata are also measured alone, beside each other.
  '../src/kv/kv.ts',
  '../src/kv/lmdb.ts',
  '../src/kv/ordered-key.ts',
  '../src/kv/postgres.ts',
  // Finds and starts the programs of PostgreSQL.
  '../test/support/postgres.ts',
  // Start Chromium, and fill a bucket without a request for each key.
  '../test/console/browser.ts',
  '../test/support/many-objects.ts',
]
const startedByBench = ['../joined/main.ts', '../joined/index.ts']

export function findForbiddenBenchImports(files: readonly SourceFile[]): string[] {
  const known = new Set(files.map((file) => file.path))
  return files.flatMap((file) =>
    file.imports.flatMap(({ specifier, target, starts }) => {
      if (target === undefined)
        return specifier.startsWith('node:') ? [] : [`${file.path} must not import ${specifier}`]
      if (known.has(target) || seenByBench.includes(target) || (starts && startedByBench.includes(target))) return []
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
