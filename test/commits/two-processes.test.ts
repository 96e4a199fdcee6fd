/** Two processes change one key of the same LMDB environment: the second commits when the first has read and decided, and not committed yet. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openLmdb } from '../../src/kv/lmdb.ts'
import { createBucket } from '../../src/objects/buckets.ts'
import { deleteObject } from '../../src/objects/delete-object.ts'
import { findVersion } from '../../src/objects/find-version.ts'
import { type ListedVersion, listVersions } from '../../src/objects/list-versions.ts'
import { garbageOf, memoryStore, outcome, put, scope, type TestStore, WatchedKv } from '../objects/fixture.ts'
import type { Change, Reply } from './other-process.ts'

// Child processes run what `npm run build` compiled, because Node 20 runs no TypeScript. `npm test` builds first.
const childScript = fileURLToPath(new URL('../../dist/test/commits/other-process.js', import.meta.url))

let path: string
let made: TestStore
let child: ChildProcess

beforeEach(async () => {
  expect(existsSync(childScript), `${childScript} is missing: run npm run build first`).toBe(true)
  path = await mkdtemp(join(tmpdir(), 'holdfast-two-'))
  const kv = new WatchedKv(
    await openLmdb({
      path,
      onFatal: (error) => {
        throw error
      },
    }),
  )
  const memory = memoryStore()
  made = { ...memory, kv, backend: { ...memory.backend, kv } }
  const lock = { defaultRetention: undefined }
  await createBucket(made.backend, {
    name: 'bucket',
    owner: 'main',
    locationConstraint: undefined,
    location: 'default',
    objectLock: lock,
  })
  child = fork(childScript, [path], { execArgv: [] })
  expect(await nextReply()).toEqual({ said: 'ready' })
})
afterEach(async () => {
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
  await made.kv.close()
  await rm(path, { recursive: true })
})

async function nextReply(): Promise<Reply> {
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the other process ended with ${code}`)
  })
  const [reply] = (await Promise.race([once(child, 'message'), ended])) as [Reply]
  return reply
}

/** The other process changes something, and says that it is committed. Resolves with the version's name. */
async function elsewhere(change: Change): Promise<string | undefined> {
  const reply = nextReply()
  child.send(change)
  const told = await reply
  if (told.said !== 'done' || told.code !== 'ok') throw new Error(`elsewhere: ${JSON.stringify(told)}`)
  return told.versionId
}

async function versions(): Promise<ListedVersion[]> {
  const query = { prefix: '', delimiter: '', keyMarker: undefined, versionIdMarker: undefined, max: 100 }
  return (await listVersions(made.backend, scope, query)).page.entries
}

describe('a version that another process puts under hold while it is being removed by its name', () => {
  // The newest two of the history are read in any case; what lies below is read by its name alone.
  it.each([0, 1, 2, 3, 4, 9])('stays, also with %i newer ones above it', async (above) => {
    const { versionId } = await put(made, 'key')
    for (let i = 0; i < above; i++) await put(made, 'key')
    made.kv.beforeNextCommit(() => elsewhere({ do: 'hold', key: 'key', versionId }))
    expect(await outcome(deleteObject(made.backend, scope, { key: 'key', versionId }))).toBe('AccessDenied')
    expect((await findVersion(made.backend, scope, 'key', versionId)).record).toMatchObject({
      versionId,
      attributes: { legalHold: true },
    })
    expect(await versions()).toHaveLength(above + 1)
    expect(await garbageOf(made)).toEqual([])
  })
})

describe('a key without an object that two processes change at once', () => {
  type Make = () => Promise<string | undefined>
  const here: Record<'put' | 'delete', Make> = {
    put: async () => (await put(made, 'key')).versionId,
    delete: async () => (await deleteObject(made.backend, scope, { key: 'key' })).versionId,
  }
  const kinds = { put: 'object', delete: 'marker' } as const
  const changes = ['put', 'delete'] as const
  const rows = [0, 1, 2, 3].flatMap((markers) =>
    changes.flatMap((first) => changes.map((second) => ({ markers, first, second }))),
  )
  it.each(rows)(
    'over $markers delete markers, by a $first here and a $second there: both are there, in the order of the commits',
    async ({ markers, first, second }) => {
      const before: (string | undefined)[] = []
      for (let i = 0; i < markers; i++) before.unshift(await here.delete())
      let theirs: string | undefined
      made.kv.beforeNextCommit(async () => {
        theirs = await elsewhere({ do: second, key: 'key' })
      })
      const ours = await here[first]()
      const listed = await versions()
      const ids = [ours, theirs, ...before]
      expect(listed.map(({ version, latest }) => [version.versionId, version.sequence, latest])).toEqual(
        ids.map((id, i) => [id, ids.length - i, i === 0]),
      )
      expect(listed.slice(0, 2).map(({ version }) => version.kind)).toEqual([kinds[first], kinds[second]])
    },
  )
})
