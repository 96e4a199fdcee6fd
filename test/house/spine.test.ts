/** How many files of the source carry a request, or its bytes, to where they become durable, or are read: those on the call stacks there. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { type Server, startServer } from '../../src/index.ts'
import type { Kv } from '../../src/kv/kv.ts'
import { openWire, type Wire } from '../support/wire-client.ts'
import { mainKey } from '../support/wire-server.ts'

/** Files on the way, outermost last, at the latest call of each kind. Who returns another's promise, and does not wait for it, is on no stack. */
const latest = vi.hoisted(() => new Map<string, string[]>())
const note = vi.hoisted(() => (call: string): void => {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = Number.POSITIVE_INFINITY
  const { stack = '' } = new Error(call)
  Error.stackTraceLimit = stackTraceLimit
  const files = [...new Set([...stack.matchAll(/\/src\/([\w/-]+\.ts)/g)].map(([, path = '']) => path))]
  // Jobs in the background call, too. A commit may have waited its turn: what waits for it is on no stack then.
  if (files.includes('http/pipeline.ts') || files[0] === 'commits/commit.ts') latest.set(call, files)
})

vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>()
  const fdatasync = ((descriptor: number, done: () => void) => {
    note('fdatasync')
    return fs.fdatasync(descriptor, done)
  }) as typeof fs.fdatasync
  const read = ((
    fd: number,
    buffer: Uint8Array,
    offset: number,
    length: number,
    position: number,
    done: () => void,
  ) => {
    note('read')
    return fs.read(fd, buffer, offset, length, position, done)
  }) as typeof fs.read
  const readSync = ((fd: number, buffer: Uint8Array, offset: number, length: number, position: number) => {
    note('read')
    return fs.readSync(fd, buffer, offset, length, position)
  }) as typeof fs.readSync
  return { ...fs, fdatasync, read, readSync }
})

vi.mock('../../src/opening/metadata/open-engine.ts', async (original) => {
  const { openEngine, ...others } = await original<typeof import('../../src/opening/metadata/open-engine.ts')>()
  const noted = (kv: Kv): Kv => ({
    integrity: kv.integrity,
    get: (keys) => {
      note('kv.get')
      return kv.get(keys)
    },
    range: (query) => kv.range(query),
    view: (keys, queries, read) => kv.view(keys, queries, read),
    commit: (commit) => {
      note('kv.commit')
      return kv.commit(commit)
    },
    snapshot: () => kv.snapshot(),
    now: () => kv.now(),
    close: () => kv.close(),
  })
  return { ...others, openEngine: async (...all: Parameters<typeof openEngine>) => noted(await openEngine(...all)) }
})

/** They pass a request on as it is. */
const helpers: ReadonlySet<string> = new Set(['http/connections/connections.ts'])

const spineAt = (...calls: string[]): string[] => {
  const files = calls.flatMap((call) => latest.get(call) ?? [`no ${call}`])
  return [...new Set(files)].filter((path) => !helpers.has(path)).sort()
}

let directory = ''
let server: Server
let wire: Wire
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-spine-'))
  server = await startServer({ data: join(directory, 'data'), credentials: { ...mainKey }, buckets: ['wire'] })
  wire = openWire(server.port, { prefix: 'x-amz-', hosting: 'path' })
})
afterAll(async () => {
  wire.close()
  await server.close()
  await rm(directory, { recursive: true })
})
beforeEach(() => latest.clear())

const large = 'x'.repeat(5_000_000)

it('PutObject goes through at most 11 files to its last fdatasync and its commit', async () => {
  await wire.must({ method: 'PUT', key: 'a', body: large })
  const spine = spineAt('fdatasync', 'kv.commit')
  expect(spine).toEqual([
    'blobs/write-blob.ts',
    'commits/commit.ts',
    'http/pipeline.ts',
    'objects/incoming-data.ts',
    'objects/write-object.ts',
    'operations/objects/put-object.ts',
    'stores/directory/directory-store.ts',
    'stores/directory/large-files/large-file-writer.ts',
    'stores/directory/large-files/large-files.ts',
    'stores/node-fs.ts',
  ])
  expect(spine.length).toBeLessThanOrEqual(11)
})

it.each([
  ['small', 'x', ['blobs/read-blob.ts', 'stores/directory/segments/segment-reads.ts']],
  ['large', large, ['http/answer.ts', 'stores/directory/block-source.ts', 'stores/directory/open-range.ts']],
])('GetObject of a %s object goes through at most 10 files to its record and its last bytes', async (_, body, own) => {
  await wire.must({ method: 'PUT', key: 'a', body })
  latest.clear()
  await wire.must({ method: 'GET', key: 'a' })
  const spine = spineAt('kv.get', 'read')
  const shared = [
    'http/pipeline.ts',
    'http/connections/server.ts',
    'objects/find-version.ts',
    'objects/read-object.ts',
    'operations/objects/get-object.ts',
    'operations/run.ts',
    'stores/node-fs.ts',
  ]
  expect(spine).toEqual([...shared, ...own].sort())
  expect(spine.length).toBeLessThanOrEqual(10)
})
