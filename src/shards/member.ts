/** A store as locations see it: with its failure domain, and whether it can be used now. */
import { GuardedStore, type StoreCondition } from './guarded-store.ts'
import type { Place } from './placement.ts'
import type { ShardStore } from './shard-store.ts'

export interface Member extends Place {
  name: string
  store: ShardStore
  /** Nothing goes on without it, so it is never left out. */
  isVital: boolean
  condition(): StoreCondition
  /** Where it is out: whether another store is to be in its place by now. */
  follow(): Promise<void>
  /** Takes note of an error that the store itself did not see. */
  blame(error: unknown): void
  takeOut(error: unknown): void
}

export function memberOf(store: ShardStore): Member {
  if (store instanceof GuardedStore) {
    return {
      get storeId() {
        return store.storeId
      },
      domain: store.domain,
      name: store.name,
      store,
      isVital: false,
      condition: () => store.condition(),
      follow: () => store.follow(),
      blame: (error) => store.blame(error),
      takeOut: (error) => store.takeOut(error),
    }
  }
  const condition: StoreCondition = { state: 'up', reason: undefined }
  const nothing = (): void => {}
  const whileInUse = { condition: () => condition, follow: async () => {}, blame: nothing, takeOut: nothing }
  const { storeId } = store
  return { storeId, domain: storeId, name: 'default', store, isVital: true, ...whileInUse }
}
