/** Orphans: what a crash left without a reference is found, and what is referenced is never taken for one. */
import { describe, expect, it } from 'vitest'
import { bytesSource } from '../../../src/byte-source.ts'
import { reclaimGarbage } from '../../../src/jobs/reclaim.ts'
import { deleteBucket } from '../../../src/objects/buckets.ts'
import { deleteObject } from '../../../src/objects/delete-object.ts'
import {
  begin,
  complete,
  describedKey,
  garbageOf,
  makeBucket,
  put,
  read,
  scope,
  sendPart,
  shardsOf,
  storeWithBucket,
  type TestStore,
} from '../../objects/fixture.ts'
import { directoryStoreWithBucket, graceMs, largeBytes, smallBytes, storeWith } from '../fixture.ts'
import { findAndRelease } from '../orphans-fixture.ts'

/** A write that dies when its bytes are durable, before its commit. */
async function dieBeforeCommit(made: TestStore, write: () => Promise<unknown>): Promise<void> {
  made.kv.beforeNextCommit(() => Promise.reject(new Error('killed')))
  await expect(write()).rejects.toThrow('killed')
}

/** The memory store ends its batch when compaction comes by. */
async function endBatches(made: TestStore): Promise<void> {
  await made.shards.compact({ graceMs, move: async () => false })
  made.clock.advance(graceMs)
}

async function removeOrphans(made: TestStore, did?: (shards: number) => void): Promise<number> {
  await endBatches(made)
  const found = await findAndRelease(made.backend, { graceMs, ...(did === undefined ? {} : { did }) })
  made.clock.advance(graceMs)
  await reclaimGarbage(made.backend, { graceMs })
  return found
}

describe('the search for orphans', () => {
  it('finds what was written and never committed, and nothing that is referenced', async () => {
    const made = await storeWithBucket()
    await put(made, 'key', 'kept')
    await dieBeforeCommit(made, () => put(made, 'key', 'lost'))
    await dieBeforeCommit(made, () => put(made, 'new', 'lost'))
    const upload = await begin(made, 'parts')
    const part = await sendPart(made, upload, 1, 'kept part')
    await dieBeforeCommit(made, () => sendPart(made, upload, 1, 'lost part'))
    await dieBeforeCommit(made, () => sendPart(made, upload, 2, 'lost part'))
    await dieBeforeCommit(made, () => complete(made, upload, [part]))
    const open = await begin(made, 'open')
    await sendPart(made, open, 1, 'kept too')

    expect(await shardsOf(made)).toHaveLength(8)
    let searched = 0
    expect(await removeOrphans(made, (shards) => (searched += shards))).toBe(5)
    expect(searched).toBe(8)
    expect(await shardsOf(made)).toHaveLength(3)
    expect((await read(made, 'key')).toString()).toBe('kept')
    await complete(made, upload, [part])
    expect((await read(made, 'parts')).toString()).toBe('kept part')
    expect(await garbageOf(made)).toEqual([])
  })

  it('finds the write of an object whose bucket came again', async () => {
    const made = await storeWithBucket()
    await dieBeforeCommit(made, () => put(made, 'key', 'lost'))
    await deleteBucket(made.backend, scope)
    await makeBucket(made)
    await put(made, 'key', 'kept')
    expect(await removeOrphans(made)).toBe(1)
    expect(await shardsOf(made)).toHaveLength(1)
    expect((await read(made, 'key')).toString()).toBe('kept')
  })

  it('leaves batches that are open, and batches younger than the grace', async () => {
    const made = await storeWithBucket()
    await dieBeforeCommit(made, () => put(made, 'key', 'lost'))
    made.clock.advance(graceMs)
    expect(await findAndRelease(made.backend, { graceMs })).toBe(0)
    await made.shards.compact({ graceMs, move: async () => false })
    expect(await findAndRelease(made.backend, { graceMs: graceMs + 1 })).toBe(0)
    expect(await made.shards.unchecked()).toHaveLength(1)
    expect(await findAndRelease(made.backend, { graceMs })).toBe(1)
  })

  it('walks each batch once', async () => {
    const made = await storeWithBucket()
    await dieBeforeCommit(made, () => put(made, 'key', 'lost'))
    await endBatches(made)
    expect(await findAndRelease(made.backend, { graceMs })).toBe(1)
    expect(await made.shards.unchecked()).toEqual([])
    expect(await findAndRelease(made.backend, { graceMs })).toBe(0)
  })

  it('takes what a request overwrote for garbage once or twice, and removes it without harm', async () => {
    const made = await storeWithBucket()
    await put(made, 'key', 'first')
    await put(made, 'key', 'second')
    await put(made, 'gone')
    await deleteObject(made.backend, scope, { key: 'gone' })
    await removeOrphans(made)
    expect(await shardsOf(made)).toHaveLength(1)
    expect((await read(made, 'key')).toString()).toBe('second')
    expect(await garbageOf(made)).toEqual([])
  })

  it('that crashes before it has noted that a batch is clear walks it again', async () => {
    const made = await storeWithBucket()
    await put(made, 'key', 'kept')
    await dieBeforeCommit(made, () => put(made, 'key', 'lost'))
    await endBatches(made)
    const shards = storeWith(made.shards, { markChecked: () => Promise.reject(new Error('killed')) })
    const store = { ...made.backend, blobs: { ...made.backend.blobs, stores: [shards] } }
    await expect(findAndRelease(store, { graceMs })).rejects.toThrow('killed')
    expect(await removeOrphans(made)).toBe(1)
    expect(await shardsOf(made)).toHaveLength(1)
  })

  it('goes through more than fit one commit', async () => {
    const made = await storeWithBucket()
    const owner = { kind: 'object', bucket: 'bucket', bucketId: 'b', key: 'lost', sequence: 1 }
    const description = Buffer.from(JSON.stringify({ ...owner, etag: 'e', writtenMs: 1 }))
    for (let i = 0; i < 600; i++) {
      await made.shards.put({ payload: bytesSource(Buffer.from('x')), describe: () => description })
    }
    await put(made, 'lost', 'kept')
    expect(await removeOrphans(made)).toBe(600)
    expect((await read(made, 'lost')).toString()).toBe('kept')
  })

  it('works on a directory: in segments and in files of their own', async () => {
    const made = await directoryStoreWithBucket()
    try {
      for (let i = 0; i < 30; i++) {
        const size = i % 5 === 0 ? largeBytes : smallBytes
        await put(made, `kept-${i}`, Buffer.alloc(size, i))
        await dieBeforeCommit(made, () => put(made, `lost-${i}`, Buffer.alloc(size, i)))
      }
      made.clock.advance(graceMs)
      // A full segment is closed while writes go on: what is closed by the time of the search is what it marks as checked.
      const inBatches = await Promise.all(
        (await made.shards.unchecked()).map(async ({ id }) => {
          const keys: string[] = []
          for await (const { description } of made.shards.list(id)) keys.push(describedKey(description))
          return { id, lost: keys.filter((key) => key.startsWith('lost')).length }
        }),
      )
      const openBatches = async (): Promise<number> =>
        (await made.shards.unchecked()).filter(({ closed }) => !closed).length
      await expect.poll(openBatches).toBeLessThanOrEqual(2)
      const found = await findAndRelease(made.backend, { graceMs })
      const unchecked = new Set((await made.shards.unchecked()).map(({ id }) => id))
      const lost = inBatches.filter(({ id }) => !unchecked.has(id)).reduce((sum, batch) => sum + batch.lost, 0)
      expect(lost).toBeGreaterThan(20)
      expect(found).toBe(lost)
      made.clock.advance(graceMs)
      expect(await reclaimGarbage(made.backend, { graceMs })).toBe(lost)
      expect(await shardsOf(made)).toHaveLength(60 - lost)
      for (let i = 0; i < 30; i++) {
        expect(await read(made, `kept-${i}`)).toEqual(Buffer.alloc(i % 5 === 0 ? largeBytes : smallBytes, i))
      }
    } finally {
      await made.dispose()
    }
  })

  it('keeps what does not say whose it is', async () => {
    const made = await storeWithBucket()
    await made.shards.put({ payload: bytesSource(Buffer.from('x')), describe: () => Buffer.from('not ours') })
    await made.shards.compact({ graceMs: 0, move: async () => false })
    expect(await findAndRelease(made.backend, { graceMs: 0 })).toBe(0)
    expect(await shardsOf(made)).toHaveLength(1)
  })
})
