/** Shards of an erasure code on several disks: whatever is lost or damaged of as many as may be, what is read is right, and repair gives back the very shards. */
import * as fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import type { ShardPlace } from '../../src/blobs/manifest.ts'
import { compactStores } from '../../src/jobs/compact.ts'
import { reclaimGarbage } from '../../src/jobs/reclaim.ts'
import { repairBlobs } from '../../src/jobs/repairing/repair.ts'
import { limits } from '../../src/limits.ts'
import { deleteObject } from '../../src/objects/delete-object.ts'
import { type Disk, damages, exchange, mountAgain, spoil, swap, unmount } from '../blobs/disks.ts'
import { garbageOf, outcome, put, read, scope } from '../objects/fixture.ts'
import { patternBytes } from '../support/seeded.ts'
import { type DiskStore, erasureStore, pieces } from './disk-fixture.ts'
import { graceMs } from './fixture.ts'
import { findAndRelease } from './orphans-fixture.ts'

let made: DiskStore
afterEach(() => made.dispose())

const diskOf = (storeId: string) => made.disks.of(storeId)
const unit = limits.stripeUnitBytes
const schemes: [number, number][] = [
  [1, 1],
  [2, 1],
  [4, 2],
  [8, 3],
]

/** Around the borders of units and stripes, and anywhere. */
const sizesOf = (data: number): number[] => [
  0,
  1,
  data,
  unit - 1,
  unit,
  unit + 1,
  data * unit - 1,
  data * unit,
  data * unit + 1,
  2 * data * unit + unit + 77,
  Math.min(3_000_000, 5 * data * unit + 12_345),
]

interface Harm {
  size: number
  /** Which shards, how, and where. */
  of: readonly number[]
  damage: (typeof damages)[number]
  at: number
  ranges: readonly [number, number][]
}

const harms = (data: number, parity: number, count: number): fc.Arbitrary<Harm> =>
  fc.record({
    size: fc.constantFrom(...sizesOf(data).slice(1)),
    of: fc.shuffledSubarray([...Array(data + parity).keys()], { minLength: count, maxLength: count }),
    damage: fc.constantFrom(...damages),
    at: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
    ranges: fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true })), {
      minLength: 3,
      maxLength: 3,
    }),
  })

async function inflict(key: string, { of, damage, at }: Harm): Promise<void> {
  const { shards } = await made.manifestOf(key)
  for (const shard of shards) {
    if (shard.index !== undefined && of.includes(shard.index)) await spoil(diskOf(shard.storeId), shard, damage, at)
  }
}

describe.each(schemes)('%i + %i shards', (data, parity) => {
  it('any of as many as parity lost or damaged: reads are right, and repair gives back the very shards', async () => {
    made = await erasureStore({ disks: data + parity + 1, data, parity })
    const before = new Map<string, string[]>()
    for (const size of sizesOf(data)) {
      const key = `of-${size}`
      await put(made, key, pieces(patternBytes(size, size)))
      const shards = await made.copiesOf(key)
      expect(new Set(shards.map(({ disk }) => disk)).size).toBe(data + parity)
      before.set(
        key,
        shards.map(({ payload, description }) => payload.toString('latin1') + description),
      )
    }
    expect((await read(made, 'of-0')).length).toBe(0)
    await fc.assert(
      fc.asyncProperty(harms(data, parity, parity), async (harm) => {
        const { size } = harm
        const key = `of-${size}`
        await inflict(key, harm)
        const whole = patternBytes(size, size)
        expect((await read(made, key)).equals(whole), 'the whole').toBe(true)
        for (const [one, other] of harm.ranges) {
          const [start, end] = [one, other].map((part) => Math.floor(part * size)).sort((a, b) => a - b) as [
            number,
            number,
          ]
          expect((await read(made, key, [start, end])).equals(whole.subarray(start, end)), `${start}-${end}`).toBe(true)
        }
        // Parity is not read while data is there: only who looks for it finds that it is gone.
        await made.report(key)
        expect(await repairBlobs(made.backend)).toMatchObject({ repairedBlobs: 1, degradedBlobs: 0, lostBlobs: 0 })
        const after = await made.copiesOf(key)
        const same = after.map(({ payload, description }, i) =>
          Object.is(payload.toString('latin1') + description, before.get(key)?.[i]),
        )
        expect(same).toEqual(Array(data + parity).fill(true))
        expect(new Set(after.map(({ disk }) => disk)).size).toBe(data + parity)
      }),
      { numRuns: 12 },
    )
  })

  it('one more than parity lost: no byte that is wrong, and nothing is thrown away', async () => {
    made = await erasureStore({ disks: data + parity, data, parity })
    const size = 2 * data * unit + 5
    await put(made, 'key', pieces(patternBytes(1, size)))
    const { shards } = await made.manifestOf('key')
    await inflict('key', {
      size,
      of: [...Array(parity + 1).keys()],
      damage: 'zeroed',
      at: 0.3,
      ranges: [],
    })
    await expect(read(made, 'key')).rejects.toThrow()
    await made.report('key')
    expect(await repairBlobs(made.backend)).toMatchObject({ lostBlobs: 1, repairedBlobs: 0 })
    expect(await made.manifestOf('key')).toMatchObject({ shards })
    expect(await garbageOf(made)).toEqual([])
  })
})

describe('4 + 2 shards', () => {
  const size = 3 * 4 * unit + 1_000
  const bytes = patternBytes(3, size)

  it('two disks away: reads and writes go on, what lacks shards gets them when they are back', async () => {
    made = await erasureStore({ disks: 6, data: 4, parity: 2, location: { writeAck: 4 } })
    await put(made, 'before', pieces(bytes))
    const [one, other, third] = made.disks.all as [Disk, Disk, Disk]
    for (const disk of [one, other]) await unmount(disk)
    // Also before anybody has noticed.
    expect((await read(made, 'before')).equals(bytes)).toBe(true)
    for (const disk of [one, other]) await disk.store.probe()
    expect((await read(made, 'before', [unit + 5, 2 * unit])).equals(bytes.subarray(unit + 5, 2 * unit))).toBe(true)

    await put(made, 'during', pieces(bytes))
    expect(await made.manifestOf('during')).toMatchObject({ missing: 2, shards: [{}, {}, {}, {}] })
    expect((await read(made, 'during')).equals(bytes)).toBe(true)
    await repairBlobs(made.backend)
    expect(await made.manifestOf('during')).toMatchObject({ missing: 2 })

    await unmount(third)
    await third.store.probe()
    expect(await outcome(read(made, 'before'))).toBe('ServiceUnavailable')
    expect(await outcome(put(made, 'other', pieces(bytes)))).toBe('ServiceUnavailable')

    for (const disk of [one, other, third]) await mountAgain(disk)
    for (const disk of [one, other, third]) await disk.store.probe()
    expect(await repairBlobs(made.backend)).toMatchObject({ degradedBlobs: 0, lostBlobs: 0 })
    expect(await made.queued()).toBe(0)
    const manifest = await made.manifestOf('during')
    expect(manifest.missing).toBeUndefined()
    expect(manifest.shards.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4, 5])
    for (const disk of made.disks.all.slice(3, 5)) {
      await unmount(disk)
      await disk.store.probe()
    }
    for (const key of ['before', 'during']) expect((await read(made, key)).equals(bytes), key).toBe(true)
  })

  it('small blobs are copied whole, and survive as many losses', async () => {
    made = await erasureStore({ disks: 6, data: 4, parity: 2, location: { replicateBelow: 10_000 } })
    await put(made, 'small', patternBytes(1, 9_999))
    await put(made, 'large', patternBytes(1, 10_000))
    const small = await made.manifestOf('small')
    expect(small).toMatchObject({ scheme: 'replica', shards: [{}, {}, {}] })
    expect(await made.manifestOf('large')).toMatchObject({ scheme: 'erasure', data: 4, parity: 2 })
    for (const shard of small.shards.slice(0, 2)) await unmount(diskOf(shard.storeId))
    expect((await read(made, 'small')).equals(patternBytes(1, 9_999))).toBe(true)
    expect((await read(made, 'large')).equals(patternBytes(1, 10_000))).toBe(true)
  })

  it('shards of one blob or of two that changed places are not taken for each other, and come back', async () => {
    made = await erasureStore({ disks: 6, data: 4, parity: 2 })
    const long = patternBytes(4, 7 * 4 * unit)
    await put(made, 'key', pieces(long))
    await put(made, 'like', pieces(patternBytes(5, long.length)))
    const [{ shards }, like] = [await made.manifestOf('key'), await made.manifestOf('like')]
    const at = (of: readonly ShardPlace[], index: number): [Disk, ShardPlace] => {
      const shard = of[index]
      if (shard === undefined) throw new Error(`there is no shard ${index}`)
      return [diskOf(shard.storeId), shard]
    }
    await swap(at(shards, 0), at(shards, 2))
    await swap(at(like.shards, 1), at(like.shards, 5))
    for (const [key, seed] of [['key', 4] as const, ['like', 5] as const]) {
      expect((await read(made, key)).equals(patternBytes(seed, long.length)), key).toBe(true)
      await made.report(key)
    }
    expect(await repairBlobs(made.backend)).toMatchObject({ repairedBlobs: 2, lostBlobs: 0 })
    await swap(at((await made.manifestOf('key')).shards, 3), at((await made.manifestOf('like')).shards, 3))
    expect((await read(made, 'key')).equals(long)).toBe(true)
  })

  it('a damaged shard that could not be made anew is kept until it is', async () => {
    made = await erasureStore({ disks: 6, data: 4, parity: 2 })
    await put(made, 'key', pieces(bytes))
    await inflict('key', { size, of: [0, 1], damage: 'flipped', at: 0.5, ranges: [] })
    await made.report('key')
    const [first] = (await made.manifestOf('key')).shards
    const disk = diskOf(first?.storeId ?? '')
    disk.fault(async (operation) => {
      if (operation === 'write') throw new Error('read-only by the test')
    })
    expect(await repairBlobs(made.backend)).toMatchObject({ repairedBlobs: 0, degradedBlobs: 1, lostBlobs: 0 })
    expect((await made.manifestOf('key')).shards.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4, 5])
    disk.fault(undefined)
    expect(await repairBlobs(made.backend)).toMatchObject({ repairedBlobs: 1, degradedBlobs: 0 })
    expect(await made.queued()).toBe(0)
    const whole = await made.manifestOf('key')
    for (const shard of whole.shards.slice(2, 4)) await spoil(diskOf(shard.storeId), shard, 'zeroed', 0)
    expect((await read(made, 'key')).equals(bytes)).toBe(true)
  })

  it('shards hold the data as it comes, and nothing else that was in memory', async () => {
    made = await erasureStore({ disks: 6, data: 4, parity: 2 })
    const odd = Buffer.alloc(4 * unit + 9, 0xab)
    await put(made, 'key', pieces(odd))
    const data = (await made.copiesOf('key')).slice(0, 4).map(({ payload }) => payload)
    const [inOrder, tail] = [data.map((shard) => shard.subarray(0, unit)), data.map((shard) => shard.subarray(unit))]
    expect(Buffer.concat([...inOrder, ...tail]).equals(Buffer.concat([odd, Buffer.alloc(3)]))).toBe(true)
  })

  it('shards that lie where another should are not taken for it', async () => {
    made = await erasureStore({ disks: 6, data: 4, parity: 2 })
    await put(made, 'key', pieces(bytes))
    const [one, other] = made.disks.all as [Disk, Disk]
    await exchange(one, other)
    expect((await read(made, 'key')).equals(bytes)).toBe(true)
    await exchange(one, other)
    expect((await read(made, 'key')).equals(bytes)).toBe(true)
  })

  it('every shard has its owner: none is an orphan, compaction keeps its index, and all go with their object', async () => {
    made = await erasureStore({ disks: 6, data: 4, parity: 2 })
    // Shards so small that they share segments.
    for (let i = 0; i < 40; i++) await put(made, `key-${i}`, patternBytes(i, 4_000 + i))
    await put(made, 'large', pieces(bytes))
    for (const { store } of made.disks.all) await store.takeOut(new Error('closed by the test'))
    for (const { store } of made.disks.all) await store.probe()
    made.clock.advance(2 * graceMs)
    expect(await findAndRelease(made.backend, { graceMs })).toBe(0)
    for (let i = 0; i < 40; i++) if (i % 5 > 0) await deleteObject(made.backend, scope, { key: `key-${i}` })
    made.clock.advance(2 * graceMs)
    await reclaimGarbage(made.backend, { graceMs })
    expect((await compactStores(made.backend, { graceMs })).movedShards).toBeGreaterThan(0)
    for (let i = 0; i < 40; i += 5) {
      expect((await read(made, `key-${i}`)).equals(patternBytes(i, 4_000 + i))).toBe(true)
      expect((await made.manifestOf(`key-${i}`)).shards.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4, 5])
    }
    for (let i = 0; i < 40; i += 5) await deleteObject(made.backend, scope, { key: `key-${i}` })
    await deleteObject(made.backend, scope, { key: 'large' })
    made.clock.advance(2 * graceMs)
    await reclaimGarbage(made.backend, { graceMs })
    expect(await made.liveShards()).toBe(0)
  })
})
