/** Moves one blob to the location of its bucket: copies it first, then swaps the reference by a checked commit that makes the old blob garbage. */

import { BlobUnreadable, type Manifest, type Pace } from '../blobs/blobs.ts'
import type { Backend } from '../commits/backend.ts'
import { garbagePut } from '../commits/commit.ts'
import { repairPuts } from '../commits/repair-queue.ts'
import type { FoundBucket } from '../commits/scope.ts'
import { S3Error } from '../errors.ts'
import type { BucketRecord } from '../records/bucket-record.ts'
import { type BlobOwner, bucketKey } from '../records/keyspace.ts'
import { ShardMissing, StoreFull, StoreOut } from '../stores/shard-store.ts'
import { type BlobReference, findReference, foundBucket } from './blob-reference.ts'

export type MoveOutcome =
  /** The blob lies there as the location asks, or already did. `bytes`: how many were written. */
  | { state: 'there'; bytes: number }
  /** No record references it any more, or the bucket has changed. */
  | { state: 'gone' }
  /** Others kept changing the record. */
  | { state: 'changed' }
  | { state: 'unreadable'; error: BlobUnreadable }

const attemptsMax = 3

/**
 * `bucket`: the owner's, as the caller found it. If it is gone or has another location now, nothing happens. Throws what writing to the location throws: `StoreFull`,
 * ServiceUnavailable. Nothing is lost then, and another run continues.
 */
export async function moveBlob(
  backend: Backend,
  bucket: BucketRecord,
  owner: BlobOwner,
  pace: Pace,
): Promise<MoveOutcome> {
  const { location } = bucket
  for (let attempt = 1; attempt <= attemptsMax; attempt++) {
    if ((await unchangedBucket(backend, bucket)) === undefined) return { state: 'gone' }
    const reference = await findReference(backend.kv, owner)
    if (reference === undefined) return { state: 'gone' }
    const { manifest } = reference
    const adopted = backend.blobs.adopted(location, manifest)
    if (adopted !== undefined) {
      if (isOf(manifest, adopted) || (await swap(backend, bucket, reference, adopted, false)))
        return { state: 'there', bytes: 0 }
      continue
    }
    try {
      const made = await backend.blobs.copy(manifest, location, pace)
      if (await swap(backend, bucket, reference, made, true)) return { state: 'there', bytes: manifest.size }
      await backend.blobs.remove([made])
    } catch (error) {
      if (!(error instanceof BlobUnreadable)) throw error
      // Compaction or another move may have moved it meanwhile.
      if (!(error.cause instanceof ShardMissing) || attempt === attemptsMax) return { state: 'unreadable', error }
    }
  }
  return { state: 'changed' }
}

/** `undefined` when the bucket is gone, whether or not a new one has its name, or when it has another location. */
export async function unchangedBucket(
  { kv }: Backend,
  { name, id, location }: BucketRecord,
): Promise<FoundBucket | undefined> {
  const found = await foundBucket(kv, name)
  return found?.record.id === id && found.record.location === location ? found : undefined
}

/** Whether it may work later: the stores have no room, or too few of them are in use. */
export function isRefusedForNow(error: unknown): boolean {
  return (
    error instanceof StoreFull || error instanceof StoreOut || (error instanceof S3Error && passing.has(error.code))
  )
}

const passing: ReadonlySet<string> = new Set(['ServiceUnavailable', 'SlowDown'])

const isOf = (manifest: Manifest, { location, locationVersion }: Manifest): boolean =>
  manifest.location === location && manifest.locationVersion === locationVersion

/** False when the record references another blob by now, or the bucket has changed. Other changes of the record, such as its key in the history, its tags and its locks, are kept. */
async function swap(
  backend: Backend,
  bucket: BucketRecord,
  { owner, manifest }: BlobReference,
  made: Manifest,
  isCopy: boolean,
): Promise<boolean> {
  for (;;) {
    const now = await unchangedBucket(backend, bucket)
    if (now === undefined) return false
    const reference = await findReference(backend.kv, owner)
    if (reference === undefined || !isSameBlob(reference.manifest, manifest)) return false
    const { key, version } = reference.entry
    const swapped = await backend.kv.commit({
      checks: [
        { key, version },
        { key: bucketKey(bucket.name), version: now.version },
      ],
      puts: [
        { key, value: reference.withManifest(made) },
        ...repairPuts(backend, owner, made),
        ...(isCopy ? [garbagePut(backend, { kind: 'blob', manifest, owner })] : []),
      ],
    })
    if (swapped) return true
  }
}

/** Shard ids are never used again. */
function isSameBlob({ shards }: Manifest, { shards: others }: Manifest): boolean {
  return (
    shards.length === others.length &&
    shards.every(({ storeId, id }, i) => storeId === others[i]?.storeId && id === others[i]?.id)
  )
}
