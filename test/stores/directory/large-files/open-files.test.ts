/** Large files that stay open between their readers: what is spared by it, how many there are, and what is read when they change meanwhile. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { limits } from '../../../../src/limits.ts'
import { OpenFiles } from '../../../../src/stores/directory/large-files/open-files.ts'
import { ShardDamaged, type ShardId, ShardMissing, type ShardStore } from '../../../../src/stores/shard-store.ts'
import { patternBytes } from '../../../support/seeded.ts'
import type { SimulatedFs } from '../../simulated-fs.ts'
import { get, put } from '../../suite.ts'
import { openStore, simulated, tinySizes } from '../opened-store.ts'

const path = '/store'
const sweepMs = 30_000
const bytes = 30_000
const payload = patternBytes(1, bytes)

let fs: SimulatedFs
let store: ShardStore
let id: ShardId
/** Of the shard `id`. */
let file: string

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setInterval'] })
  const { fs: made, clock } = simulated(1)
  fs = made
  const opened = await openStore({ path, fs, clock, ...tinySizes })
  store = opened.store
  id = await put(store, payload, 'described')
  file = fs.files().find((name) => name.includes('/files/')) ?? ''
})
afterEach(() => {
  vi.useRealTimers()
})

const isRight = async (start = 0, end = bytes): Promise<boolean> =>
  (await get(store, id, start, end)).equals(payload.subarray(start, end))

describe('a large file that was read before', () => {
  test('is neither opened again, nor is its footer read again', async () => {
    expect(await isRight(100, 1100)).toBe(true)
    const before = fs.calls.length
    expect(await isRight(5000, 7000)).toBe(true)
    expect(fs.calls.slice(before).map(({ name }) => name)).toEqual(['read'])
  })

  test('is read by many at once over one descriptor', async () => {
    const reads = await Promise.all(Array.from({ length: 50 }, (_, at) => isRight(at * 100, at * 100 + 3500)))
    expect(reads).not.toContain(false)
    expect(fs.openHandles).toBe(1)
  })

  test('is closed when nobody reads it for a while, and not sooner', async () => {
    const source = await store.get(id, { start: 0, end: bytes })
    vi.advanceTimersByTime(2 * sweepMs)
    expect((await source.read()).equals(payload)).toBe(true)
    await expect.poll(() => fs.openHandles).toBe(0)
    expect(await isRight()).toBe(true)
    vi.advanceTimersByTime(sweepMs)
    expect(fs.openHandles).toBe(1)
    vi.advanceTimersByTime(sweepMs)
    await expect.poll(() => fs.openHandles).toBe(0)
  })

  test('is closed when it is deleted: until then it takes its room', async () => {
    expect(await isRight()).toBe(true)
    await store.delete([id])
    await expect.poll(() => fs.openHandles).toBe(0)
  })

  test('is missing once it was deleted, while who reads it reads on', async () => {
    expect(await isRight()).toBe(true)
    const reader = await store.get(id, { start: 0, end: bytes })
    await store.delete([id])
    await expect(store.get(id, { start: 0, end: 10 })).rejects.toThrow(ShardMissing)
    expect((await reader.read()).equals(payload)).toBe(true)
    await expect.poll(() => fs.openHandles).toBe(0)
  })
})

describe('a large file that changes while it is open', () => {
  const ranges = [
    ['a small range', 2000, 4000],
    ['all of it', 0, bytes],
  ] as const

  beforeEach(async () => {
    expect(await isRight(0, 10)).toBe(true)
  })

  test.each(ranges)('is missing when another process removed it: %s', async (_, start, end) => {
    await fs.unlink(file)
    await expect(get(store, id, start, end)).rejects.toThrow(ShardMissing)
    await expect.poll(() => fs.openHandles).toBe(0)
  })

  test.each(ranges)('is damaged when it is cut short: %s', async (_, start, end) => {
    const opened = await fs.open(file, 'write')
    await opened.truncate(1500)
    await opened.close()
    await expect(get(store, id, start, end)).rejects.toThrow(ShardDamaged)
  })

  test.each(ranges)('is damaged when a bit of its data flips: %s', async (_, start, end) => {
    fs.content(file).writeUInt8(payload.readUInt8(3000) ^ 1, 3000)
    await expect(get(store, id, start, end)).rejects.toThrow(ShardDamaged)
    expect(await isRight(0, 1000)).toBe(true)
  })

  test.each(ranges)('is damaged when another one takes its place: %s', async (_, start, end) => {
    const otherId = await put(store, patternBytes(2, bytes))
    const otherFile = fs.files().find((name) => name !== file && name.includes('/files/')) ?? ''
    fs.replace(file, Buffer.from(fs.content(otherFile)))
    await expect(get(store, id, start, end)).rejects.toThrow(ShardDamaged)
    expect((await get(store, otherId, start, end)).equals(patternBytes(2, bytes).subarray(start, end))).toBe(true)
  })

  test.each(ranges)('is read afresh when what takes its place is whole: %s', async (_, start, end) => {
    const whole = Buffer.from(fs.content(file))
    fs.content(file).fill(0)
    fs.replace(file, whole)
    expect(await isRight(start, end)).toBe(true)
  })

  test('does not hide from who asks for its description that its end is damaged', async () => {
    const content = fs.content(file)
    content.fill(0, content.length - 100)
    await expect(store.description(id)).rejects.toThrow(ShardDamaged)
    expect(await isRight()).toBe(true)
  })
})

describe('the files that stay open', () => {
  test('are no more than the bound, and all others can be read', async () => {
    const count = limits.fileHandlesMax + 10
    const ids: ShardId[] = []
    for (let seed = 0; seed < count; seed++) ids.push(await put(store, patternBytes(seed, 3001)))
    const read = await Promise.all(ids.flatMap((one) => [get(store, one, 0, 3001), get(store, one, 0, 10)]))
    for (const [index, got] of read.entries()) {
      expect(got.equals(patternBytes(index >> 1, 3001).subarray(0, got.length))).toBe(true)
    }
    await expect.poll(() => fs.openHandles).toBe(limits.fileHandlesMax)
    await store.close()
    await expect.poll(() => fs.openHandles).toBe(0)
  })

  test('make room when the process has no descriptor left', async () => {
    const ids: ShardId[] = []
    for (let seed = 0; seed < 10; seed++) ids.push(await put(store, patternBytes(seed, 4000)))
    fs.fault = ({ name }) => (name === 'open' && fs.openHandles >= 4 ? 'EMFILE' : undefined)
    for (const [seed, one] of ids.entries()) {
      expect((await get(store, one, 0, 4000)).equals(patternBytes(seed, 4000))).toBe(true)
    }
    expect(fs.openHandles).toBeLessThanOrEqual(4)
    const readers = await Promise.all(ids.slice(0, 4).map((one) => store.get(one, { start: 0, end: 4000 })))
    await expect(store.get(ids[9] ?? '', { start: 0, end: 10 })).rejects.toMatchObject({ code: 'SlowDown' })
    for (const reader of readers) reader.cancel()
  })

  test('are let go of when what was learned of them takes too much memory', async () => {
    const files = new OpenFiles(fs, { filesMax: 10, learnedBytesMax: 100 })
    const open = async (name: string, learnedBytes: number) => {
      const lease = files.acquire(
        name,
        () => file,
        async () => ({ bytes: learnedBytes }),
      )
      await lease.opened
      lease.release()
      return lease.wasOpen
    }
    const before = fs.openHandles
    expect([await open('a', 60), await open('b', 30), await open('a', 60), await open('b', 30)]).toEqual([
      false,
      false,
      true,
      true,
    ])
    expect(await open('c', 50)).toBe(false)
    expect([await open('b', 30), await open('c', 50), await open('a', 10)]).toEqual([true, true, false])
    expect(await open('too large', 101)).toBe(false)
    await expect.poll(() => fs.openHandles).toBe(before)
  })
})
