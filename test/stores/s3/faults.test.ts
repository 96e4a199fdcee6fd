/** What the way to an endpoint, and the ways of other vendors, do to requests. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { limits } from '../../../src/limits.ts'
import { ShardDamaged, StoreFull } from '../../../src/stores/shard-store.ts'
import { patternBytes } from '../../support/seeded.ts'
import { get, listed, put } from '../suite.ts'
import { type FarSide, openFarSide, openRemote } from './far-side.ts'
import { type FaultProxy, openFaultProxy } from './fault-proxy.ts'

const MiB = 1024 * 1024

let side: FarSide
beforeEach(async () => {
  side = await openFarSide()
})
afterEach(async () => {
  vi.useRealTimers()
  await side.close()
})

describe('over a way that fails', () => {
  let proxy: FaultProxy
  beforeEach(async () => {
    proxy = await openFaultProxy(side.address.endpoint)
  })
  afterEach(() => proxy.close())
  const open = (options = {}) => openRemote({ ...side.address, endpoint: proxy.endpoint }, options)

  test('bytes that were changed on it are refused by the endpoint, and nothing is kept', async () => {
    const { store } = await open()
    await put(store, patternBytes(1, 10))
    const before = await side.keys()
    proxy.decide((method) => (method === 'PUT' ? 'corrupt' : 'pass'))
    for (const size of [1000, 6 * MiB]) {
      await expect(put(store, patternBytes(2, size))).rejects.toThrow('the endpoint answers 400')
    }
    expect(await side.keys()).toEqual(before)
    proxy.decide(() => 'pass')
    await store.close()
  })

  test('an answer that is cut off is an error of the endpoint, and no damage of the shard', async () => {
    const { store } = await open()
    const id = await put(store, patternBytes(1, 300_000))
    proxy.decide((method) => (method === 'GET' ? 'cut' : 'pass'))
    for (const [start, end] of [
      [0, 300_000],
      [10, 1000],
    ] as const) {
      const error = await get(store, id, start, end).catch((reason: unknown) => reason)
      expect(error).toBeInstanceOf(Error)
      expect(error).not.toBeInstanceOf(ShardDamaged)
    }
    proxy.decide(() => 'pass')
    await store.close()
  })

  test('an endpoint that hangs, or is gone, fails what is asked of it within seconds', async () => {
    const { store } = await open()
    proxy.decide(() => 'hang')
    const before = proxy.seen.length
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const check = store.check().catch((error: unknown) => error)
    await expect.poll(() => proxy.seen.length).toBeGreaterThan(before)
    await vi.advanceTimersByTimeAsync(limits.remoteProbeMs)
    expect(await check).toMatchObject({ message: 'the endpoint did not answer in time' })
    vi.useRealTimers()
    await proxy.close()
    await expect(put(store, patternBytes(1, 10))).rejects.toThrow("can't be reached (ECONNREFUSED)")
    await store.close()
  })

  test('what hangs is given up as soon as a look at the store finds it away', async () => {
    const { store } = await open()
    await put(store, patternBytes(1, 10))
    proxy.decide((method) => (method === 'PUT' ? 'hang' : 403))
    // No time passes: it can't be given up by itself.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const hanging = put(store, patternBytes(2, 10)).catch((error: unknown) => error)
    await expect.poll(() => proxy.seen.filter((line) => line.startsWith('PUT')).length).toBe(4)
    await expect(store.check()).rejects.toThrow('the endpoint answers 403')
    expect(await hanging).toMatchObject({ message: 'the endpoint did not answer in time' })
    vi.useRealTimers()
    proxy.decide(() => 'pass')
    await store.close()
  })

  test('endpoints without conditional writes and without deletes of many at once are used without', async () => {
    proxy.decide((method, url) => (method === 'POST' && url.includes('delete') ? 501 : 'pass'))
    const { store } = await open()
    const ids = await Promise.all([1, 2, 3].map((seed) => put(store, patternBytes(seed, 10))))
    await store.delete(ids)
    await store.delete(ids)
    expect(await listed(store)).toEqual([])
    expect(proxy.seen.filter((line) => line.startsWith('POST'))).toHaveLength(1)
    await store.close()

    let refused = 0
    proxy.decide((method) => (method === 'PUT' && refused++ === 0 ? 501 : 'pass'))
    const plain = await openRemote({ ...side.address, endpoint: proxy.endpoint, prefix: 'plain/' })
    expect(refused).toBe(2)
    await plain.store.close()
  })

  test('an endpoint that says it is full makes the store full, and one that asks for patience is asked again by the client', async () => {
    const { store } = await open()
    proxy.decide((method) => (method === 'PUT' ? 507 : 'pass'))
    await expect(put(store, patternBytes(1, 10))).rejects.toThrow(StoreFull)
    proxy.decide((method) => (method === 'PUT' ? 429 : 'pass'))
    await expect(put(store, patternBytes(1, 10))).rejects.toMatchObject({ code: 'SlowDown' })
    proxy.decide(() => 'pass')
    await store.close()
  })

  test('a batch that could not be closed over it is closed once the store is opened again', async () => {
    const leftOpen = new Map<string, number>()
    const { store } = await open({ leftOpen })
    await put(store, patternBytes(1, 10))
    proxy.decide(() => 503)
    await store.close()
    expect(leftOpen.size).toBe(1)
    proxy.decide(() => 'pass')
    const again = await open({ leftOpen, firstOpener: false })
    await again.store.close()
    expect(leftOpen.size).toBe(0)
    const after = await open({ firstOpener: false })
    expect(await after.store.unchecked()).toMatchObject([{ closed: true }])
    await after.store.close()
  })
})
