/** Counts which data is on which stores, from the metadata alone. Plans for other stores and locations use it. Reads only. */

import { bytesOfShards } from '../../blobs/blobs.ts'
import { type Demand, noDemand, withBlob } from '../../blobs/forecast.ts'
import { liesAs, type Shape } from '../../blobs/shape.ts'
import type { Kv } from '../../kv/kv.ts'
import type { BucketRecord } from '../../records/bucket-record.ts'
import type { BlobOwner } from '../../records/keyspace.ts'
import { everyBucket, everyReference } from '../blob-reference.ts'
import { walkBlobs } from '../walk-blobs.ts'

/** A location as the configuration wants it. */
export interface TargetLocation extends Shape {
  /** A store that does not exist yet has an identity that no shard names. */
  stores: readonly { storeId: string; domain: string }[]
}

export interface LocationCensus {
  /** The buckets that have this location. */
  buckets: string[]
  blobs: number
  bytes: number
  /** What must be written again to match the location's present shape. */
  outdated: Demand
}

export interface StoreCensus {
  shards: number
  bytes: number
  /** The bytes among these that become garbage when the outdated blobs are written again. */
  outdatedBytes: number
  /** The owner of one of its shards. */
  example: BlobOwner
}

export interface Census {
  locations: ReadonlyMap<string, LocationCensus>
  /** By identity. */
  stores: ReadonlyMap<string, StoreCensus>
  /** Buckets whose move has not ended. */
  moving: string[]
}

export async function takeCensus(kv: Kv, toBe: ReadonlyMap<string, TargetLocation>): Promise<Census> {
  const locations = new Map<string, LocationCensus>()
  const stores = new Map<string, StoreCensus>()
  const moving: string[] = []
  const censusOf = (name: string): LocationCensus => {
    const found = locations.get(name) ?? { buckets: [], blobs: 0, bytes: 0, outdated: noDemand }
    locations.set(name, found)
    return found
  }
  for await (const bucket of everyBucket(kv)) {
    censusOf(bucket.location).buckets.push(bucket.name)
    if (bucket.moving !== undefined) moving.push(bucket.name)
  }
  for await (const { owner, manifest } of everyReference(kv)) {
    // Snapshots are replaced by new ones at intervals, so they need no move.
    if (owner.kind === 'snapshot') continue
    const census = censusOf(manifest.location)
    const next = toBe.get(manifest.location)
    const isOutdated = next !== undefined && !liesAs(manifest, next, next.stores)
    census.blobs++
    census.bytes += manifest.size
    if (isOutdated) census.outdated = withBlob(census.outdated, next, manifest.size)
    const bytes = bytesOfShards(manifest)
    for (const { storeId } of manifest.shards) {
      const held = stores.get(storeId) ?? { shards: 0, bytes: 0, outdatedBytes: 0, example: owner }
      stores.set(storeId, held)
      held.shards++
      held.bytes += bytes
      if (isOutdated) held.outdatedBytes += bytes
    }
  }
  return { locations, stores, moving }
}

/** The data that a move of the bucket would write to the location. `belongs`: whether objects of a storage class go there. */
export async function demandOfMove(
  kv: Kv,
  bucket: BucketRecord,
  to: TargetLocation,
  belongs: (storageClass: string | undefined) => boolean,
): Promise<Demand> {
  let demand = noDemand
  for await (const { reference, storageClass } of walkBlobs(kv, bucket)) {
    const { manifest } = reference
    if (belongs(storageClass) && !liesAs(manifest, to, to.stores)) demand = withBlob(demand, to, manifest.size)
  }
  return demand
}
