/** Reclaiming garbage: not before the grace, shards before records, and as often as a crash makes it. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { garbagePut } from '../../src/commits/commit.ts'
import { advanceLockClock } from '../../src/commits/lock-clock.ts'
import { reclaimGarbage } from '../../src/jobs/reclaim.ts'
import { abortUpload } from '../../src/objects/abort-upload.ts'
import { changeBucket, deleteBucket } from '../../src/objects/buckets.ts'
import { deleteObject } from '../../src/objects/delete-object.ts'
import { findVersion } from '../../src/objects/find-version.ts'
import type { BlobOwner } from '../../src/records/keyspace.ts'
import type { GarbageRecord } from '../../src/records/records.ts'
import {
  begin,
  complete,
  garbageOf,
  makeBucket,
  put,
  read,
  scope,
  sendPart,
  shardsOf,
  storeWithBucket,
  type TestStore,
} from '../objects/fixture.ts'
import { graceMs, leftOver } from './fixture.ts'

const nothing = { garbage: 0, uploads: 0 }

describe('reclaiming', () => {
  it('waits for the grace, to the millisecond, and then removes what is not referenced', async () => {
    const made = await storeWithBucket()
    await put(made, 'key', 'first')
    await put(made, 'key', 'second')
    made.clock.advance(graceMs - 1)
    expect(await reclaimGarbage(made.backend, { graceMs })).toBe(0)
    expect(await shardsOf(made)).toHaveLength(2)
    made.clock.advance(1)
    expect(await reclaimGarbage(made.backend, { graceMs })).toBe(1)
    expect(await shardsOf(made)).toHaveLength(1)
    expect((await read(made, 'key')).toString()).toBe('second')
    expect(await leftOver(made)).toEqual(nothing)
    expect(await reclaimGarbage(made.backend, { graceMs })).toBe(0)
  })

  it('leaves what is younger than the grace, though older garbage goes', async () => {
    const made = await storeWithBucket()
    await put(made, 'old')
    await deleteObject(made.backend, scope, { key: 'old' })
    made.clock.advance(graceMs)
    await put(made, 'young')
    await deleteObject(made.backend, scope, { key: 'young' })
    expect(await reclaimGarbage(made.backend, { graceMs })).toBe(1)
    expect(await garbageOf(made)).toHaveLength(1)
    expect(await shardsOf(made)).toHaveLength(1)
  })

  it('takes any number of pieces', async () => {
    const made = await storeWithBucket()
    for (let i = 0; i < 600; i++) {
      await put(made, `key-${i}`)
      await deleteObject(made.backend, scope, { key: `key-${i}` })
      if (i === 520) made.clock.advance(graceMs)
    }
    expect(await reclaimGarbage(made.backend, { graceMs })).toBe(521)
    expect(await shardsOf(made)).toHaveLength(79)
    expect(await garbageOf(made)).toHaveLength(79)
  })

  it('removes the parts of an aborted upload, and their records', async () => {
    const made = await storeWithBucket()
    const upload = await begin(made, 'key')
    for (let number = 1; number <= 300; number++) await sendPart(made, upload, number, 'data')
    await abortUpload(made.backend, scope, upload)
    made.clock.advance(graceMs)
    expect(await reclaimGarbage(made.backend, { graceMs })).toBe(300)
    expect(await shardsOf(made)).toEqual([])
    expect(await leftOver(made)).toEqual(nothing)
  })

  it('removes the parts of an object only after it has gone', async () => {
    const made = await storeWithBucket()
    const upload = await begin(made, 'key')
    const kept = await sendPart(made, upload, 1, 'kept')
    await sendPart(made, upload, 2, 'not listed')
    await complete(made, upload, [kept])
    made.clock.advance(graceMs)
    expect(await reclaimGarbage(made.backend, { graceMs })).toBe(1)
    expect((await read(made, 'key')).toString()).toBe('kept')
    await deleteObject(made.backend, scope, { key: 'key' })
    made.clock.advance(graceMs)
    // The part, and the note that told of it.
    expect(await reclaimGarbage(made.backend, { graceMs })).toBe(2)
    expect(await shardsOf(made)).toEqual([])
  })

  it('ends the uploads of a bucket that is gone, whose parts then wait for their own grace', async () => {
    const made = await storeWithBucket()
    for (let i = 0; i < 300; i++) await begin(made, `key-${i}`)
    await sendPart(made, await begin(made, 'key'), 1, 'data')
    await deleteBucket(made.backend, scope)
    await makeBucket(made)
    await sendPart(made, await begin(made, 'of the new bucket'), 1, 'data')
    made.clock.advance(graceMs)
    await reclaimGarbage(made.backend, { graceMs })
    expect(await shardsOf(made)).toHaveLength(2)
    expect((await leftOver(made)).uploads).toBe(1)
    made.clock.advance(graceMs)
    expect(await reclaimGarbage(made.backend, { graceMs })).toBe(1)
    expect(await shardsOf(made)).toHaveLength(1)
    expect(await leftOver(made)).toEqual({ garbage: 0, uploads: 1 })
  })
})

describe('garbage that a record references after all, as only a fault could make it', () => {
  const current = async (made: TestStore) => (await findVersion(made.backend, scope, 'key', undefined)).record
  const owner = (sequence: number): BlobOwner => ({ kind: 'version', bucket: 'bucket', key: 'key', sequence })
  async function reclaimed(made: TestStore, garbage: GarbageRecord): Promise<GarbageRecord[]> {
    await made.backend.kv.commit({ puts: [garbagePut(made.backend, garbage)] })
    made.clock.advance(graceMs)
    const kept: GarbageRecord[] = []
    expect(await reclaimGarbage(made.backend, { graceMs, onReferenced: (record) => kept.push(record) })).toBe(0)
    expect(await leftOver(made)).toMatchObject({ garbage: 0 })
    return kept
  }

  it.each([['now'], ['of its history']])('is kept, and told of: the blob of a version, %s', async (when) => {
    const made = await storeWithBucket()
    await changeBucket(made.backend, scope, (bucket) => ({ ...bucket, versioning: 'enabled' }))
    await put(made, 'key', 'first')
    const { data, sequence } = await current(made)
    if (data.kind !== 'blob') throw new Error('small objects are one blob')
    if (when !== 'now') await put(made, 'key', 'second')
    const garbage: GarbageRecord = { kind: 'blob', manifest: data.manifest, owner: owner(sequence) }
    expect(await reclaimed(made, garbage)).toEqual([garbage])
    expect(await shardsOf(made)).toHaveLength(when === 'now' ? 1 : 2)
  })

  it('is kept, and told of: the parts of an object', async () => {
    const made = await storeWithBucket()
    const upload = await begin(made, 'key')
    await complete(made, upload, [await sendPart(made, upload, 1, 'kept')])
    const { sequence } = await current(made)
    const { uploadId } = upload
    const garbage: GarbageRecord = { kind: 'parts', uploadId, owner: owner(sequence) }
    expect(await reclaimed(made, garbage)).toEqual([garbage])
    expect((await read(made, 'key')).toString()).toBe('kept')
  })

  it('is kept, and told of: the parts of an upload that is open', async () => {
    const made = await storeWithBucket()
    const upload = await begin(made, 'key')
    const part = await sendPart(made, upload, 1, 'kept')
    expect(await reclaimed(made, { kind: 'parts', uploadId: upload.uploadId })).toHaveLength(1)
    await complete(made, upload, [part])
    expect((await read(made, 'key')).toString()).toBe('kept')
  })
})

describe('a crash while reclaiming', () => {
  it('before the shards are gone loses no record of them', async () => {
    const made = await storeWithBucket()
    await put(made, 'key', 'first')
    await put(made, 'key', 'second')
    made.clock.advance(graceMs)
    const failing = { ...made.backend.blobs, remove: () => Promise.reject(new Error('the disk is gone')) }
    const store = { ...made.backend, blobs: failing }
    await expect(reclaimGarbage(store, { graceMs })).rejects.toThrow('the disk is gone')
    expect(await garbageOf(made)).toHaveLength(1)
    expect(await reclaimGarbage(made.backend, { graceMs })).toBe(1)
  })

  it('between the shards and their records is made good by the next run', async () => {
    const made = await storeWithBucket()
    await put(made, 'key', 'first')
    await put(made, 'key', 'second')
    made.clock.advance(graceMs)
    await advanceLockClock(made.backend)
    made.kv.beforeNextCommit(() => Promise.reject(new Error('killed')))
    await expect(reclaimGarbage(made.backend, { graceMs })).rejects.toThrow('killed')
    expect(await shardsOf(made)).toHaveLength(1)
    expect(await garbageOf(made)).toHaveLength(1)
    await reclaimGarbage(made.backend, { graceMs })
    expect(await leftOver(made)).toEqual(nothing)
    expect((await read(made, 'key')).toString()).toBe('second')
  })

  it('anywhere, any number of times, ends in the same state and never touches what is referenced', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(3), { maxLength: 6 }), async (crashes) => {
        const made = await storeWithBucket()
        await put(made, 'key', 'first')
        await put(made, 'key', 'second')
        const upload = await begin(made, 'parts')
        await complete(made, upload, [await sendPart(made, upload, 1, 'part')])
        const gone = await begin(made, 'gone')
        await sendPart(made, gone, 1, 'data')
        await abortUpload(made.backend, scope, gone)
        made.clock.advance(graceMs)
        for (const commits of crashes) {
          made.kv.failAfterCommits(commits)
          await reclaimGarbage(made.backend, { graceMs }).catch(() => {})
        }
        made.kv.failAfterCommits(undefined)
        await reclaimGarbage(made.backend, { graceMs })
        expect(await shardsOf(made)).toHaveLength(3)
        expect(await garbageOf(made)).toEqual([])
        expect((await read(made, 'key')).toString()).toBe('second')
        expect((await read(made, 'parts')).toString()).toBe('part')
      }),
      { numRuns: 40 },
    )
  })
})
