/** Chooses the stores that a blob's shards go to. Pure: chance is an argument. */

export interface Place {
  storeId: string
  /** What fails together. */
  domain: string
}

export interface PlacementDemand<P extends Place> {
  count: number
  maxPerDomain: number
  /** Stores that can take a shard. */
  candidates: readonly P[]
  /** Where shards of the blob lie already: those stores take no other, and their domains are counted. */
  taken: readonly Place[]
  /** From 0 up to 1, different each time. */
  random(): number
}

/**
 * `count` stores by chance, never more of a domain than it may hold; fewer only where no more can be chosen. Any order finds as many, because each
 * store lies in one domain.
 */
export function choosePlaces<P extends Place>(demand: PlacementDemand<P>): P[] {
  const order = demand.candidates.map((place) => ({ place, rank: demand.random() })).sort((a, b) => a.rank - b.rank)
  const chosen: P[] = []
  for (const { place } of order) {
    if (chosen.length >= demand.count) break
    if (fits(place, [...demand.taken, ...chosen], demand.maxPerDomain)) chosen.push(place)
  }
  return chosen
}

function fits({ storeId, domain }: Place, beside: readonly Place[], maxPerDomain: number): boolean {
  if (beside.some((other) => other.storeId === storeId)) return false
  return beside.filter((other) => other.domain === domain).length < maxPerDomain
}
