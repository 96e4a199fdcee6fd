/** Stores for the tests of background jobs: in memory, or a real directory with sizes so small that segments fill at once. */
import { garbage, uploads } from '../../src/records/keyspace.ts'
import type { ShardStore } from '../../src/stores/shard-store.ts'
import { makeBucket, storeOver, type TestStore } from '../objects/fixture.ts'
import { openStore, temporaryDirectory, tinySizes } from '../stores/directory/opened-store.ts'
import { seededClock, seededRandom } from '../support/seeded.ts'

export const graceMs = 60_000

export interface DirectoryTestStore extends TestStore {
  dispose(): Promise<void>
}

/** About 20 shards of `smallBytes` fill a segment. */
export const smallBytes = 2900
export const largeBytes = 10_000

export async function directoryStoreWithBucket(): Promise<DirectoryTestStore> {
  const directory = await temporaryDirectory()
  const clock = seededClock(seededRandom(1))
  const { store: shards } = await openStore({ path: directory.path, clock, ...tinySizes })
  const made = storeOver(shards, clock)
  await makeBucket(made)
  return {
    ...made,
    dispose: async () => {
      await shards.close()
      await directory.remove()
    },
  }
}

/** The same store with other methods. A copy would not do: its methods would lack what is private to it. */
export function storeWith(shards: ShardStore, methods: Partial<ShardStore>): ShardStore {
  return new Proxy(shards, {
    get(store, name) {
      if (Object.hasOwn(methods, name)) return Reflect.get(methods, name)
      const value: unknown = Reflect.get(store, name)
      return typeof value === 'function' ? value.bind(store) : value
    },
  })
}

/** How much the metadata still has to say about garbage and uploads. */
export async function leftOver({ kv }: TestStore): Promise<{ garbage: number; uploads: number }> {
  const [pieces, open] = await Promise.all([garbage, uploads].map((range) => kv.range({ ...range, limit: 10_000 })))
  return { garbage: pieces?.length ?? 0, uploads: open?.length ?? 0 }
}
