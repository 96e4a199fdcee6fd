/** Chooses the stores of a location for a blob's shards, among those that can be written to now. */
import { StoreFull } from '../stores/shard-store.ts'
import type { Placing } from './location.ts'
import type { Member } from './member.ts'
import { chooseStores } from './placement.ts'
import { type ShardsDemand, tooFew } from './write-shards.ts'

/** From 0 up to 1, different each time. */
export type Chance = () => number

/** Up to `count` stores for further shards of a blob. `holders` already have shards of it. Leaves out the stores that were `tried`. */
export function storesFor(
  location: Placing,
  random: Chance,
  count: number,
  holders: readonly Member[],
  tried: readonly Member[],
): Member[] {
  return chooseStores({
    count,
    maxPerDomain: location.maxPerDomain,
    candidates: location.members.filter((member) => member.condition().state === 'up' && !tried.includes(member)),
    taken: holders,
    random,
  })
}

/** The stores for a new blob's shards. If there are fewer than `least`, throws `StoreFull` when that is the reason, otherwise ServiceUnavailable. */
export function storesForNew(
  location: Placing,
  random: Chance,
  { count, least }: { count: number; least: number },
): Pick<ShardsDemand, 'members' | 'another' | 'least'> {
  const members = storesFor(location, random, count, [], [])
  if (members.length < least) {
    const isFull = location.members.some((member) => member.condition().state === 'full')
    throw isFull ? new StoreFull(`location ${location.name}: too few of its stores have room`) : tooFew([])
  }
  return { members, least, another: (holders, tried) => storesFor(location, random, 1, holders, tried)[0] }
}
