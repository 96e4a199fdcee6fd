/** Moves one blob to where its bucket's data belongs: copied first, swapped by a checked commit in which the old one becomes garbage. */
import { S3Error } from '../errors.ts'
import { BlobUnreadable, type Manifest, type Pace } from '../shards/blobs.ts'
import { ShardMissing, StoreFull } from '../shards/shard-store.ts'
import { garbagePut } from '../store/commit.ts'
import type { BlobOwner } from '../store/keyspace.ts'
import { repairPuts } from '../store/repair-queue.ts'
import type { Store } from '../store/store.ts'
import { type BlobReference, findReference } from './blob-reference.ts'

export type MoveOutcome =
  /** It lies there as the location asks, or did already. `bytes`: so many were written. */
  | { state: 'there'; bytes: number }
  /** No record references it any more. */
  | { state: 'gone' }
  /** Others kept changing it. */
  | { state: 'changed' }
  | { state: 'unreadable'; reason: string }

const attemptsMax = 3

/** Throws what writing to the location throws: `StoreFull`, ServiceUnavailable. Nothing is lost then, and another run goes on. */
export async function moveBlob(store: Store, owner: BlobOwner, location: string, pace: Pace): Promise<MoveOutcome> {
  for (let attempt = 1; attempt <= attemptsMax; attempt++) {
    const reference = await findReference(store.kv, owner)
    if (reference === undefined) return { state: 'gone' }
    const { manifest } = reference
    const adopted = store.blobs.adopted(location, manifest)
    if (adopted !== undefined) {
      if (isOf(manifest, adopted) || (await swap(store, reference, adopted, false))) return { state: 'there', bytes: 0 }
      continue
    }
    try {
      const made = await store.blobs.copy(manifest, location, pace)
      if (await swap(store, reference, made, true)) return { state: 'there', bytes: manifest.size }
      await store.blobs.remove([made])
    } catch (error) {
      if (!(error instanceof BlobUnreadable)) throw error
      // Compaction or another move may have taken it elsewhere meanwhile.
      if (!(error.cause instanceof ShardMissing) || attempt === attemptsMax)
        return { state: 'unreadable', reason: error.message }
    }
  }
  return { state: 'changed' }
}

/** Whether writing may work later: the stores have no room, or too few of them are there. */
export function isRefusedForNow(error: unknown): boolean {
  return error instanceof StoreFull || (error instanceof S3Error && error.code === 'ServiceUnavailable')
}

const isOf = (manifest: Manifest, { location, locationVersion }: Manifest): boolean =>
  manifest.location === location && manifest.locationVersion === locationVersion

/** False when the record references another blob by now. What else changes of it, such as its place, its tags and its locks, is kept. */
async function swap(store: Store, found: BlobReference, made: Manifest, isCopy: boolean): Promise<boolean> {
  const { owner, manifest } = found
  for (let reference: BlobReference | undefined = found; reference !== undefined; ) {
    if (!isSameBlob(reference.manifest, manifest)) return false
    const { key, version } = reference.entry
    const swapped = await store.kv.commit({
      checks: [{ key, version }],
      puts: [
        { key, value: reference.withManifest(made) },
        ...repairPuts(store, owner, made),
        ...(isCopy ? [garbagePut(store, { kind: 'blob', manifest })] : []),
      ],
    })
    if (swapped) return true
    reference = await findReference(store.kv, owner)
  }
  return false
}

/** No store gives a shard's name again. */
function isSameBlob({ shards }: Manifest, { shards: others }: Manifest): boolean {
  return (
    shards.length === others.length &&
    shards.every(({ storeId, id }, i) => storeId === others[i]?.storeId && id === others[i]?.id)
  )
}
