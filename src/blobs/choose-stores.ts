/** Chooses the stores of a location that take a blob's shards, among those that can be written to now. */
import { StoreFull } from '../stores/shard-store.ts'
import type { Placing } from './location.ts'
import type { Member } from './member.ts'
import { choosePlaces } from './placement.ts'
import { type ShardsDemand, tooFew } from './write-shards.ts'

/** From 0 up to 1, different each time. */
export type Chance = () => number

/** Up to `count`, that go with the shards `beside` them. `not`: those that were tried. */
export function storesFor(
  location: Placing,
  random: Chance,
  count: number,
  beside: readonly Member[],
  not: readonly Member[],
): Member[] {
  return choosePlaces({
    count,
    maxPerDomain: location.maxPerDomain,
    candidates: location.members.filter((member) => member.condition().state === 'up' && !not.includes(member)),
    taken: beside,
    random,
  })
}

/** Where a new blob's shards go. When there are fewer than `least`, throws `StoreFull` if that is why, else ServiceUnavailable. */
export function storesForNew(
  location: Placing,
  random: Chance,
  { count, least }: { count: number; least: number },
): Pick<ShardsDemand, 'places' | 'another' | 'least'> {
  const places = storesFor(location, random, count, [], [])
  if (places.length < least) {
    const isFull = location.members.some((member) => member.condition().state === 'full')
    throw isFull ? new StoreFull(`location ${location.name}: too few of its stores have room`) : tooFew([])
  }
  return { places, least, another: (beside, tried) => storesFor(location, random, 1, beside, tried)[0] }
}
