/** Compaction over a real directory: what lives is moved and reads as before, whoever reads, overwrites or dies meanwhile. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Backend } from '../../src/commits/backend.ts'
import { compactStores } from '../../src/jobs/compact.ts'
import { reclaimGarbage } from '../../src/jobs/reclaim.ts'
import { abortUpload } from '../../src/objects/abort-upload.ts'
import { deleteObject } from '../../src/objects/delete-object.ts'
import { openObject } from '../../src/objects/read-object.ts'
import { objectKey } from '../../src/records/keyspace.ts'
import type { ShardStore } from '../../src/stores/shard-store.ts'
import {
  begin,
  complete,
  describedKey,
  garbageOf,
  memoryStore,
  put,
  read,
  scope,
  sendPart,
  shardsOf,
  storeWithBucket,
  type TestStore,
} from '../objects/fixture.ts'
import { patternBytes } from '../support/seeded.ts'
import { type DirectoryTestStore, directoryStoreWithBucket, graceMs, smallBytes, storeWith } from './fixture.ts'
import { findAndRelease } from './orphans-fixture.ts'

const written = 60
const isKept = (i: number): boolean => i % 4 === 0
const data = (i: number): Buffer => patternBytes(i, smallBytes)
/** Shards of what is kept: every second one has a note of its upload beside it. */
const keptShards = written / 4 + Math.ceil(written / 8)

describe('compaction of a directory', () => {
  let made: DirectoryTestStore
  beforeEach(async () => {
    made = await directoryStoreWithBucket()
    for (let i = 0; i < written; i++) await writeOne(i)
  })
  afterEach(() => made.dispose())

  /** Every second one is the only part of an upload: both kinds of owner lie in every segment. */
  async function writeOne(i: number): Promise<void> {
    if (i % 8 !== 0) {
      await put(made, `key-${i}`, data(i))
      return
    }
    const upload = await begin(made, `key-${i}`)
    await complete(made, upload, [await sendPart(made, upload, 1, data(i))])
  }

  async function deleteMost(): Promise<void> {
    for (let i = 0; i < written; i++) {
      if (!isKept(i)) await deleteObject(made.backend, scope, { key: `key-${i}` })
    }
  }

  /** Closed batches are checked and their garbage is gone: segments are mostly dead. */
  async function makeMostlyDead(): Promise<void> {
    await deleteMost()
    made.clock.advance(graceMs)
    await findAndRelease(made.backend, { graceMs })
    made.clock.advance(graceMs)
    await reclaimGarbage(made.backend, { graceMs })
  }

  async function expectAllReadable(): Promise<void> {
    for (let i = 0; i < written; i++) {
      if (isKept(i)) expect((await read(made, `key-${i}`)).equals(data(i)), `key-${i}`).toBe(true)
    }
  }

  it('moves what lives, of objects and of parts, and gives the room back', async () => {
    await makeMostlyDead()
    const before = await made.shards.usage()
    let moved = 0
    const result = await compactStores(made.backend, { graceMs, did: (shards) => (moved += shards) })
    expect(moved).toBe(result.movedShards)
    expect(result.removedBatches).toBeGreaterThanOrEqual(2)
    expect(result.movedShards).toBeGreaterThanOrEqual(8)
    expect(result.freedBytes).toBeGreaterThan(0)
    expect((await made.shards.usage()).usedBytes).toBeLessThan(before.usedBytes ?? 0)
    await expectAllReadable()
    expect(await shardsOf(made)).toHaveLength(keptShards)

    made.clock.advance(graceMs)
    await reclaimGarbage(made.backend, { graceMs })
    await expectAllReadable()
    expect(await shardsOf(made)).toHaveLength(keptShards)
    expect(await garbageOf(made)).toEqual([])
  })

  it('changes nothing of an object but where it lies', async () => {
    await makeMostlyDead()
    const open = (key: string) =>
      openObject(made.backend, scope, { key }, ({ size }) => ({ range: { start: 0, end: size } }))
    const { data: before, ...rest } = (await open('key-4')).record
    await compactStores(made.backend, { graceMs })
    const { data: after, ...restAfter } = (await open('key-4')).record
    expect(restAfter).toEqual(rest)
    expect(after).not.toEqual(before)
  })

  it('leaves in place the garbage that still waits for its grace', async () => {
    await makeMostlyDead()
    await deleteObject(made.backend, scope, { key: 'key-4' })
    await compactStores(made.backend, { graceMs })
    const keys = (await shardsOf(made)).map(({ description }) => describedKey(description))
    expect(keys).toContain('key-4')
    expect(keys).toHaveLength(keptShards)
  })

  it.each([
    ['an object', 'key-4'],
    ['a part', 'key-8'],
  ])('a GET of %s that looked it up before it moved finds it where it is now', async (_what, key) => {
    await makeMostlyDead()
    const { blobs } = made.backend
    let tries = 0
    const backend: Backend = {
      ...made.backend,
      blobs: {
        ...blobs,
        read: async (manifest, range) => {
          tries++
          if (tries === 1) expect((await compactStores(made.backend, { graceMs })).removedBatches).toBeGreaterThan(0)
          return blobs.read(manifest, range)
        },
      },
    }
    const { body } = await openObject(backend, scope, { key }, ({ size }) => ({ range: { start: 0, end: size } }))
    expect((await body.read()).equals(data(Number(key.split('-')[1])))).toBe(true)
    expect(tries).toBe(2)
  })

  it('a GET that has opened its object reads it to the end while it moves', async () => {
    await makeMostlyDead()
    const opened = await openObject(made.backend, scope, { key: 'key-4' }, ({ size }) => ({
      range: { start: 0, end: size },
    }))
    await compactStores(made.backend, { graceMs })
    expect((await opened.body.read()).equals(data(4))).toBe(true)
  })

  it('loses to whoever overwrites meanwhile: the new object stays, and no copy of the old', async () => {
    await makeMostlyDead()
    made.kv.beforeCommitOf(objectKey('bucket', 'key-4'), () => put(made, 'key-4', 'new'))
    await compactStores(made.backend, { graceMs })
    expect((await read(made, 'key-4')).toString()).toBe('new')
    expect(await shardsOf(made)).toHaveLength(keptShards + 1)
    made.clock.advance(graceMs)
    await reclaimGarbage(made.backend, { graceMs })
    await compactStores(made.backend, { graceMs })
    expect(await shardsOf(made)).toHaveLength(keptShards)
    for (let i = 8; i < written; i += 4) expect((await read(made, `key-${i}`)).equals(data(i))).toBe(true)
  })

  it('with reads, writes and deletions beside it leaves every object whole', async () => {
    await makeMostlyDead()
    const keys = Array.from({ length: written / 4 }, (_, i) => i * 4)
    await Promise.all([
      compactStores(made.backend, { graceMs }),
      ...keys.map(async (i) => {
        if (i % 3 === 0) await put(made, `key-${i}`, data(i))
        expect((await read(made, `key-${i}`)).equals(data(i))).toBe(true)
      }),
    ])
    await expectAllReadable()
  })
})

/** A store whose process dies in every compaction: the copies are made and referenced, and what they replace is still there. */
function dyingInCompaction(shards: ShardStore): ShardStore {
  return storeWith(shards, {
    compact: async ({ move }) => {
      const found = []
      for await (const shard of shards.list()) found.push(shard)
      for (const shard of found) await move(shard)
      throw new Error('killed')
    },
  })
}

describe('a crash between moving a shard and dropping the old one', () => {
  function crashing(made: TestStore): Backend {
    const stores = [dyingInCompaction(made.shards)]
    return { ...made.backend, blobs: { ...made.backend.blobs, stores } }
  }

  it('leaves no copy behind once the grace is over', async () => {
    const made = await storeWithBucket()
    await put(made, 'key', 'data')
    const upload = await begin(made, 'parts')
    const part = await sendPart(made, upload, 1, 'part')
    await complete(made, upload, [part])
    await expect(compactStores(crashing(made), { graceMs })).rejects.toThrow('killed')
    // The object, the part, and the note of its upload.
    expect(await shardsOf(made)).toHaveLength(6)
    expect((await read(made, 'key')).toString()).toBe('data')

    expect(await reclaimGarbage(made.backend, { graceMs })).toBe(0)
    made.clock.advance(graceMs)
    expect(await reclaimGarbage(made.backend, { graceMs })).toBe(3)
    expect(await shardsOf(made)).toHaveLength(3)
    expect((await read(made, 'key')).toString()).toBe('data')
    expect((await read(made, 'parts')).toString()).toBe('part')
  })

  it('or before its reference is swapped leaves an orphan like any other', async () => {
    const made = await storeWithBucket()
    await put(made, 'key', 'data')
    made.kv.beforeNextCommit(() => Promise.reject(new Error('killed in the commit')))
    await expect(compactStores(crashing(made), { graceMs })).rejects.toThrow('killed in the commit')
    expect(await shardsOf(made)).toHaveLength(2)
    await made.shards.compact({ graceMs, move: async () => false })
    made.clock.advance(graceMs)
    expect(await findAndRelease(made.backend, { graceMs })).toBe(1)
    made.clock.advance(graceMs)
    await reclaimGarbage(made.backend, { graceMs })
    expect(await shardsOf(made)).toHaveLength(1)
    expect((await read(made, 'key')).toString()).toBe('data')
  })

  it('does not move what nobody references', async () => {
    const made = await storeWithBucket()
    const upload = await begin(made, 'key')
    await sendPart(made, upload, 1, 'data')
    await abortUpload(made.backend, scope, upload)
    made.clock.advance(graceMs)
    await reclaimGarbage(made.backend, { graceMs })
    await put(made, 'gone')
    await deleteObject(made.backend, scope, { key: 'gone' })
    await expect(compactStores(crashing(made), { graceMs })).rejects.toThrow('killed')
    expect(await shardsOf(made)).toHaveLength(1)
    expect(await garbageOf(made)).toHaveLength(1)
  })
})

it('of a store without anything does nothing', async () => {
  const made = memoryStore()
  expect(await compactStores(made.backend, { graceMs })).toEqual({ removedBatches: 0, movedShards: 0, freedBytes: 0 })
})
