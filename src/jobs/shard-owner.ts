/** Finds the record that references a shard, by the shard's description. Swaps the reference when the shard moves. */

import type { Backend } from '../commits/backend.ts'
import type { Entry } from '../kv/kv.ts'
import { readDescription } from '../records/description-bytes.ts'
import type { VersionDescription } from '../records/descriptions.ts'
import { type BlobOwner, historyKey, historyOf, objectKey } from '../records/keyspace.ts'
import type { GarbageRecord } from '../records/records.ts'
import type { FoundShard, ShardId } from '../stores/shard-store.ts'
import { type BlobReference, findReference, referenceOfVersion } from './blob-reference.ts'
import { everyEntry } from './every-entry.ts'

export interface ShardOwner {
  entry: Entry
  /** The bytes of the owner's record, with the shard's new place in its manifest. */
  withShardAt(id: ShardId): Buffer
  /** The shard at its old place, once nothing references it there. */
  garbage: GarbageRecord
}

/**
 * `undefined` when no record references the shard: it is an orphan, or garbage. `foreign` when its description names no owner: then it must not be touched.
 */
export async function findOwner(
  backend: Backend,
  storeId: string,
  shard: FoundShard,
): Promise<ShardOwner | 'foreign' | undefined> {
  const description = readDescription(shard.description)
  if (description === undefined) return 'foreign'
  if (description.kind === 'part') {
    const { uploadId, partNumber } = description
    return ownerNamed(backend, storeId, shard.id, { kind: 'part', uploadId, number: partNumber })
  }
  if (description.kind === 'snapshot') {
    const { snapshotId, piece } = description
    return ownerNamed(backend, storeId, shard.id, { kind: 'snapshot', id: snapshotId, piece })
  }
  // Looks at the key that the writer expected for the version and at the current version's key. If other writes came between, at all versions of the object.
  const { bucket, key, sequence } = description
  while (true) {
    const likely = await backend.kv.get([objectKey(bucket, key), historyKey(bucket, key, sequence)])
    for (const entry of likely) {
      const owner = entry && owning(storeId, shard.id, referenceOfVersion(bucket, key, entry))
      if (owner !== undefined) return owner
    }
    const found = await searchHistory(backend, storeId, shard.id, description)
    if (found !== undefined) return found
    // Versions move between the history and the current key: the search holds only if the current version stayed.
    const [current] = await backend.kv.get([objectKey(bucket, key)])
    if (current?.version === likely[0]?.version) return undefined
  }
}

async function ownerNamed(
  backend: Backend,
  storeId: string,
  id: ShardId,
  owner: BlobOwner,
): Promise<ShardOwner | undefined> {
  return owning(storeId, id, await findReference(backend.kv, owner))
}

async function searchHistory(
  backend: Backend,
  storeId: string,
  id: ShardId,
  { bucket, key }: VersionDescription,
): Promise<ShardOwner | undefined> {
  for await (const entry of everyEntry(backend.kv, historyOf(bucket, key))) {
    const owner = owning(storeId, id, referenceOfVersion(bucket, key, entry))
    if (owner !== undefined) return owner
  }
  return undefined
}

/** `undefined` when the record does not reference the shard. */
function owning(storeId: string, id: ShardId, reference: BlobReference | undefined): ShardOwner | undefined {
  if (reference === undefined) return undefined
  const { manifest, entry, owner } = reference
  const isThis = (shard: { storeId: string; id: ShardId }): boolean => shard.storeId === storeId && shard.id === id
  if (!manifest.shards.some(isThis)) return undefined
  return {
    entry,
    garbage: { kind: 'blob', manifest: { ...manifest, shards: manifest.shards.filter(isThis) }, owner },
    withShardAt: (newId) =>
      reference.withManifest({
        ...manifest,
        shards: manifest.shards.map((shard) => (isThis(shard) ? { ...shard, id: newId } : shard)),
      }),
  }
}
