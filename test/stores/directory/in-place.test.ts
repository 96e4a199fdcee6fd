/** Shards of middle size: written in place into segments, beside small ones, and read whole or by range. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { bytesSource } from '../../../src/byte-source.ts'
import { limits } from '../../../src/limits.ts'
import type { ShardId, ShardStore } from '../../../src/stores/shard-store.ts'
import { patternBytes, seededClock, seededRandom } from '../../support/seeded.ts'
import type { SimulatedFs } from '../simulated-fs.ts'
import { get, listed, put } from '../suite.ts'
import {
  filesBelow,
  inPlaceSizes,
  openStore,
  simulated,
  type TemporaryDirectory,
  temporaryDirectory,
} from './opened-store.ts'

const path = '/store'
const largeFiles = (files: readonly string[]): string[] => files.filter((file) => file.includes('/files/'))

describe('shards of middle size', () => {
  let fs: SimulatedFs
  let store: ShardStore
  beforeEach(async () => {
    const made = simulated(1)
    fs = made.fs
    store = (await openStore({ path, fs, clock: made.clock, ...inPlaceSizes })).store
  })
  afterEach(() => store.close())

  test('lie in segments, and larger ones in files', async () => {
    await put(store, patternBytes(1, inPlaceSizes.recordPayloadBytesMax))
    expect(largeFiles(fs.files())).toEqual([])
    await put(store, patternBytes(1, inPlaceSizes.recordPayloadBytesMax + 1))
    expect(largeFiles(fs.files())).toHaveLength(1)
  })

  test('begin on a page, in a write of whole pages', async () => {
    const payload = patternBytes(1, 9000)
    await put(store, patternBytes(2, 100))
    await put(store, payload, 'a description')
    const [segment = ''] = fs.files(`${path}/segments`)
    expect(fs.content(segment).indexOf(payload) % 4096).toBe(0)
    expect(fs.content(segment).length % 4096).toBe(0)
  })

  test('are read as written when small ones come at the same time, with descriptions of any length', async () => {
    const random = seededRandom(7)
    const written = await Promise.all(
      Array.from({ length: 60 }, async (_, index) => {
        const payload = patternBytes(index, Math.floor(random() * 9000))
        // The longest descriptions leave no room for the head before the payload's page.
        const description = 'd'.repeat(Math.floor(random() * (index % 5 === 0 ? 6000 : 300)))
        return { id: await put(store, payload, description), payload, description }
      }),
    )
    for (const { id, payload, description } of written) {
      expect((await get(store, id, 0, payload.length)).equals(payload)).toBe(true)
      expect((await store.description(id)).toString()).toBe(description)
    }
    const found = await listed(store)
    expect(new Map(found.map((shard) => [shard.id, shard.description.toString()]))).toEqual(
      new Map(written.map(({ id, description }) => [id, description])),
    )
  })

  test('give any range', async () => {
    const payload = patternBytes(1, 20_001)
    const id = await put(store, payload, 'description')
    for (const [start, end] of rangesOf(payload.length)) {
      expect((await get(store, id, start, end)).equals(payload.subarray(start, end)), `${start} to ${end}`).toBe(true)
    }
    await expect(get(store, id, 0, 20_002)).rejects.toThrow()
  })

  test('keep nothing of a payload that fails, is too short or too long, and take the next one', async () => {
    const failing = {
      ...bytesSource(Buffer.alloc(9000)),
      drain: () => Promise.reject(new Error('the client went away')),
    }
    const asSized = (size: number) => ({ ...bytesSource(Buffer.alloc(9000)), size })
    for (const [payload, why] of [
      [failing, 'the client went away'],
      [asSized(9001), '1 bytes before the end'],
      [asSized(8999), 'longer than it said'],
    ] as const) {
      await expect(store.put({ payload, describe: () => Buffer.alloc(0) })).rejects.toThrow(why)
    }
    expect(await listed(store)).toEqual([])
    const id = await put(store, patternBytes(1, 9000))
    expect((await get(store, id, 0, 9000)).equals(patternBytes(1, 9000))).toBe(true)
  })
})

function rangesOf(size: number): [number, number][] {
  const marks = [0, 1, 1023, 1024, 1025, 3000, 4096, 9999, size - 1025, size - 1, size]
  return marks.flatMap((start) => marks.filter((end) => end >= start).map((end): [number, number] => [start, end]))
}

describe('shards of middle size on a real disk', () => {
  let directory: TemporaryDirectory
  let store: ShardStore
  beforeEach(async () => {
    directory = await temporaryDirectory()
    store = (await openStore({ path: directory.path, clock: seededClock(seededRandom(3)) })).store
  })
  afterEach(async () => {
    await store.close()
    await directory.remove()
  })

  test('are written together, and read whole and by range', async () => {
    const sizes = [256 * 1024 + 1, 300_000, 700_001, 1024 * 1024]
    const written = await Promise.all(
      [...sizes, ...sizes].map(async (size, index) => {
        const payload = patternBytes(index, size)
        return { id: await put(store, payload, `shard ${index}`), payload }
      }),
    )
    for (const { id, payload } of written) {
      for (const [start, end] of [
        [0, payload.length],
        [5, 100_000],
        [65_536, 131_072],
        [9, payload.length - 9],
      ] as const) {
        expect((await get(store, id, start, end)).equals(payload.subarray(start, end))).toBe(true)
      }
    }
    expect(largeFiles(await filesBelow(directory.path))).toEqual([])
  })

  test('have files of their own while many senders are slow, so that these hold little memory', async () => {
    const size = 1024 * 1024
    const most = limits.chunkBytesPlenty / size
    let letGo = (): void => {}
    const gate = new Promise<void>((resolve) => {
      letGo = resolve
    })
    const slow = (seed: number): Promise<ShardId> =>
      store.put({
        payload: {
          ...bytesSource(patternBytes(seed, size)),
          drain: async (sink) => {
            await gate
            await sink(patternBytes(seed, size))
          },
        },
        describe: () => Buffer.alloc(0),
      })
    const ids = Array.from({ length: most + 8 }, (_, seed) => slow(seed))
    letGo()
    const written = await Promise.all(ids)
    const files = largeFiles(await filesBelow(directory.path)).length
    expect(files).toBeGreaterThan(0)
    expect(files).toBeLessThanOrEqual(8)
    for (const [seed, id] of written.entries()) {
      if (seed % 9 === 0) expect((await get(store, id, 0, size)).equals(patternBytes(seed, size))).toBe(true)
    }
  })
})
