/** Copies on several disks: whatever is lost or damaged while one copy is left, what is read is right, and repair makes the copies whole again. */
import * as fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { repairPut } from '../../../src/commits/repair-queue.ts'
import { reclaimGarbage } from '../../../src/jobs/reclaim.ts'
import { BackgroundRepair } from '../../../src/jobs/repairing/background-repair.ts'
import { repairBlobs } from '../../../src/jobs/repairing/repair.ts'
import { startJobs } from '../../../src/jobs/runner.ts'
import { deleteObject } from '../../../src/objects/delete-object.ts'
import { openObject } from '../../../src/objects/read-object.ts'
import { type Disk, damages, exchange, type Fault, mountAgain, mountEmpty, spoil, unmount } from '../../blobs/disks.ts'
import { begin, complete, garbageOf, outcome, put, read, scope, sendPart } from '../../objects/fixture.ts'
import { filesBelow } from '../../stores/directory/opened-store.ts'
import { patternBytes } from '../../support/seeded.ts'
import { type DiskStore, pieces, replicaStore } from '../disk-fixture.ts'
import { graceMs } from '../fixture.ts'
import { findAndRelease } from '../orphans-fixture.ts'

let made: DiskStore
afterEach(() => made.dispose())

const diskOf = (storeId: string) => made.disks.of(storeId)
/** Small ones and those of middle size share segments, large ones have files of their own. */
const sizes = [0, 1, 900, 2999, 10_000, 262_144, 262_145, 400_000, 1_048_577]

describe.each([2, 3])('%i copies', (copies) => {
  it('any copies but one lost or damaged: reads are right, and repair makes them whole, byte for byte', async () => {
    made = await replicaStore({ disks: copies + 1, copies })
    for (const size of sizes) await put(made, `of-${size}`, pieces(patternBytes(size, size)))
    const harm = fc.record({
      // Of an empty blob there is nothing that a read could miss.
      size: fc.constantFrom(...sizes.slice(1)),
      spared: fc.nat({ max: copies - 1 }),
      damage: fc.constantFrom(...damages),
      at: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
      from: fc.double({ min: 0, max: 1, noNaN: true }),
    })
    await fc.assert(
      fc.asyncProperty(harm, async ({ size, spared, damage, at, from }) => {
        const key = `of-${size}`
        const { shards } = await made.manifestOf(key)
        for (const [i, shard] of shards.entries()) {
          if (i !== spared) await spoil(diskOf(shard.storeId), shard, damage, at)
        }
        const whole = patternBytes(size, size)
        const start = Math.floor(size * from)
        expect((await read(made, key)).equals(whole), 'the whole').toBe(true)
        expect((await read(made, key, [start, size])).equals(whole.subarray(start)), `from ${start}`).toBe(true)
        // Which copy a read asks is chance: each is asked before long, and then the blob is queued.
        for (let i = 0; i < 40; i++) await read(made, key)
        await repairBlobs(made.backend)
        expect(await made.queued()).toBe(0)
        const after = await made.copiesOf(key)
        expect(new Set(after.map(({ disk }) => disk)).size).toBe(copies)
        for (const copy of after) {
          expect(copy.payload.equals(whole), copy.disk).toBe(true)
          expect(copy.description).toBe(after[0]?.description)
        }
      }),
      { numRuns: 25 },
    )
  })

  it('all copies damaged: the read fails, and nothing is thrown away', async () => {
    made = await replicaStore({ disks: copies, copies })
    await put(made, 'key', patternBytes(1, 400_000))
    const { shards } = await made.manifestOf('key')
    for (const shard of shards) await spoil(diskOf(shard.storeId), shard, 'zeroed', 0.5)
    await expect(read(made, 'key')).rejects.toThrow()
    // Queued by a commit of its own, that the reader does not wait for.
    await expect.poll(() => made.queued()).toBe(1)
    expect(await repairBlobs(made.backend)).toMatchObject({ lostBlobs: 1, repairedBlobs: 0 })
    expect(await made.manifestOf('key')).toMatchObject({ shards })
    expect(await garbageOf(made)).toEqual([])
    expect(await made.queued()).toBe(1)
  })
})

describe('repair at a rate', () => {
  it('waits for its turn, and is cut off when the runner stops', async () => {
    made = await replicaStore({ disks: 3, copies: 2 })
    await put(made, 'key', patternBytes(1, 400_000))
    const [lost] = (await made.manifestOf('key')).shards
    if (lost === undefined) throw new Error('no copy')
    await spoil(diskOf(lost.storeId), lost, 'lost', 0)
    await made.report('key')
    const paced: number[] = []
    const refusing = repairBlobs(made.backend, {
      pace: async (bytes) => {
        paced.push(bytes)
        // The copy that is left was verified, and is being copied.
        if (paced.reduce((sum, taken) => sum + taken, 0) > 400_000) throw new Error('stopped')
      },
    })
    await expect(refusing).rejects.toThrow('stopped')
    expect(await made.queued()).toBe(1)
    expect(made.disks.stores.map((store) => store.condition().state)).toEqual(['up', 'up', 'up'])

    const errors: unknown[] = []
    const begun = new Promise<void>((resolve) => {
      const tell: Fault = async (operation) => {
        if (operation === 'open') resolve()
      }
      for (const { fault } of made.disks.all) fault(tell)
    })
    const jobs = startJobs({
      backend: made.backend,
      intervalMs: 2 ** 31 - 1,
      graceMs,
      quarantineMs: 0,
      abandonedUploadMs: graceMs,
      onError: (error) => errors.push(error),
      repairBytesPerSecond: 1,
    })
    const run = jobs.runOnce()
    await begun
    await Promise.all([jobs.stop(), expect(run).rejects.toThrow('the process ends')])
    expect(errors).toEqual([])
    expect(await repairBlobs(made.backend)).toMatchObject({ repairedBlobs: 1 })
  })
})

describe('repair in the background', () => {
  it('that takes long goes on while others have their turns, once', async () => {
    made = await replicaStore({ disks: 3, copies: 2 })
    await put(made, 'key', patternBytes(1, 400_000))
    await made.report('key')
    let runs = 0
    let goOn = (): void => {}
    const held = new Promise<void>((resolve) => {
      goOn = resolve
    })
    const { restore } = made.backend.blobs
    made.backend.blobs.restore = async (...given) => {
      runs++
      await held
      return restore(...given)
    }
    const errors: unknown[] = []
    const repair = new BackgroundRepair({
      backend: made.backend,
      bytesPerSecond: undefined,
      onError: (error) => errors.push(error),
    })
    expect(await repair.run(1)).toBeUndefined()
    await expect.poll(() => runs).toBe(1)
    const { entriesRead } = made.kv
    expect(await repair.run(1)).toBeUndefined()
    expect(made.kv.entriesRead).toBe(entriesRead)
    goOn()
    expect(await repair.run(undefined)).toMatchObject({ repairedBlobs: 1 })
    expect(runs).toBe(1)

    await made.report('key')
    let fail: ((error: Error) => void) | undefined
    made.backend.blobs.restore = () =>
      new Promise((_, reject) => {
        fail = reject
      })
    expect(await repair.run(1)).toBeUndefined()
    await expect.poll(() => fail).toBeDefined()
    fail?.(new Error('no luck'))
    await repair.stop()
    // Nobody waited for it.
    expect(errors).toEqual([new Error('no luck')])
  })
})

describe('a disk that is away', () => {
  it('is left out: reads and writes go on, and what lacks a copy gets it when the disk is back', async () => {
    made = await replicaStore({ disks: 2, copies: 2, location: { writeAck: 1 } })
    await put(made, 'before', 'written before')
    const [away, here] = made.disks.all as [Disk, Disk]
    await unmount(away)
    await away.store.probe()
    expect(away.store.condition().state).toBe('out')
    for (let i = 0; i < 10; i++) expect((await read(made, 'before')).toString()).toBe('written before')

    await put(made, 'during', 'written meanwhile')
    expect(await made.manifestOf('during')).toMatchObject({ missing: 1, shards: [{ storeId: here.store.storeId }] })
    await put(made, 'large', patternBytes(1, 300_000))
    const upload = await begin(made, 'parts')
    await complete(made, upload, [await sendPart(made, upload, 1, 'a part')])
    expect(await made.queued()).toBe(4)
    // While there is no place for a copy, nothing is read for it in vain.
    let opened = 0
    here.fault(async () => {
      opened++
    })
    expect(await repairBlobs(made.backend)).toMatchObject({ degradedBlobs: 4, lostBlobs: 0 })
    expect(opened).toBe(0)
    here.fault(undefined)

    await mountAgain(away)
    await away.store.probe()
    expect(away.store.condition().state).toBe('up')
    expect(await repairBlobs(made.backend)).toMatchObject({ repairedBlobs: 4, degradedBlobs: 0 })
    expect(await made.queued()).toBe(0)
    expect((await made.copiesOf('during')).map(({ payload }) => payload.toString())).toEqual(
      Array(2).fill('written meanwhile'),
    )
    await unmount(here)
    await here.store.probe()
    expect((await read(made, 'parts')).toString()).toBe('a part')
  })

  it('is no reason to make its copies anew: they are there when it is back', async () => {
    made = await replicaStore({ disks: 3, copies: 2 })
    await put(made, 'key', 'value')
    const { shards } = await made.manifestOf('key')
    const [first] = shards
    if (first === undefined) throw new Error('no copy')
    await made.kv.commit({
      puts: [
        repairPut(made.backend, { kind: 'version', bucket: 'bucket', key: 'key', sequence: await sequenceOf('key') }),
      ],
    })
    await unmount(diskOf(first.storeId))
    // Nobody has noticed yet: its copy looks lost.
    await repairBlobs(made.backend)
    expect(await made.manifestOf('key')).toMatchObject({ shards })
    expect(await garbageOf(made)).toEqual([])
  })

  it('has its copies made anew where a new one was put in its place, also before anybody has looked there', async () => {
    made = await replicaStore({ disks: 2, copies: 2, location: { writeAck: 1 } })
    await put(made, 'key', patternBytes(1, 300_000))
    const [lost] = made.disks.all
    if (lost === undefined) throw new Error('no disk')
    const lostId = lost.store.storeId
    await unmount(lost)
    await lost.store.probe()
    await put(made, 'during', 'written meanwhile')
    await lost.replace()
    expect(lost.store.condition().state).toBe('out')
    await made.report('key')
    // No repair may take the copies on the lost disk for ones that will be back.
    await repairBlobs(made.backend)
    await lost.store.probe()
    expect(lost.store.condition().state).toBe('up')
    expect(lost.store.storeId).not.toBe(lostId)
    await repairBlobs(made.backend)
    expect(await made.queued()).toBe(0)
    for (const key of ['key', 'during']) {
      const { shards, missing } = await made.manifestOf(key)
      expect(missing).toBeUndefined()
      expect(new Set(shards.map(({ storeId }) => storeId))).toEqual(
        new Set(made.disks.stores.map((store) => store.storeId)),
      )
      expect((await made.copiesOf(key)).map(({ disk }) => disk).sort()).toEqual(['disk0', 'disk1'])
    }
    expect(made.disks.warnings).toContain('store disk0 is a new one from now on')
  })

  it('is followed by its successor when it is next looked at, and no shard of the one is taken for one of the other', async () => {
    made = await replicaStore({ disks: 2, copies: 2, location: { writeAck: 1 } })
    await put(made, 'key', patternBytes(1, 300_000))
    const [lost] = made.disks.all
    if (lost === undefined) throw new Error('no disk')
    await unmount(lost)
    await lost.replace()
    // The first look sees another store than before; the next, which of them is to be there.
    await lost.store.probe()
    await lost.store.probe()
    expect(lost.store.condition().state).toBe('up')
    for (let i = 0; i < 10; i++) expect((await read(made, 'key')).equals(patternBytes(1, 300_000))).toBe(true)
    await put(made, 'new', 'value')
    expect((await made.copiesOf('new')).map(({ disk }) => disk).sort()).toEqual(['disk0', 'disk1'])
  })

  it('is not made anew where an empty one is mounted in its place', async () => {
    made = await replicaStore({ disks: 2, copies: 2, location: { writeAck: 1 } })
    await put(made, 'key', patternBytes(1, 300_000))
    const [replaced] = made.disks.all
    if (replaced === undefined) throw new Error('no disk')
    await mountEmpty(replaced)
    await replaced.store.probe()
    expect(replaced.store.condition()).toMatchObject({ state: 'out', reason: expect.stringContaining('not mounted') })
    await put(made, 'during', patternBytes(2, 300_000))
    expect((await made.manifestOf('during')).shards).toHaveLength(1)
    await repairBlobs(made.backend)
    expect(await made.manifestOf('key')).toMatchObject({ shards: [{}, {}] })
  })

  it('is not written to, nor read, where another store is mounted', async () => {
    made = await replicaStore({ disks: 3, copies: 2 })
    for (let i = 0; i < 6; i++) await put(made, `key-${i}`, patternBytes(i, 300_000))
    const [one, other, third] = made.disks.all as [Disk, Disk, Disk]
    const held = await filesBelow(one.path)
    await exchange(one, other)
    // Before anybody has noticed: no new place is begun in what is not the store's own.
    for (let i = 0; i < 6; i++) await outcome(put(made, `too-early-${i}`, patternBytes(i, 300_000)))
    await one.store.probe()
    await other.store.probe()
    expect(one.store.condition()).toMatchObject({ state: 'out', reason: expect.stringContaining('another store') })
    expect(await outcome(put(made, 'new', 'value'))).toBe('ServiceUnavailable')
    expect(third.store.condition().state).toBe('up')
    await exchange(one, other)
    expect(await filesBelow(one.path)).toEqual(held)
    await one.store.probe()
    await other.store.probe()
    for (let i = 0; i < 6; i++) expect((await read(made, `key-${i}`)).equals(patternBytes(i, 300_000))).toBe(true)
  })

  it('keeps garbage waiting: it is deleted when the disk is back', async () => {
    made = await replicaStore({ disks: 2, copies: 2 })
    await put(made, 'key', patternBytes(1, 300_000))
    const { shards } = await made.manifestOf('key')
    const [away] = made.disks.all
    const lying = shards.find(({ storeId }) => storeId === away?.store.storeId)
    if (away === undefined || lying === undefined) throw new Error('no disk')
    await deleteObject(made.backend, scope, { key: 'key' })
    await unmount(away)
    await away.store.probe()
    made.clock.advance(graceMs + 1)
    await reclaimGarbage(made.backend, { graceMs })
    expect(await garbageOf(made)).toMatchObject([{ kind: 'blob', manifest: { shards: [lying] } }])
    await mountAgain(away)
    await away.store.probe()
    made.clock.advance(graceMs + 1)
    await reclaimGarbage(made.backend, { graceMs })
    expect(await garbageOf(made)).toEqual([])
    await expect(away.store.get(lying.id, { start: 0, end: 1 })).rejects.toThrow('not found')
  })
})

it('a read goes on with another copy where one is damaged half-way', async () => {
  made = await replicaStore({ disks: 2, copies: 2 })
  const bytes = patternBytes(1, 400_000)
  await put(made, 'key', bytes)
  const [damaged] = (await made.manifestOf('key')).shards
  if (damaged === undefined) throw new Error('no copy')
  await spoil(diskOf(damaged.storeId), damaged, 'flipped', 0.6)
  for (let i = 0; i < 20; i++) {
    expect((await read(made, 'key')).equals(bytes), 'the whole').toBe(true)
    expect((await read(made, 'key', [100_001, 399_999])).equals(bytes.subarray(100_001, 399_999)), 'a range').toBe(true)
  }
})

async function sequenceOf(key: string): Promise<number> {
  return (await openObject(made.backend, scope, { key }, () => ({ range: { start: 0, end: 0 } }))).record.sequence
}

describe('repair', () => {
  it('takes nothing of others for an orphan: every copy has its owner', async () => {
    made = await replicaStore({ disks: 3, copies: 3 })
    for (const size of sizes) await put(made, `of-${size}`, patternBytes(size, size))
    for (const { store } of made.disks.all) await store.takeOut(new Error('closed by the test'))
    for (const { store } of made.disks.all) await store.probe()
    made.clock.advance(2 * graceMs)
    expect(await findAndRelease(made.backend, { graceMs })).toBe(0)
  })

  it('loses to a client that overwrites meanwhile, and leaves nothing behind', async () => {
    made = await replicaStore({ disks: 2, copies: 2, location: { writeAck: 1 } })
    const [away] = made.disks.all
    if (away === undefined) throw new Error('no disk')
    await unmount(away)
    await away.store.probe()
    await put(made, 'key', 'old')
    await mountAgain(away)
    await away.store.probe()
    made.kv.beforeNextCommit(() => put(made, 'key', 'new'))
    await repairBlobs(made.backend)
    expect((await read(made, 'key')).toString()).toBe('new')
    await repairBlobs(made.backend)
    expect(await made.queued()).toBe(0)
    let live = 0
    for await (const _ of away.store.list()) live++
    expect(live).toBe(1)
  })

  it('makes garbage of what it replaces, and of nothing else: after the grace only the copies in use are left', async () => {
    made = await replicaStore({ disks: 3, copies: 2 })
    const whole = patternBytes(1, 400_000)
    await put(made, 'key', whole)
    const [damaged, spared] = (await made.manifestOf('key')).shards
    if (damaged === undefined || spared === undefined) throw new Error('no copy')
    await spoil(diskOf(damaged.storeId), damaged, 'flipped', 0.5)
    await made.report('key')
    expect(await repairBlobs(made.backend)).toMatchObject({ repairedBlobs: 1 })
    const { shards } = await made.manifestOf('key')
    expect(shards).toContainEqual(spared)
    expect(shards).not.toContainEqual(damaged)
    expect(await garbageOf(made)).toMatchObject([{ kind: 'blob', manifest: { shards: [damaged] } }])
    made.clock.advance(graceMs + 1)
    await reclaimGarbage(made.backend, { graceMs })
    expect(await made.liveShards()).toBe(2)
    expect((await read(made, 'key')).equals(whole)).toBe(true)
  })

  it('forgets what was deleted meanwhile', async () => {
    made = await replicaStore({ disks: 2, copies: 2, location: { writeAck: 1 } })
    const [away] = made.disks.all
    if (away === undefined) throw new Error('no disk')
    await unmount(away)
    await away.store.probe()
    await put(made, 'key', 'value')
    await deleteObject(made.backend, scope, { key: 'key' })
    expect(await repairBlobs(made.backend)).toEqual({ repairedBlobs: 0, degradedBlobs: 0, lostBlobs: 0 })
    expect(await made.queued()).toBe(0)
  })

  it('is told with 503 what can be read again once a disk is back', async () => {
    made = await replicaStore({ disks: 2, copies: 2 })
    await put(made, 'key', 'value')
    for (const disk of made.disks.all) {
      await unmount(disk)
      await disk.store.probe()
    }
    expect(await outcome(read(made, 'key'))).toBe('ServiceUnavailable')
    expect(await outcome(put(made, 'other', 'value'))).toBe('ServiceUnavailable')
  })
})
