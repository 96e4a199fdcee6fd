/** Predicts how many bytes a set of blobs would add to each of a location's stores, and whether they have room. Pure. */
import type { StoreCondition } from '../stores/guarded-store.ts'
import { chooseStores, type StoreInDomain } from './placement.ts'
import { type Shape, shardsOfBlob } from './shape.ts'

/** Blobs to be written. */
export interface Demand {
  blobs: number
  bytes: number
  /** Bytes of one copy of each blob that is copied whole. */
  copyBytes: number
  /** Bytes of one shard of each blob that is striped. */
  stripeBytes: number
}

export const noDemand: Demand = { blobs: 0, bytes: 0, copyBytes: 0, stripeBytes: 0 }

export function withBlob(demand: Demand, shape: Shape, size: number): Demand {
  const { striping } = shape
  const isStriped = striping !== undefined && size >= striping.replicateBelow
  const { bytes } = shardsOfBlob(shape, size)
  return {
    blobs: demand.blobs + 1,
    bytes: demand.bytes + size,
    copyBytes: demand.copyBytes + (isStriped ? 0 : bytes),
    stripeBytes: demand.stripeBytes + (isStriped ? bytes : 0),
  }
}

export interface ForecastStore extends StoreInDomain {
  name: string
  state: StoreCondition['state']
  /** Absent: the store can't be asked. */
  freeBytes: number | undefined
}

export interface ForecastLocation extends Shape {
  /** How many durable shards a write needs: of stripes, or of copies where nothing is striped. */
  writeAck: number
  stores: readonly ForecastStore[]
}

export interface Forecast extends Pick<Demand, 'blobs' | 'bytes'> {
  /** Copies and parity included. */
  storedBytes: number
  /** The expected bytes for each store. Placement is random. */
  stores: { name: string; bytes: number; freeBytes: number | undefined }[]
  /** Why the location can't take the blobs now. Absent: it can. */
  fault: string | undefined
}

export function forecast(demand: Demand, location: ForecastLocation): Forecast {
  const { stores, striping, maxPerDomain } = location
  const open = stores.filter(({ state }) => state === 'up')
  const counts = countsOf(location)
  const most = chooseStores({
    count: counts.copies + counts.stripes,
    maxPerDomain,
    candidates: open,
    taken: [],
    random: () => 0,
  }).length
  // With fewer stores than shards, writes still succeed if enough shards are durable. Repair writes the missing shards later.
  const [copies, stripes] = [Math.min(counts.copies, most), Math.min(counts.stripes, most)]
  const ofCopies = sharesOf(open, copies, maxPerDomain)
  const ofStripes = sharesOf(open, stripes, maxPerDomain)
  const storedBytes = copies * demand.copyBytes + stripes * demand.stripeBytes
  return {
    blobs: demand.blobs,
    bytes: demand.bytes,
    storedBytes,
    stores: stores.map(({ name, storeId, freeBytes }) => {
      const [copyShare, stripeShare] = [ofCopies.get(storeId) ?? 0, ofStripes.get(storeId) ?? 0]
      return { name, bytes: Math.round(copyShare * demand.copyBytes + stripeShare * demand.stripeBytes), freeBytes }
    }),
    fault: demand.blobs === 0 ? undefined : (tooFewStores() ?? roomFault()),
  }

  function tooFewStores(): string | undefined {
    const copiesAck = striping === undefined ? location.writeAck : location.writeAck - striping.data + 1
    const needed = Math.max(demand.copyBytes > 0 ? copiesAck : 0, demand.stripeBytes > 0 ? location.writeAck : 0)
    if (most >= needed) return undefined
    return `a write needs ${needed} durable shards, and only ${most} can be placed: ${open.length} of its ${stores.length} stores can take data`
  }

  function roomFault(): string | undefined {
    const room = roomFor(demand, open, maxPerDomain)
    if (room >= storedBytes) return undefined
    return `its stores have to take ${storedBytes} bytes, and have room for ${room} of them`
  }
}

function countsOf({ copies, striping }: Shape): { copies: number; stripes: number } {
  return { copies, stripes: striping === undefined ? 0 : striping.data + striping.parity }
}

/** The usable free bytes. A store takes at most one shard of a blob, and a domain only a few, so room beyond that is useless. */
function roomFor({ copyBytes, stripeBytes }: Demand, stores: readonly ForecastStore[], maxPerDomain: number): number {
  const most = copyBytes + stripeBytes
  const inDomain = new Map<string, number>()
  for (const { domain, freeBytes = most } of stores) {
    inDomain.set(domain, (inDomain.get(domain) ?? 0) + Math.min(freeBytes, most))
  }
  return [...inDomain.values()].reduce((sum, room) => sum + Math.min(room, maxPerDomain * most), 0)
}

const rounds = 2_000

/** For each store, the share of blobs of which it gets a shard. Equal for all stores if domains are even; otherwise sampled from placements. */
export function sharesOf(stores: readonly StoreInDomain[], count: number, maxPerDomain: number): Map<string, number> {
  const inDomain = new Map<string, number>()
  for (const { domain } of stores) inDomain.set(domain, (inDomain.get(domain) ?? 0) + 1)
  if ([...inDomain.values()].every((size) => size <= maxPerDomain)) {
    return new Map(stores.map(({ storeId }) => [storeId, Math.min(1, count / stores.length)]))
  }
  const chosen = new Map<string, number>()
  const random = repeatable()
  for (let round = 0; round < rounds; round++) {
    for (const { storeId } of chooseStores({ count, maxPerDomain, candidates: stores, taken: [], random })) {
      chosen.set(storeId, (chosen.get(storeId) ?? 0) + 1)
    }
  }
  return new Map(stores.map(({ storeId }) => [storeId, (chosen.get(storeId) ?? 0) / rounds]))
}

/** Random numbers from a fixed seed, so that the same input always gives the same result. */
function repeatable(): () => number {
  let state = 1
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}
