/** How many files stay open behind small reads, and what an idle process lets go of. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { limits } from '../../../../src/limits.ts'
import { ShardDamaged, type ShardId } from '../../../../src/stores/shard-store.ts'
import { patternBytes } from '../../../support/seeded.ts'
import { get, put } from '../../suite.ts'
import { openStore, simulated, tinySizes } from '../opened-store.ts'

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
  await expect.poll(() => fs.openHandles).toBe(limits.segmentHandlesMax)
  vi.advanceTimersByTime(2 * sweepMs)
  await expect.poll(() => fs.openHandles).toBe(0)
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
  await expect.poll(async () => (await store.unchecked()).map(({ closed }) => closed)).toEqual([true, true])
  await put(store, patternBytes(1, 100))
  await put(store, patternBytes(2, 5000))
  expect(await store.unchecked()).toHaveLength(4)
})

/** Read into memory that is lent. */
const payloadBytes = 20_000

async function largeRecords(count: number) {
  const { fs, clock } = simulated(1)
  const { store } = await openStore({ path, fs, clock })
  const payloads = Array.from({ length: count }, (_, i) => patternBytes(i, payloadBytes))
  const ids: ShardId[] = []
  for (const payload of payloads) ids.push(await put(store, payload))
  const borrow = async (index: number) => {
    const lent = (await store.get(ids[index] ?? '', { start: 0, end: payloadBytes })).borrow?.()
    if (lent === undefined) throw new Error('nothing is lent')
    return lent
  }
  return { fs, store, ids, payloads, borrow }
}

test('the memory that a reader of a larger record borrowed is its own until it gives it back, and is then used again', async () => {
  const { payloads, borrow } = await largeRecords(40)
  const lent: Awaited<ReturnType<typeof borrow>>[] = []
  for (const i of payloads.keys()) lent.push(await borrow(i))
  for (const [i, { bytes }] of lent.entries()) expect(bytes.equals(payloads[i] ?? bytes)).toBe(true)
  const memory = new Set(lent.map(({ bytes }) => bytes.buffer))
  for (const { giveBack } of lent) giveBack()
  for (const i of payloads.keys()) {
    const { bytes, giveBack } = await borrow(i)
    expect(memory.has(bytes.buffer)).toBe(true)
    giveBack()
  }
})

test("what is read of a larger record is its reader's own", async () => {
  const { store, ids, payloads, borrow } = await largeRecords(2)
  const read = await (await store.get(ids[0] ?? '', { start: 0, end: payloadBytes })).read()
  const { bytes } = await borrow(1)
  expect(bytes.equals(payloads[1] ?? bytes)).toBe(true)
  expect(read.equals(payloads[0] ?? bytes)).toBe(true)
})

test('readers of a larger record that is damaged get nothing, and leave no memory behind', async () => {
  const { fs, store, ids, borrow } = await largeRecords(2)
  const segment = fs.files().find((file) => file.includes('/segments/')) ?? ''
  // In the second of two records.
  const rotten = Buffer.from(fs.content(segment))
  rotten.writeUInt8(rotten.readUInt8(payloadBytes + 5_000) ^ 1, payloadBytes + 5_000)
  fs.replace(segment, rotten)
  const first = await borrow(0)
  first.giveBack()
  for (let i = 0; i < 3 * limits.chunksInSlab; i++) {
    await expect(store.get(ids[1] ?? '', { start: 0, end: payloadBytes })).rejects.toThrow(ShardDamaged)
  }
  const again = await borrow(0)
  expect(again.bytes.buffer).toBe(first.bytes.buffer)
  expect(again.bytes.equals(patternBytes(0, payloadBytes))).toBe(true)
})
