/** What uses the locations and stores that a configuration lacks. */
import { everyBucket, everyReference } from '../../jobs/blob-reference.ts'
import type { Kv } from '../../kv/kv.ts'
import type { BlobOwner } from '../../records/keyspace.ts'

/** The buckets in these locations, by location. */
export async function bucketsIn(kv: Kv, locations: readonly string[]): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>()
  if (locations.length === 0) return found
  for await (const { name, location } of everyBucket(kv)) {
    if (locations.includes(location)) found.set(location, [...(found.get(location) ?? []), name])
  }
  return found
}

/** An example of the data on each of these stores, by the store's id. Stores without data are left out. Stops reading once every store has an example. */
export async function dataOn(kv: Kv, storeIds: readonly string[]): Promise<Map<string, BlobOwner>> {
  const found = new Map<string, BlobOwner>()
  if (storeIds.length === 0) return found
  for await (const { owner, manifest } of everyReference(kv)) {
    // Snapshots don't count, because the next ones go to other stores.
    if (owner.kind === 'snapshot') continue
    for (const { storeId } of manifest.shards) {
      if (storeIds.includes(storeId) && !found.has(storeId)) found.set(storeId, owner)
    }
    if (found.size === storeIds.length) return found
  }
  return found
}
