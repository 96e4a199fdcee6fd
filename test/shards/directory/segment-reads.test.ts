/** How many files stay open behind small reads, and what an idle process lets go of. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { limits } from '../../../src/limits.ts'
import type { ShardId } from '../../../src/shards/shard-store.ts'
import { patternBytes } from '../seeded.ts'
import { get, put } from '../suite.ts'
import { openStore, simulated, tinySizes } from './opened-store.ts'

const path = '/store'
const sweepMs = 30_000

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval'] })
})
afterEach(() => {
  vi.useRealTimers()
})

test('readers of many segments hold a bounded number open, and all can be read at once', async () => {
  const { fs, clock } = simulated(1)
  const ids: ShardId[] = []
  for (let restart = 0; restart < limits.segmentHandlesMax + 20; restart++) {
    const { store } = await openStore({ path, fs, clock, ...tinySizes })
    ids.push(await put(store, patternBytes(restart, 100)))
    await store.close()
  }
  const { store } = await openStore({ path, fs, clock, ...tinySizes })
  const read = await Promise.all(ids.flatMap((id) => [get(store, id, 0, 100), get(store, id, 0, 100)]))
  for (const [index, bytes] of read.entries()) expect(bytes.equals(patternBytes(index >> 1, 100))).toBe(true)
  await vi.waitFor(() => expect(fs.openHandles).toBe(limits.segmentHandlesMax))
  vi.advanceTimersByTime(2 * sweepMs)
  await vi.waitFor(() => expect(fs.openHandles).toBe(0))
  expect((await get(store, ids[0] ?? '', 0, 100)).equals(patternBytes(0, 100))).toBe(true)
})

test('a segment and a file directory to which nobody writes for long are ended, and writing goes on in new ones', async () => {
  const { fs, clock } = simulated(1)
  const { store } = await openStore({ path, fs, clock, ...tinySizes, batchIdleMs: 1000 })
  await put(store, patternBytes(1, 100))
  await put(store, patternBytes(2, 5000))
  vi.advanceTimersByTime(sweepMs)
  expect((await store.unchecked()).map(({ closed }) => closed)).toEqual([false, false])
  clock.advance(1001)
  vi.advanceTimersByTime(sweepMs)
  await vi.waitFor(async () => expect((await store.unchecked()).map(({ closed }) => closed)).toEqual([true, true]))
  await put(store, patternBytes(1, 100))
  await put(store, patternBytes(2, 5000))
  expect(await store.unchecked()).toHaveLength(4)
})
