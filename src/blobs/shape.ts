/** The number and size of the shards that a location makes of a blob, and whether a blob already has them. Pure. */
import { limits } from '../limits.ts'
import type { ErasureScheme } from './erasure/generator-matrix.ts'
import { shardBytes } from './erasure/stripes.ts'
import { type LocationPolicy, lossesSurvived } from './location-policy.ts'
import type { Manifest } from './manifest.ts'
import type { StoreInDomain } from './placement.ts'

export interface Shape {
  /** For blobs that are copied whole. */
  copies: number
  /** Absent: everything is copied whole. */
  striping?: (ErasureScheme & { replicateBelow: number }) | undefined
  /** Most shards of a blob in one failure domain. */
  maxPerDomain: number
}

export function shapeOf(policy: LocationPolicy): Shape {
  const { maxPerDomain } = policy
  const striping = policy.scheme === 'replica' ? undefined : policy
  return { copies: lossesSurvived(policy) + 1, striping, maxPerDomain }
}

/** For a blob of `size` bytes: how many shards, and the bytes of each. */
export function shardsOfBlob({ copies, striping }: Shape, size: number): { count: number; bytes: number } {
  if (striping === undefined || size < striping.replicateBelow) return { count: copies, bytes: size }
  const { data, parity } = striping
  return { count: data + parity, bytes: shardBytes({ size, data, unitBytes: limits.stripeUnitBytes }) }
}

/** Whether the number, kind and stores of a blob's shards match the location. Its name and version do not matter; missing shards count as present. */
export function liesAs(manifest: Manifest, shape: Shape, stores: readonly StoreInDomain[]): boolean {
  const { striping, maxPerDomain } = shape
  const { count } = shardsOfBlob(shape, manifest.size)
  const isStriped = striping !== undefined && manifest.size >= striping.replicateBelow
  if (isStriped !== (manifest.scheme === 'erasure')) return false
  if (manifest.scheme === 'erasure' && manifest.data !== striping?.data) return false
  if (manifest.shards.length + (manifest.missing ?? 0) !== count) return false

  const domains = new Map(stores.map(({ storeId, domain }) => [storeId, domain]))
  const inDomain = new Map<string, number>()
  for (const { storeId } of manifest.shards) {
    const domain = domains.get(storeId)
    if (domain === undefined) return false
    inDomain.set(domain, (inDomain.get(domain) ?? 0) + 1)
  }
  return [...inDomain.values()].every((shards) => shards <= maxPerDomain)
}
