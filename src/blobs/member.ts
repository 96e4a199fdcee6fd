/** A store as its locations see it: with its failure domain, and whether it can be used now. */
import { GuardedStore, type StoreCondition } from '../stores/guarded-store.ts'
import type { ShardStore } from '../stores/shard-store.ts'
import { ownLocation } from './location-policy.ts'
import type { StoreInDomain } from './placement.ts'

export interface Member extends StoreInDomain {
  name: string
  store: ShardStore
  /** Nothing works without this store, so it is always tried. */
  isVital: boolean
  condition(): StoreCondition
  /** Looks whether the store is there, and takes it out of use or back in. Never rejects. */
  probe(): Promise<void>
  /** When the store is out: looks whether another store has replaced it. */
  follow(): Promise<void>
  /** Reports an error that the store itself did not see. */
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
      probe: () => store.probe(),
      follow: () => store.follow(),
      blame: (error) => store.blame(error),
      takeOut: (error) => store.takeOut(error),
    }
  }
  const condition: StoreCondition = { state: 'up', reason: undefined }
  const nothing = (): void => {}
  const never = async (): Promise<void> => {}
  const whileInUse = { condition: () => condition, probe: never, follow: never, blame: nothing, takeOut: nothing }
  const { storeId } = store
  return { storeId, domain: storeId, name: ownLocation, store, isVital: true, ...whileInUse }
}

/** Whether the store has a member and that member is in use. */
export function isInUse(member: Member | undefined): boolean {
  return member !== undefined && member.condition().state !== 'out'
}

/** Every store of a process, each listed once, however many locations name it. */
export class Members {
  readonly #all: readonly Member[]
  #byId: ReadonlyMap<string, Member>

  constructor(stores: readonly ShardStore[]) {
    const byId = new Map<string, Member>()
    for (const store of stores) if (!byId.has(store.storeId)) byId.set(store.storeId, memberOf(store))
    this.#all = [...byId.values()]
    this.#byId = byId
  }

  /** The member whose shards carry this store id. */
  holder(storeId: string): Member | undefined {
    const found = this.#byId.get(storeId)
    if (found?.storeId === storeId) return found
    // A lost store may have been replaced by one with a new id.
    this.#byId = new Map(this.#all.map((each) => [each.storeId, each]))
    return this.#byId.get(storeId)
  }

  /** The first look at a store that was replaced finds it lost; the next one finds its successor. */
  async look(): Promise<void> {
    await Promise.all(this.#all.map((each) => each.probe()))
    await Promise.all(this.#all.filter((each) => !isInUse(each)).map((each) => each.probe()))
  }

  get storesInUse(): ShardStore[] {
    return this.#all.filter(isInUse).map(({ store }) => store)
  }
}
