/** The numbers of maintainers in stores whose single changes can't be watched: memory and buckets. */
import { describe, expect, it, test } from 'vitest'
import { GuardedStore } from '../../src/stores/guarded-store.ts'
import { memoryShardStore } from '../../src/stores/memory.ts'
import { type ShardStore, StoreFenced } from '../../src/stores/shard-store.ts'
import { patternBytes, seededClock, seededRandom } from '../support/seeded.ts'
import { claimantOf, ownedBy } from './owners.ts'
import { heldPost } from './posts.ts'
import { type FarSide, openFarSide, openRemote } from './s3/far-side.ts'
import { put } from './suite.ts'

interface Taken {
  number: number
  begun: number
  ended: number
}

/** Hands the openings of one store from number to number while calls are under way. Returns what they changed. */
async function handOver(stores: readonly ShardStore[], numbers: number, random: () => number): Promise<Taken[]> {
  const taken: Taken[] = []
  const running = new Set<Promise<void>>()
  let time = 0
  for (let number = 1; number <= numbers; number++) {
    const store = stores[number % stores.length]
    for (let i = 0; i < 2 && store !== undefined; i++) {
      const begun = time++
      const post = heldPost(number)
      const work = random() < 0.5 ? store.delete([], post) : store.closeAbandoned(() => true, post)
      const call: Promise<void> = Promise.resolve(work)
        .then(
          () => void taken.push({ number, begun, ended: time++ }),
          (error: unknown) => {
            if (!(error instanceof StoreFenced)) throw error
          },
        )
        .finally(() => running.delete(call))
      running.add(call)
    }
    if (random() < 0.5) await Promise.race(running)
    while (running.size > 8) await Promise.race(running)
  }
  await Promise.all(running)
  return taken
}

/** Calls that began after another had ended under a greater number. */
function late(taken: readonly Taken[]): Taken[] {
  let greatest = 0
  const ended = taken.toSorted((a, b) => a.ended - b.ended)
  let next = 0
  return taken
    .toSorted((a, b) => a.begun - b.begun)
    .filter(({ number, begun }) => {
      for (; (ended[next]?.ended ?? Number.POSITIVE_INFINITY) < begun; next++) {
        greatest = Math.max(greatest, ended[next]?.number ?? 0)
      }
      return number < greatest
    })
}

async function expectFenced(store: ShardStore, number: number): Promise<void> {
  const post = heldPost(number)
  for (const work of [
    () => store.delete([], post),
    () => store.markChecked('batch-0', post),
    () => store.closeAbandoned(() => true, post),
    () => store.compact({ graceMs: 0, move: async () => true }, post),
  ]) {
    await expect(work()).rejects.toThrow(StoreFenced)
  }
}

describe('memory', () => {
  test.each([1, 2, 3])('takes no lower number after a higher one in 10,000 hand-overs, seed %i', async (seed) => {
    const store = memoryShardStore()
    const taken = await handOver([store], 10_000, seededRandom(seed))
    expect(taken.length).toBeGreaterThan(5000)
    expect(late(taken)).toEqual([])
    const numbers = taken.map(({ number }) => number)
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
    await expectFenced(store, 9999)
  })

  it('stays in use behind a guard when it refuses a late maintainer', async () => {
    const inner = memoryShardStore()
    const guarded = new GuardedStore({
      name: 'a',
      domain: 'a',
      storeId: inner.storeId,
      open: async () => inner,
      firstOpener: true,
      clock: seededClock(seededRandom(1)),
      warn: () => {},
    })
    await guarded.start()
    await guarded.delete([], heldPost(2))
    for (let i = 0; i < 20; i++) await expectFenced(guarded, 1)
    expect(guarded.condition().state).toBe('up')
    await guarded.close()
  })
})

describe('a bucket', () => {
  const withSide = async (work: (side: FarSide) => Promise<void>): Promise<void> => {
    const side = await openFarSide()
    await work(side).finally(() => side.close())
  }
  const identity = 'a/b/holdfast-store.json'

  test.each([1, 2])(
    'takes no lower number after a higher one in 100 hand-overs between two openings, seed %i',
    (seed) =>
      withSide(async (side) => {
        const stores = [(await openRemote(side.address)).store, (await openRemote(side.address)).store]
        const taken = await handOver(stores, 100, seededRandom(seed))
        expect(taken.length).toBeGreaterThan(40)
        expect(late(taken)).toEqual([])
        expect(JSON.parse(String(await side.read(identity)))).toMatchObject({ maintainer: 100 })
        for (const store of stores) {
          await expectFencedIn(store, 99)
          await store.close()
        }
      }),
  )

  /** A batch must exist before it can be marked. */
  async function expectFencedIn(store: ShardStore, number: number): Promise<void> {
    const post = heldPost(number)
    await expect(store.delete([], post)).rejects.toThrow(StoreFenced)
    await expect(store.closeAbandoned(() => true, post)).rejects.toThrow(StoreFenced)
    await expect(store.compact({ graceMs: 0, move: async () => true }, post)).rejects.toThrow(StoreFenced)
  }

  it('keeps a late maintainer from marking a batch, and the number over later starts', () =>
    withSide(async (side) => {
      const first = await openRemote(side.address, { ownership: ownedBy('tests', ['1-a']) })
      await put(first.store, patternBytes(1, 10))
      await first.store.close()
      const next = await openRemote(side.address, { ownership: ownedBy('tests', ['1-a', '2-b']) })
      await next.store.delete([], heldPost(7))
      const third = await openRemote(side.address, { ownership: ownedBy('tests', ['1-a', '2-b', '3-c']) })
      const [batch] = await third.store.unchecked()
      await expect(third.store.markChecked(batch?.id ?? '', heldPost(6))).rejects.toThrow(StoreFenced)
      expect(await third.store.unchecked()).toEqual([batch])
      await third.store.markChecked(batch?.id ?? '', heldPost(7))
      expect(await third.store.unchecked()).toEqual([])
      for (const { store } of [next, third]) await store.close()
    }))

  it('forgets the numbers of metadata that it has left behind', () =>
    withSide(async (side) => {
      const { store } = await openRemote(side.address, { ownership: ownedBy('tests', ['1-a']) })
      await store.delete([], heldPost(57))
      const heir = { claimant: async () => claimantOf('heir', ['1-h'], ['tests']), knows: store.storeId }
      const inherited = await openRemote(side.address, { ownership: heir })
      await inherited.store.delete([], heldPost(1))
      await expect(store.delete([], heldPost(58))).rejects.toThrow('belongs to other metadata')
      for (const one of [store, inherited.store]) await one.close()
    }))

  it('counts from the start again when an operator claims it for restored metadata', () =>
    withSide(async (side) => {
      const { store } = await openRemote(side.address, { ownership: ownedBy('tests', ['1-a']) })
      await store.delete([], heldPost(57))
      await store.close()
      const claiming = { ...ownedBy('tests', ['1-b']), knows: store.storeId, takes: 'any' as const }
      const claimed = await openRemote(side.address, { ownership: claiming })
      await claimed.store.delete([], heldPost(1))
      await claimed.store.close()
    }))
})
