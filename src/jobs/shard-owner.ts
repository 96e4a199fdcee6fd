/** Finds the record that references a shard, from what the shard says of itself; and swaps the reference when the shard moves. */
import type { Entry } from '../kv/kv.ts'
import { type KeyRange, keyAfter } from '../kv/ordered-key.ts'
import { limits } from '../limits.ts'
import type { Manifest } from '../shards/blobs.ts'
import type { FoundShard, ShardId } from '../shards/shard-store.ts'
import { type PartDescription, readDescription } from '../store/descriptions.ts'
import { historyKey, historyOf, objectKey, partKey } from '../store/keyspace.ts'
import { partCodec, versionCodec } from '../store/record-codecs.ts'
import type { GarbageRecord } from '../store/records.ts'
import type { Store } from '../store/store.ts'

export interface ShardOwner {
  entry: Entry
  /** The owner's record, in bytes, with the shard's new place in its manifest. */
  withShardAt(id: ShardId): Buffer
  /** The shard where it is now, once nothing references it there. */
  garbage: GarbageRecord
}

/**
 * `undefined` when no record references the shard: it is an orphan, or garbage. `foreign` when it does not say whose it is: then it is kept, and left alone.
 */
export async function findOwner(
  store: Store,
  storeId: string,
  shard: FoundShard,
): Promise<ShardOwner | 'foreign' | undefined> {
  const description = readDescription(shard.description)
  if (description === undefined) return 'foreign'
  if (description.kind === 'part') return ownerOfPart(store, storeId, shard.id, description)
  // Where the writer meant to put the version; where the current one lies; and, when others came between, all of its versions.
  const { bucket, key, sequence } = description
  while (true) {
    const likely = await store.kv.get([objectKey(bucket, key), historyKey(bucket, key, sequence)])
    for (const entry of likely) {
      const owner = entry && ownerOfVersion(storeId, shard.id, entry)
      if (owner !== undefined) return owner
    }
    const found = await searchHistory(store, storeId, shard.id, historyOf(bucket, key))
    if (found !== undefined) return found
    // Versions move between the history and the current place: what was searched holds only if the current one stayed.
    const [current] = await store.kv.get([objectKey(bucket, key)])
    if (current?.version === likely[0]?.version) return undefined
  }
}

async function ownerOfPart(
  store: Store,
  storeId: string,
  id: ShardId,
  { uploadId, partNumber }: PartDescription,
): Promise<ShardOwner | undefined> {
  const key = partKey(uploadId, partNumber)
  const [entry] = await store.kv.get([key])
  if (entry === undefined) return undefined
  const part = partCodec.decode(key, entry.value)
  return owning(part.manifest, storeId, id, entry, (manifest) => partCodec.encode(key, { ...part, manifest }))
}

async function searchHistory(
  store: Store,
  storeId: string,
  id: ShardId,
  { start, end }: KeyRange,
): Promise<ShardOwner | undefined> {
  for (let from = start; ; ) {
    const batch = await store.kv.range({ start: from, end, limit: limits.reclaimBatch })
    for (const entry of batch) {
      const owner = ownerOfVersion(storeId, id, entry)
      if (owner !== undefined) return owner
    }
    const last = batch.at(-1)
    if (last === undefined || batch.length < limits.reclaimBatch) return undefined
    from = keyAfter(last.key)
  }
}

function ownerOfVersion(storeId: string, id: ShardId, entry: Entry): ShardOwner | undefined {
  const { key } = entry
  const version = versionCodec.decode(key, entry.value)
  if (version.kind === 'marker' || version.data.kind !== 'blob') return undefined
  return owning(version.data.manifest, storeId, id, entry, (manifest) =>
    versionCodec.encode(key, { ...version, data: { kind: 'blob', manifest } }),
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
