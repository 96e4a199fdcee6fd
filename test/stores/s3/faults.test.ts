/** What the way to an endpoint, and the ways of other vendors, do to requests. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { limits } from '../../../src/limits.ts'
import { openBucket } from '../../../src/stores/s3/bucket.ts'
import { ShardDamaged, StoreFull } from '../../../src/stores/shard-store.ts'
import { patternBytes } from '../../support/seeded.ts'
import { ownedBy } from '../owners.ts'
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
    const refusal = { name: 'StoreUnreachable', message: expect.stringContaining("can't be reached (ECONNREFUSED)") }
    await expect(put(store, patternBytes(1, 10))).rejects.toMatchObject(refusal)
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

  test('an endpoint that wants the ETag of a condition without quotes, as Ceph does, keeps a store that is claimed once by each start', async () => {
    const isQuoted = (etag: string | undefined): boolean => etag?.startsWith('"') === true
    proxy.decide((method, _, headers) => (method === 'PUT' && isQuoted(headers['if-match']) ? 412 : 'pass'))
    const starts = ['1-a', '2-b', '3-c']
    for (const [index] of starts.entries()) {
      const { store } = await open({ ownership: ownedBy('tests', starts.slice(0, index + 1)) })
      await put(store, patternBytes(index, 10))
      await store.close()
    }
    await expect(open({ ownership: ownedBy('tests', ['1-a', '2-x']) })).rejects.toThrow('by a copy of this metadata')
    const claiming = ['one', 'other'].map((start) => open({ ownership: ownedBy('tests', [...starts, `4-${start}`]) }))
    const claimed = await Promise.allSettled(claiming)
    const won = claimed.flatMap((result) => (result.status === 'fulfilled' ? [result.value.store] : []))
    expect(won).toHaveLength(1)
    for (const store of won) await store.close()
  })

  test('a condition without quotes, too, replaces no object but the one that it names', async () => {
    proxy.decide((method, _, headers) => (method === 'PUT' && headers['if-match']?.startsWith('"') ? 412 : 'pass'))
    const bucket = await openBucket({ ...side.address, endpoint: proxy.endpoint })
    await bucket.put('key', Buffer.from('first'))
    const first = await bucket.find('key')
    expect(await bucket.replace('key', Buffer.from('second'), first?.etag)).toBe(true)
    const second = await bucket.find('key')
    expect(await bucket.replace('key', Buffer.from('third'), first?.etag)).toBe(false)
    expect(await bucket.replace('key', Buffer.from('third'), second?.etag)).toBe(true)
    expect((await bucket.find('key'))?.bytes.toString()).toBe('third')
    bucket.close()
  })

  test('a small shard costs one request to write and one to read, under any prefix', async () => {
    const prefix = "a b/\u00e4+(1)*'!%2F&=?/"
    const { store } = await openRemote({ ...side.address, endpoint: proxy.endpoint, prefix })
    await put(store, patternBytes(1, 10))
    for (const size of [10, 300_000]) {
      const before = proxy.seen.length
      const id = await put(store, patternBytes(2, size))
      expect((await get(store, id, 0, size)).equals(patternBytes(2, size))).toBe(true)
      expect((await get(store, id, 5, 9)).equals(patternBytes(2, size).subarray(5, 9))).toBe(true)
      expect(proxy.seen.slice(before).map((line) => line.split(' ')[0])).toEqual(['PUT', 'GET', 'GET'])
    }
    expect((await side.keys()).filter((key) => key.startsWith(`${prefix}shards/`))).toHaveLength(3)
    await store.close()
  })

  test('what an endpoint refuses once, or loses on the way, is asked again', async () => {
    const { store } = await open()
    await put(store, patternBytes(1, 10))
    for (const fault of [403, 503, 'cut'] as const) {
      for (const refused of ['PUT', 'GET']) {
        let left = 1
        proxy.decide((method) => (method === refused && left-- > 0 ? fault : 'pass'))
        const id = await put(store, patternBytes(2, 0))
        expect(await get(store, id, 0, 0)).toHaveLength(0)
        expect(left).toBeLessThan(1)
      }
    }
    await store.close()
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
