/** Chooses the stores for a blob's shards. Pure: the source of randomness is an argument. */

export interface StoreInDomain {
  storeId: string
  /** The failure domain: stores that fail together. */
  domain: string
}

export interface PlacementDemand<P extends StoreInDomain> {
  count: number
  maxPerDomain: number
  /** Stores that can take a shard. */
  candidates: readonly P[]
  /** Stores that already have a shard of the blob: they take no other, and their domains are counted. */
  taken: readonly StoreInDomain[]
  /** From 0 up to 1, different each time. */
  random(): number
}

/**
 * `count` random stores, never more of a domain than it can hold; fewer only if no more can be chosen. The number found does not depend on the random
 * order, because each store lies in exactly one domain.
 */
export function chooseStores<P extends StoreInDomain>(demand: PlacementDemand<P>): P[] {
  const order = demand.candidates.map((store) => ({ store, rank: demand.random() })).sort((a, b) => a.rank - b.rank)
  const chosen: P[] = []
  for (const { store } of order) {
    if (chosen.length >= demand.count) break
    if (fits(store, [...demand.taken, ...chosen], demand.maxPerDomain)) chosen.push(store)
  }
  return chosen
}

function fits({ storeId, domain }: StoreInDomain, holders: readonly StoreInDomain[], maxPerDomain: number): boolean {
  if (holders.some((other) => other.storeId === storeId)) return false
  return holders.filter((other) => other.domain === domain).length < maxPerDomain
}
