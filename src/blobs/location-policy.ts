/** How a location spreads data over its stores, as configured and as recorded in the metadata, and whether its stores can satisfy it. Pure. */

/** The name of the location in the data directory, and of its store. Data directories of every version have it; shared metadata has none of this name. */
export const ownLocation = 'default'

interface Spread {
  /** Names of stores. */
  stores: readonly string[]
  /** Most shards of one blob in one failure domain. */
  maxPerDomain: number
  /** A write succeeds once this many shards are durable. */
  writeAck: number
  /** S3's storage classes whose objects lie here, whatever their bucket's location is. Absent: none. */
  storageClasses?: readonly string[] | undefined
}

/** Every shard is a whole copy. */
export interface ReplicaPolicy extends Spread {
  scheme: 'replica'
  copies: number
}

/** A blob has `data` pieces and `parity` pieces computed from them. Any `data` of all pieces are enough to read it. */
export interface ErasurePolicy extends Spread {
  scheme: 'erasure'
  data: number
  parity: number
  /** Blobs smaller than this are copied whole. */
  replicateBelow: number
}

export type LocationPolicy = ReplicaPolicy | ErasurePolicy

function shardsOf(policy: LocationPolicy): number {
  return policy.scheme === 'replica' ? policy.copies : policy.data + policy.parity
}

/** Where the data of an object belongs: in the location that keeps its storage class, or else in that of its bucket. `storageClass` is absent for STANDARD. */
export function locationFor(
  locations: Iterable<{ name: string; storageClasses?: readonly string[] | undefined }>,
  bucketLocation: string,
  storageClass: string | undefined,
): string {
  if (storageClass === undefined) return bucketLocation
  for (const { name, storageClasses } of locations) if (storageClasses?.includes(storageClass)) return name
  return bucketLocation
}

/** More than half of the copies: any two such writes share a store. */
export function usualWriteAck(copies: number): number {
  return Math.floor(copies / 2) + 1
}

/** One more than reading needs, so that acknowledged data survives the loss of a store. */
export function usualWriteAckOfStripes({ data, parity }: { data: number; parity: number }): number {
  return data + Math.min(1, parity)
}

/** The number of stores that can fail without loss of data. */
export function lossesSurvived(policy: LocationPolicy): number {
  return policy.scheme === 'replica' ? policy.copies - 1 : policy.parity
}

/** Bytes kept for each byte stored; for an erasure policy, that of striped blobs. */
export function overheadOf(policy: LocationPolicy): number {
  return policy.scheme === 'replica' ? policy.copies : (policy.data + policy.parity) / policy.data
}

/** The number of failure domains, whichever they are, that can fail without loss of data: with every store in use, and without those that are out. */
export function domainLossesSurvived(
  policy: LocationPolicy,
  stores: readonly { domain: string; isOut: boolean }[],
): { whole: number; now: number } {
  const domains = new Map<string, { size: number; out: number }>()
  for (const { domain, isOut } of stores) {
    const found = domains.get(domain) ?? { size: 0, out: 0 }
    domains.set(domain, { size: found.size + 1, out: found.out + (isOut ? 1 : 0) })
  }
  const whole = [...domains.values()].map(({ size }) => Math.min(size, policy.maxPerDomain))
  const lost = [...domains.values()].map(({ out }, i) => Math.min(out, whole[i] ?? 0))
  const left = whole.map((most, i) => most - (lost[i] ?? 0)).filter((most) => most > 0)
  const losses = lossesSurvived(policy)
  return { whole: within(whole, losses), now: within(left, losses - sumOf(lost)) }
}

/** How many of `amounts` can be taken from `most` in the worst case: the largest ones go first. */
function within(amounts: readonly number[], most: number): number {
  const descending = amounts.toSorted((a, b) => b - a)
  const over = descending.findIndex((_, i) => sumOf(descending.slice(0, i + 1)) > most)
  return over === -1 ? amounts.length : over
}

const sumOf = (amounts: readonly number[]): number => amounts.reduce((sum, amount) => sum + amount, 0)

/** Why the stores can't satisfy `policy`, or `undefined`. `domains`: the failure domain of every store, by name. */
export function policyFault(policy: LocationPolicy, domains: ReadonlyMap<string, string>): string | undefined {
  const { stores, maxPerDomain, writeAck } = policy
  const shards = shardsOf(policy)
  const repeated = stores.find((name, i) => stores.indexOf(name) !== i)
  if (repeated !== undefined) return `names store '${repeated}' twice`
  if (stores.length < shards) return `needs at least ${shards} stores for ${shards} shards, and names ${stores.length}`
  if (writeAck > shards) return `writeAck is ${writeAck}, but only ${shards} shards are written`
  if (policy.scheme === 'erasure' && writeAck < policy.data) {
    return `writeAck is ${writeAck}, but it takes ${policy.data} shards to read`
  }
  const inDomain = new Map<string, number>()
  for (const name of stores) {
    const domain = domains.get(name) ?? name
    inDomain.set(domain, (inDomain.get(domain) ?? 0) + 1)
  }
  const room = [...inDomain.values()].reduce((sum, count) => sum + Math.min(count, maxPerDomain), 0)
  if (room >= shards) return undefined
  const spread = `its stores lie in ${inDomain.size} failure domain${inDomain.size === 1 ? '' : 's'}`
  return `${spread}, which at maxPerDomain = ${maxPerDomain} take ${room} of ${shards} shards: add stores in others, or raise maxPerDomain`
}
