/** A bucket moved between locations: what is written again and what is not, what stays as it was, and what a crash, a late write or a lost disk does. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readLabel } from '../../../src/blobs/shard-label.ts'
import { moveQueued } from '../../../src/jobs/moves/queued-moves.ts'
import { reclaimGarbage } from '../../../src/jobs/reclaim.ts'
import { repairBlobs } from '../../../src/jobs/repairing/repair.ts'
import { limits } from '../../../src/limits.ts'
import { changeBucket, createBucket, deleteBucket, findBucket } from '../../../src/objects/buckets.ts'
import { setLegalHold, setTags } from '../../../src/objects/change-version.ts'
import { deleteObject } from '../../../src/objects/delete-object.ts'
import { findVersion } from '../../../src/objects/find-version.ts'
import { historyOfBucket, ObjectKeys, objectKey, partKey } from '../../../src/records/keyspace.ts'
import { damages, mountAgain, spoil, unmount } from '../../blobs/disks.ts'
import { modeNames, putEncrypted, readEncrypted } from '../../objects/encrypted.ts'
import { begin, complete, garbageOf, memoryStore, outcome, put, read, scope, sendPart } from '../../objects/fixture.ts'
import { patternBytes } from '../../support/seeded.ts'
import { pieces } from '../disk-fixture.ts'
import { type MovableStore, movableStore, moved, usualLocations } from '../move-fixture.ts'
import { waitingClock } from '../waiting-clock.ts'

let made: MovableStore
beforeEach(async () => {
  made = await movableStore()
})
afterEach(() => made.dispose())

const small = patternBytes(1, 2_000)
const large = patternBytes(2, 40_000)

const shapesOf = async (store = made): Promise<string[]> =>
  (await store.manifests())
    .map((lies) => `${lies.location} ${lies.locationVersion} ${lies.scheme} ${lies.shards.length}`)
    .sort()

const versioned = () =>
  changeBucket(made.backend, scope, (bucket) => ({
    ...bucket,
    versioning: 'enabled',
    objectLock: { defaultRetention: undefined },
  }))

async function completed(key: string, bytes: Buffer): Promise<void> {
  const upload = await begin(made, key)
  await complete(made, upload, [await sendPart(made, upload, 1, bytes)])
}

async function descriptions(): Promise<Buffer[]> {
  const shards = (await made.manifests()).flatMap((manifest) => manifest.shards)
  return Promise.all(shards.map(({ storeId, id }) => made.disks.of(storeId).store.description(id)))
}

const recordOf = async (key: string, versionId?: string) =>
  (await findVersion(made.backend, scope, key, versionId)).record

describe('a move', () => {
  it('lays current versions, older ones and parts as the location asks, and leaves records otherwise alone', async () => {
    await versioned()
    const older = await put(made, 'a', small)
    await put(made, 'a', large)
    await put(made, 'empty', '')
    await completed('whole', large)
    await sendPart(made, await begin(made, 'open'), 1, large)
    await setTags(made.backend, scope, { key: 'a' }, [{ key: 'k', value: 'v' }])
    await setLegalHold(made.backend, scope, { key: 'a' }, true)
    const before = [await recordOf('a'), await recordOf('a', older.versionId), await recordOf('whole')]

    expect(await moved(made, 'striped')).toMatchObject({
      state: 'done',
      // Beside the part lies the note that tells of it.
      progress: { done: 122_069, total: 122_069, counts: { moved: 5, unreadable: 0 } },
    })
    expect(await shapesOf()).toEqual([...Array(3).fill('striped 1 erasure 3'), ...Array(3).fill('striped 1 replica 2')])
    const after = [await recordOf('a'), await recordOf('a', older.versionId), await recordOf('whole')]
    for (const [i, record] of after.entries()) {
      expect({ ...record, data: undefined }).toEqual({ ...before[i], data: undefined })
    }
    expect(await read(made, 'a')).toEqual(large)
    expect(await read(made, 'empty')).toHaveLength(0)
    expect(await read(made, 'whole')).toEqual(large)
    const bucket = await findBucket(made.backend, scope)
    expect(bucket).toMatchObject({ location: 'striped', locationConstraint: 'striped' })
    expect(bucket.moving).toBeUndefined()

    // What shards say of themselves is what was said when they were written: nothing of it is an orphan, or lost.
    made.clock.advance(7_200_000)
    expect(await reclaimGarbage(made.backend, { graceMs: 3_600_000 })).toBe(6)
    expect(await shardsIn(0)).toBe(0)
    expect(await read(made, 'a')).toEqual(large)
  })

  it('does nothing the second time', async () => {
    await put(made, 'a', large)
    await moved(made, 'pair')
    const before = await made.manifests()
    expect(await moved(made, 'pair')).toMatchObject({ state: 'done', progress: { done: 0, total: 0 } })
    expect(await made.manifests()).toEqual(before)
  })

  it('lays what lies in an older version of the location as the newest asks; what lies so already is only renamed', async () => {
    await moved(made, 'pair')
    await put(made, 'a', large)
    const [before] = await made.manifests()
    const acknowledging = made.configured((stores) =>
      usualLocations(stores).map((it) => (it.name === 'pair' ? { ...it, version: 2, writeAck: 1 } : it)),
    )
    expect(await moved(acknowledging, 'pair')).toMatchObject({ state: 'done', progress: { done: 0 } })
    expect(await acknowledging.manifests()).toEqual([{ ...before, locationVersion: 2 }])
    expect(await garbageOf(made)).toEqual([])

    const elsewhere = made.configured((stores) =>
      usualLocations(stores).map((it) => (it.name === 'pair' ? { ...it, version: 3, stores: stores.slice(3, 6) } : it)),
    )
    await moved(elsewhere, 'pair')
    expect(await shapesOf()).toEqual(['pair 3 replica 2'])
    const inUse = new Set(made.disks.stores.slice(3, 6).map(({ storeId }) => storeId))
    for (const { shards } of await made.manifests()) {
      for (const { storeId } of shards) expect(inUse.has(storeId)).toBe(true)
    }
    expect(await read(elsewhere, 'a')).toEqual(large)
    // The constraint is as it was given when the bucket changed its location last.
    expect(await findBucket(made.backend, scope)).toMatchObject({ locationConstraint: 'pair' })
  })

  it('keeps the constraint of a bucket that stays in its location', async () => {
    await moved(made, 'default')
    expect((await findBucket(made.backend, scope)).locationConstraint).toBeUndefined()
  })

  it.each(modeNames)('moves sealed bytes as they are: %s', async (mode) => {
    const at = { key: 'sealed', mode }
    await putEncrypted(made.backend, at, large)
    await moved(made, 'striped')
    expect((await made.manifests()).map(({ location }) => location)).toEqual(['striped'])
    expect(await readEncrypted(made.backend, at)).toEqual(large)
  })

  it('has shards say of themselves what the first ones said', async () => {
    await put(made, 'a', large)
    const [before] = await descriptions()
    for (const to of ['striped', 'pair']) {
      await moved(made, to)
      const said = await descriptions()
      expect(said).toHaveLength(to === 'pair' ? 2 : 3)
      for (const one of said) expect(readLabel(one).description).toEqual(before)
    }
    expect((await descriptions())[0]).toEqual(before)
  })

  it('queues for repair what it could not write in full', async () => {
    await put(made, 'a', large)
    const hasty = made.configured((stores) =>
      usualLocations(stores).map((it) => (it.name === 'pair' ? { ...it, writeAck: 1 } : it)),
    )
    const away = made.disks.all.slice(1, 3)
    for (const disk of away) {
      await unmount(disk)
      await disk.store.probe()
    }
    expect(await moved(hasty, 'pair')).toMatchObject({ state: 'done' })
    expect(await shapesOf()).toEqual(['pair 1 replica 1'])
    for (const disk of away) {
      await mountAgain(disk)
      await disk.store.probe()
    }
    expect(await repairBlobs(hasty.backend)).toMatchObject({ repairedBlobs: 1 })
    expect(await shapesOf()).toEqual(['pair 1 replica 2'])
  })

  it('keeps a rate', async () => {
    for (const key of ['a', 'b', 'c']) await put(made, key, large)
    const clock = waitingClock()
    await moved(made, 'pair', { bytesPerSecond: 200_000 }, 'bucket', { clock })
    // The third waits until the others have been paid for; nobody waits for it.
    expect(clock.nowMs).toBeGreaterThanOrEqual(400)
    expect(clock.nowMs).toBeLessThan(600)
  })
})

const shardsIn = async (disk: number): Promise<number> => {
  let found = 0
  for await (const _ of made.disks.stores[disk]?.list() ?? []) found++
  return found
}

describe('while a bucket is moved', () => {
  const swapOf = (key: string, work: () => Promise<unknown>): void =>
    made.kv.beforeCommitOf(objectKey('bucket', key), work)

  it.each([
    ['changed in its tags', () => setTags(made.backend, scope, { key: 'a' }, [{ key: 'k', value: 'v' }]), large],
    ['overwritten', () => put(made, 'a', small), small],
    ['deleted', () => deleteObject(made.backend, scope, { key: 'a' }), undefined],
  ])('an object may be %s', async (_, change, left) => {
    await put(made, 'a', large)
    swapOf('a', change)
    expect(await moved(made, 'striped')).toMatchObject({ state: 'done' })
    if (left === undefined) expect(await outcome(read(made, 'a'))).toBe('NoSuchKey')
    else expect(await read(made, 'a')).toEqual(left)
    expect(await shapesOf()).toEqual(
      left === undefined ? [] : [left === large ? 'striped 1 erasure 3' : 'striped 1 replica 2'],
    )
    // What was written in vain is gone again, or garbage.
    made.clock.advance(1)
    await reclaimGarbage(made.backend, { graceMs: 0 })
    const shards = await Promise.all(made.disks.all.map((_disk, i) => shardsIn(i)))
    expect(shards.reduce((sum, count) => sum + count, 0)).toBe(left === undefined ? 0 : left === large ? 3 : 2)
  })

  it('a version may get another place', async () => {
    await versioned()
    const older = await put(made, 'a', large)
    swapOf('a', () => put(made, 'a', small))
    await moved(made, 'striped')
    expect(await shapesOf()).toEqual(['striped 1 erasure 3', 'striped 1 replica 2'])
    expect((await recordOf('a', older.versionId)).etag).toBe(older.etag)
    expect(await made.late()).toBe(0)
  })

  it('a version may change places so that no sweep ever meets it', async () => {
    await versioned()
    await completed('dodging', large)
    const range = made.kv.range.bind(made.kv)
    const [olderOnes, currentOnes] = [historyOfBucket('bucket'), new ObjectKeys('bucket').startingWith('')]
    let marker: string | undefined
    made.kv.range = async (query) => {
      const isHidden = marker !== undefined
      // Ahead of each pass it goes to where the one before has been.
      if (query.start.equals(currentOnes.start) && !isHidden) {
        marker = 'unknown yet'
        marker = (await deleteObject(made.backend, scope, { key: 'dodging' })).versionId
      } else if (query.start.equals(olderOnes.start) && isHidden) {
        const versionId = marker
        marker = undefined
        await deleteObject(made.backend, scope, { key: 'dodging', versionId })
      }
      return range(query)
    }
    expect(await moved(made, 'striped')).toMatchObject({ state: 'done' })
    made.kv.range = range
    await moveQueued(made.backend)
    // The part, and what tells of the upload's completion.
    expect(await shapesOf()).toEqual(['striped 1 erasure 3', 'striped 1 replica 2'])
  })

  it('a part may be sent again, and its upload completed', async () => {
    const upload = await begin(made, 'whole')
    await sendPart(made, upload, 1, large)
    made.kv.beforeCommitOf(partKey(upload.uploadId, 1), async () => {
      await complete(made, upload, [await sendPart(made, upload, 1, small)])
    })
    expect(await moved(made, 'striped')).toMatchObject({ state: 'done' })
    expect(await read(made, 'whole')).toEqual(small)
    // The part, and the note that tells of it.
    expect(await shapesOf()).toEqual(Array(2).fill('striped 1 replica 2'))
  })

  it('the bucket may go, and another come in its place', async () => {
    await put(made, 'a', large)
    swapOf('a', async () => {
      await deleteObject(made.backend, scope, { key: 'a' })
      await deleteBucket(made.backend, scope)
      await createBucket(made.backend, {
        name: 'bucket',
        owner: 'main',
        locationConstraint: undefined,
        location: 'default',
        objectLock: undefined,
      })
      await put(made, 'b', small)
    })
    expect(await moved(made, 'striped')).toMatchObject({ state: 'done' })
    expect(await shapesOf()).toEqual(['default 1 replica 1'])
    expect(await findBucket(made.backend, scope)).toMatchObject({ location: 'default' })
  })
})

describe('a write that began before the move', () => {
  it.each([
    ['an object', async (body: ReturnType<typeof pieces>) => void (await put(made, 'late', body)), []],
    // Its note is written after the move.
    ['a part', async (body: ReturnType<typeof pieces>) => void (await lateParts(body)), ['striped 1 replica 2']],
  ])('and ends after it is moved by the jobs: %s', async (_, write, note) => {
    let isMoved = false
    const body = pieces(patternBytes(9, 120_000), async (at) => {
      if (at < 100_000 || isMoved) return
      isMoved = true
      expect(await moved(made, 'striped')).toMatchObject({ state: 'done' })
    })
    await write(body)
    expect(await shapesOf()).toEqual(['default 1 replica 1', ...note])
    expect(await made.late()).toBe(1)
    expect(await moveQueued(made.backend)).toBe(1)
    expect(await shapesOf()).toEqual(['striped 1 erasure 3', ...note])
    expect(await made.late()).toBe(0)
    expect(await read(made, 'late')).toEqual(patternBytes(9, 120_000))
  })

  async function lateParts(body: ReturnType<typeof pieces>): Promise<void> {
    const upload = await begin(made, 'late')
    await complete(made, upload, [await sendPart(made, upload, 1, body)])
  }
})

describe('a move that is cut off', () => {
  it.each([2, 3, 4, 6, 8])('after %d commits is gone on with, and nothing is lost', async (commits) => {
    for (let i = 0; i < 4; i++) await put(made, `key-${i}`, i % 2 === 0 ? small : large)
    made.kv.failAfterCommits(commits)
    await moved(made, 'striped').catch(() => {})
    made.kv.failAfterCommits(undefined)
    for (let i = 0; i < 4; i++) expect(await read(made, `key-${i}`)).toEqual(i % 2 === 0 ? small : large)
    expect(await moved(made, 'striped')).toMatchObject({ state: 'done' })
    expect(new Set(await shapesOf())).toEqual(new Set(['striped 1 erasure 3', 'striped 1 replica 2']))
    for (let i = 0; i < 4; i++) expect(await read(made, `key-${i}`)).toEqual(i % 2 === 0 ? small : large)
  })
})

describe('a move whose stores go away', () => {
  it.each([
    ['those that it writes to', 1, 3],
    ['that which it reads from', 0, 1],
  ])('waits until they are back: %s', async (_, first, end) => {
    // Many more than are under way when the stores go.
    const count = 4 * limits.moveBlobsInFlightMax
    await put(made, 'a', large)
    for (let i = 1; i < count; i++) await put(made, `b${i}`, large)
    const away = made.disks.all.slice(first, end)
    const { start } = new ObjectKeys('bucket').startingWith('')
    const range = made.kv.range.bind(made.kv)
    let sweeps = 0
    made.kv.beforeCommitOf(objectKey('bucket', 'a'), async () => {
      for (const disk of away) {
        await unmount(disk)
        await disk.store.probe()
      }
      made.kv.range = async (query) => {
        // Some were in vain.
        if (query.start.equals(start) && ++sweeps === 3) {
          for (const disk of away) {
            await mountAgain(disk)
            await disk.store.probe()
          }
        }
        return range(query)
      }
    })
    const ended = await moved(made, 'pair')
    expect(sweeps).toBeGreaterThanOrEqual(3)
    expect(ended).toMatchObject({ state: 'done' })
    expect(await shapesOf()).toEqual(Array(count).fill('pair 1 replica 2'))
    for (const key of ['a', `b${count - 1}`]) expect(await read(made, key)).toEqual(large)
  })
})

describe('a move that cannot be done', () => {
  it.each([
    ['there is no bucket nowhere', { bucket: 'nowhere' }],
    ['there is no location nowhere', { to: 'nowhere' }],
  ])('is refused: %s', async (reason, { bucket, to }: { bucket?: string; to?: string }) => {
    await put(made, 'a', large)
    expect(await moved(made, to ?? 'pair', {}, bucket)).toMatchObject({ state: 'failed', reason })
    expect(await findBucket(made.backend, scope)).toMatchObject({ location: 'default' })
  })

  it('leaves what a client wrote over an object while it was copied', async () => {
    await put(made, 'a', small)
    const { backend } = made
    let isFirst = true
    const copy: typeof backend.blobs.copy = async (...what) => {
      const copied = await backend.blobs.copy(...what)
      if (isFirst) {
        isFirst = false
        await put(made, 'a', large)
      }
      return copied
    }
    await moved({ ...made, backend: { ...backend, blobs: { ...backend.blobs, copy } } }, 'pair')
    expect(await read(made, 'a')).toEqual(large)
    expect(await shapesOf()).toEqual(['pair 1 replica 2'])
  })

  it('is refused while too few of the stores are there, or have room, and changes nothing', async () => {
    await put(made, 'a', large)
    for (const disk of made.disks.all.slice(1, 3)) {
      await unmount(disk)
      await disk.store.probe()
    }
    expect(await moved(made, 'pair')).toMatchObject({
      state: 'failed',
      reason: expect.stringContaining(
        "location pair can't take bucket bucket: a write needs 2 durable shards, and only 1 can be placed",
      ),
    })
    const tiny = memoryStore({ clock: made.clock, bytesMax: 30_000 }).shards
    const withTiny = made.configured((stores) => [
      ...usualLocations(stores),
      { name: 'tiny', version: 1, scheme: 'replica', stores: [tiny] },
    ])
    expect(await moved(withTiny, 'tiny')).toMatchObject({
      state: 'failed',
      reason:
        "location tiny can't take bucket bucket: its stores have to take 40000 bytes, and have room for 30000 of them",
    })
    expect(await findBucket(made.backend, scope)).toMatchObject({ location: 'default' })
    expect(await shapesOf()).toEqual(['default 1 replica 1'])
  })

  it.each(damages)('leaves a blob where it is that is %s, moves the others, and says so', async (damage) => {
    await put(made, 'a', large)
    await put(made, 'b', large)
    const [disk] = made.disks.all
    const [manifest] = await made.manifests()
    const [shard] = manifest?.shards ?? []
    if (disk === undefined || shard === undefined) throw new Error('nothing was written')
    await spoil(disk, shard, damage, 0.5)
    expect(await moved(made, 'striped')).toMatchObject({
      state: 'failed',
      reason: expect.stringContaining("1 blobs can't be read, and stay where they are: "),
      progress: { counts: { moved: 1, unreadable: 1 } },
    })
    expect(await shapesOf()).toEqual(['default 1 replica 1', 'striped 1 erasure 3'])
    expect(await garbageOf(made)).toHaveLength(1)
    // New data goes there all the same, and once the damaged object is gone another move ends well.
    await put(made, 'a', small)
    expect(await moved(made, 'striped')).toMatchObject({ state: 'done' })
  })
})
