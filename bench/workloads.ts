/** What is measured: one row a workload. Knows nothing of how requests are made or counted. */

const KiB = 1024
const MiB = 1024 * KiB

/** What a request does. `multipart` and `slow` are flows of their own (`load/multipart.ts`, `load/slow-clients.ts`). */
export type WorkKind =
  | 'put'
  | 'get'
  | 'head'
  | 'missing'
  | 'delete'
  | 'range'
  | 'list'
  | 'list-delimiter'
  | 'list-deep'
  | 'mixed'
  | 'multipart'
  | 'slow'

/** What can be measured beside servers of S3, on the same work. */
export type ReferenceName = 'node-http' | 'nginx' | 'md5' | 'log'

export interface Workload {
  /** The name for `--only`. */
  name: string
  title: string
  kind: WorkKind
  /** The size of one object, or of one part for `multipart`. */
  objectBytes: number
  /** What one request moves, when rates are shown in bytes. */
  movedBytes?: number
  /** Of a page of a listing; absent: 1,000. */
  pageKeys?: number
  connections: number
  /** That lie there before. `delete` removes a fresh set of this size in each round. */
  objects: number
  references: readonly ReferenceName[]
  /** Also measured with `--workers 2`. */
  twoWorkers: boolean
  /** Also measured with a bucket that encrypts by default (SSE-S3). */
  encrypted: boolean
  /** Also measured with a bucket that is striped, 4 + 2, over six directories. */
  striped: boolean
  /** Which rows share a chart. */
  chart: 'small' | 'large' | 'listing' | undefined
}

const usual = {
  connections: 64,
  references: [],
  twoWorkers: false,
  encrypted: false,
  striped: false,
  chart: undefined,
} as const

const small = { ...usual, objectBytes: 4 * KiB, objects: 10_000, chart: 'small' } as const
const large = { ...usual, connections: 8, chart: 'large' } as const
const striped = { striped: true, chart: undefined } as const
const listing = { ...usual, objectBytes: 4 * KiB, objects: 10_000, connections: 8, chart: 'listing' } as const

export const workloads: readonly Workload[] = [
  {
    ...small,
    name: 'put-4k',
    title: 'PUT 4 KiB',
    kind: 'put',
    objects: 0,
    references: ['node-http', 'log'],
    twoWorkers: true,
  },
  { ...small, name: 'get-4k', title: 'GET 4 KiB', kind: 'get', references: ['node-http', 'nginx'], twoWorkers: true },
  { ...small, name: 'head-4k', title: 'HEAD', kind: 'head', references: ['node-http', 'nginx'], twoWorkers: true },
  { ...small, name: 'missing', title: 'GET of a key that is not there', kind: 'missing', chart: undefined },
  { ...small, name: 'delete-4k', title: 'DELETE', kind: 'delete', objects: 20_000, references: ['node-http'] },
  { ...small, name: 'mixed-4k', title: '70 % GET, 30 % PUT, 4 KiB', kind: 'mixed', references: ['node-http'] },
  sized('put-64k', 'PUT 64 KiB', 'put', 64 * KiB, 0, ['node-http']),
  sized('get-64k', 'GET 64 KiB', 'get', 64 * KiB, 1_000, ['node-http', 'nginx']),
  { ...sized('put-1m', 'PUT 1 MiB', 'put', MiB, 0, ['node-http', 'md5']), twoWorkers: true },
  sized('get-1m', 'GET 1 MiB', 'get', MiB, 200, ['node-http', 'nginx']),
  { ...sized('put-64m', 'PUT 64 MiB', 'put', 64 * MiB, 0, ['node-http', 'md5']), encrypted: true },
  { ...sized('get-64m', 'GET 64 MiB', 'get', 64 * MiB, 16, ['node-http', 'nginx']), encrypted: true },
  { ...sized('striped-put', 'PUT 64 MiB, one copy and 4 + 2', 'put', 64 * MiB, 0, ['md5']), ...striped },
  { ...sized('striped-get', 'GET 64 MiB, one copy and 4 + 2', 'get', 64 * MiB, 16, []), ...striped },
  {
    ...sized('range-64k', 'GET of 64 KiB out of 64 MiB', 'range', 64 * MiB, 16, ['nginx']),
    movedBytes: 64 * KiB,
  },
  {
    ...sized('multipart', 'multipart, 8 parts of 16 MiB', 'multipart', 16 * MiB, 0, []),
    movedBytes: 8 * 16 * MiB,
  },
  { ...listing, name: 'list', title: 'LIST 1,000, first page', kind: 'list', twoWorkers: true },
  { ...listing, name: 'list-deep', title: 'LIST 1,000, from the middle', kind: 'list-deep' },
  { ...listing, name: 'list-delimiter', title: 'LIST 1,000 common prefixes', kind: 'list-delimiter' },
  { ...listing, name: 'list-delimiter-100', title: 'LIST 100 common prefixes', kind: 'list-delimiter', pageKeys: 100 },
  {
    ...usual,
    name: 'slow-clients',
    title: '16 slow PUTs and 16 slow GETs of 64 MiB',
    kind: 'slow',
    objectBytes: 64 * MiB,
    movedBytes: 64 * MiB,
    connections: 32,
    objects: 16,
  },
]

function sized(
  name: string,
  title: string,
  kind: WorkKind,
  objectBytes: number,
  objects: number,
  references: readonly ReferenceName[],
): Workload {
  return { ...large, name, title, kind, objectBytes, movedBytes: objectBytes, objects, references }
}

/** The same work in little, for a look whether everything works. */
export function inLittle(workload: Workload): Workload {
  const { kind, objectBytes, movedBytes, objects, title } = workload
  const small = { ...workload, title: `${title}, in little`, objects: Math.min(objects, 2_000) }
  if (objectBytes <= MiB) return small
  // A part of less than 5 MiB is refused.
  const littleBytes = kind === 'multipart' ? 5 * MiB : 4 * MiB
  const movedLittleBytes = kind === 'range' ? movedBytes : kind === 'multipart' ? 8 * littleBytes : littleBytes
  return { ...small, objectBytes: littleBytes, movedBytes: movedLittleBytes ?? littleBytes }
}

/** V8 compiles what runs often, for some ten seconds and in each process of a server. Large objects need less of it, and would fill the disk. */
export function warmUpSeconds({ objectBytes }: Pick<Workload, 'objectBytes'>, seconds: number): number {
  return objectBytes > MiB ? Math.min(seconds, 2) : Math.min(4 * seconds, 10)
}
