/** How a location shards data over its stores, as the configuration says it and the metadata remembers it; and whether its stores can keep to it. Pure. */

interface Spread {
  /** Names of stores. */
  stores: readonly string[]
  /** Most shards of one blob in one failure domain. */
  maxPerDomain: number
  /** A write succeeds when so many shards are durable. */
  writeAck: number
}

/** Every shard is a whole copy. */
export interface ReplicaPolicy extends Spread {
  scheme: 'replica'
  copies: number
}

/** Shards are `data` pieces and `parity` pieces computed from them, of which any `data` give the bytes back. */
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

/** More than half of the copies: two such writes always meet in a store. */
export function usualWriteAck(copies: number): number {
  return Math.floor(copies / 2) + 1
}

/** One more than it takes to read: what was acknowledged survives a loss. */
export function usualWriteAckOfStripes({ data, parity }: { data: number; parity: number }): number {
  return data + Math.min(1, parity)
}

/** Stores that may be lost without loss of data. */
export function lossesSurvived(policy: LocationPolicy): number {
  return policy.scheme === 'replica' ? policy.copies - 1 : policy.parity
}

/** Why `policy` can't be kept to, or `undefined`. `domains`: the failure domain of every store that there is, by name. */
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
