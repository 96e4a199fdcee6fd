/** Whatever the way to an endpoint does to requests, what was acknowledged is read as it was written, and nothing else ever is. */
import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ShardId, ShardStore } from '../../../src/stores/shard-store.ts'
import { patternBytes, seededRandom } from '../../support/seeded.ts'
import { get, listed, put } from '../suite.ts'
import { type FarSide, openFarSide, openRemote } from './far-side.ts'
import { type Fault, type FaultProxy, openFaultProxy } from './fault-proxy.ts'

let side: FarSide
let proxy: FaultProxy
let store: ShardStore
beforeAll(async () => {
  side = await openFarSide()
  proxy = await openFaultProxy(side.address.endpoint)
  store = (await openRemote({ ...side.address, endpoint: proxy.endpoint })).store
})
afterAll(async () => {
  await store.close()
  await proxy.close()
  await side.close()
})

const faults: Fault[] = ['cut', 'corrupt', 500, 501, 503, 429, 403]
const sizes = [0, 10, 70_000, 300_000, 6_000_000]

test('what was acknowledged is there, and what is read is what was written', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0 }), fc.double({ min: 0.05, max: 0.4, noNaN: true }), async (seed, rate) => {
      const random = seededRandom(seed)
      const pick = <T>(of: readonly T[]): T | undefined => of[Math.floor(random() * of.length)]
      proxy.decide(() => (random() < rate ? (pick(faults) ?? 'pass') : 'pass'))
      const kept = new Map<ShardId, Buffer>()
      const work = async (turn: number): Promise<void> => {
        const payload = patternBytes(seed + turn, pick(sizes) ?? 0)
        const id = await put(store, payload, `shard ${turn}`)
        kept.set(id, payload)
        const start = Math.floor(random() * payload.length)
        const end = start + Math.floor(random() * (payload.length - start))
        const read = await get(store, id, start, end)
        // An error is right, and so are the bytes; nothing else is.
        if (!read.equals(payload.subarray(start, end))) throw new Error('wrong bytes')
        if (random() < 0.2) {
          kept.delete(id)
          await store.delete([id])
        }
      }
      const done = await Promise.allSettled(Array.from({ length: 12 }, (_, turn) => work(turn)))
      proxy.decide(() => 'pass')
      expect(done.flatMap((one) => (one.status === 'rejected' ? [`${one.reason}`] : []))).not.toContain(
        'Error: wrong bytes',
      )
      for (const [id, payload] of kept) expect((await get(store, id, 0, payload.length)).equals(payload)).toBe(true)
      const ids = (await listed(store)).map((shard) => shard.id)
      expect(ids).toEqual(expect.arrayContaining([...kept.keys()]))
      await store.delete(ids)
    }),
    { numRuns: 6 },
  )
})
