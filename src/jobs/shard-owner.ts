/** Finds the record that references a shard, from what the shard says of itself; and swaps the reference when the shard moves. */
import type { Entry } from '../kv/kv.ts'
import type { Manifest } from '../shards/blobs.ts'
import type { FoundShard, ShardId } from '../shards/shard-store.ts'
import { readDescription } from '../store/descriptions.ts'
import { objectKey, partKey } from '../store/keyspace.ts'
import { type GarbageRecord, objectCodec, partCodec } from '../store/records.ts'
import type { Store } from '../store/store.ts'

export interface ShardOwner {
  entry: Entry
  /** The owner's record, in bytes, with the shard's new place in its manifest. */
  withShardAt(id: ShardId): Buffer
  /** The shard where it is now, once nothing references it there. */
  garbage: GarbageRecord
}

/** `undefined` when no record references the shard: it is an orphan, or garbage. */
export async function findOwner(store: Store, storeId: string, shard: FoundShard): Promise<ShardOwner | undefined> {
  const description = readDescription(shard.description)
  const key =
    description.kind === 'object'
      ? objectKey(description.bucket, description.key)
      : partKey(description.uploadId, description.partNumber)
  const [entry] = await store.kv.get([key])
  if (entry === undefined) return undefined

  if (description.kind === 'part') {
    const part = partCodec.decode(key, entry.value)
    return owning(part.manifest, storeId, shard.id, entry, (manifest) => partCodec.encode(key, { ...part, manifest }))
  }
  const object = objectCodec.decode(key, entry.value)
  if (object.data.kind !== 'blob') return undefined
  return owning(object.data.manifest, storeId, shard.id, entry, (manifest) =>
    objectCodec.encode(key, { ...object, data: { kind: 'blob', manifest } }),
  )
}

function owning(
  manifest: Manifest,
  storeId: string,
  id: ShardId,
  entry: Entry,
  encode: (manifest: Manifest) => Buffer,
): ShardOwner | undefined {
  const isThis = (shard: { storeId: string; id: ShardId }): boolean => shard.storeId === storeId && shard.id === id
  if (!manifest.shards.some(isThis)) return undefined
  return {
    entry,
    garbage: { kind: 'blob', manifest: { ...manifest, shards: manifest.shards.filter(isThis) } },
    withShardAt: (newId) =>
      encode({ ...manifest, shards: manifest.shards.map((shard) => (isThis(shard) ? { storeId, id: newId } : shard)) }),
  }
}
