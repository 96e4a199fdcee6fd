/** Writes and reads blobs over the stores that a location names. A blob is what one object or part keeps; a shard is one store's piece of it. */
import type { ByteSource } from '../byte-source.ts'
import type { ShardId, ShardRange, ShardStore } from './shard-store.ts'
import { ShardMissing } from './shard-store.ts'

/** Says where a blob's shards lie. Part of an object's record; never edited in place. */
export interface Manifest {
  /** The location, and its version, that placed the shards. */
  location: string
  locationVersion: number
  /** `replica`: every shard is a whole copy. */
  scheme: 'replica'
  size: number
  shards: readonly { storeId: string; id: ShardId }[]
}

/** A named, versioned policy: over which stores, and how, data is sharded. */
export interface Location {
  name: string
  version: number
  scheme: 'replica'
  stores: readonly ShardStore[]
}

export interface Blobs {
  /** Resolves when every shard that the location promises is durable. On rejection nothing is left behind. */
  write(location: string, blob: { payload: ByteSource; describe(): Buffer }): Promise<Manifest>
  /** Opens a range. Verified as it is read. Errors: `ShardMissing`, `ShardDamaged`. */
  read(manifest: Manifest, range: ShardRange): Promise<ByteSource>
  /** Deletes the shards of blobs that no record references, and none will. */
  remove(manifests: readonly Manifest[]): Promise<void>
  hasLocation(name: string): boolean
  readonly stores: readonly ShardStore[]
}

export function openBlobs(locations: readonly Location[]): Blobs {
  const byName = new Map(locations.map((location) => [location.name, location]))
  const stores = new Map(
    locations.flatMap((location) => location.stores.map((store) => [store.storeId, store] as const)),
  )

  async function read(manifest: Manifest, range: ShardRange): Promise<ByteSource> {
    let failure: unknown
    for (const shard of manifest.shards) {
      const store = stores.get(shard.storeId)
      if (store === undefined) {
        failure ??= new ShardMissing(shard.id)
        continue
      }
      try {
        return await store.get(shard.id, range)
      } catch (error) {
        failure ??= error
      }
    }
    throw failure
  }

  return {
    stores: [...stores.values()],
    hasLocation: (name) => byName.has(name),
    read,

    async write(locationName, blob) {
      const location = byName.get(locationName)
      const store = location?.stores[0]
      if (location === undefined || store === undefined) throw new Error(`location ${locationName} has no store`)
      const id = await store.put(blob)
      return {
        location: location.name,
        locationVersion: location.version,
        scheme: location.scheme,
        size: blob.payload.size,
        shards: [{ storeId: store.storeId, id }],
      }
    },

    async remove(manifests) {
      const idsByStore = new Map<string, ShardId[]>()
      for (const { storeId, id } of manifests.flatMap((manifest) => manifest.shards)) {
        const ids = idsByStore.get(storeId)
        if (ids === undefined) idsByStore.set(storeId, [id])
        else ids.push(id)
      }
      await Promise.all([...idsByStore].map(([storeId, ids]) => stores.get(storeId)?.delete(ids)))
    },
  }
}
