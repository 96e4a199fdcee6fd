/** Moves one blob to where it belongs, the location of its bucket or of its storage class: copies it, then swaps the reference in a checked commit that makes the old blob garbage. */

import { BlobUnreadable, type Manifest, type Pace } from '../../blobs/blobs.ts'
import type { Backend } from '../../commits/backend.ts'
import { garbagePut } from '../../commits/commit.ts'
import { repairPuts } from '../../commits/repair-queue.ts'
import type { FoundBucket } from '../../commits/scope.ts'
import { S3Error } from '../../errors.ts'
import type { BucketRecord } from '../../records/bucket-record.ts'
import { type BlobOwner, bucketKey } from '../../records/keyspace.ts'
import type { StorageClass } from '../../storage-class.ts'
import { ShardMissing, StoreFull, StoreOut } from '../../stores/shard-store.ts'
import { type BlobReference, findReference, readBucket } from '../blob-reference.ts'

export type MoveOutcome =
  /** The blob is where it belongs, in the location's newest version. `bytes`: how many were written. */
  | { state: 'there'; bytes: number }
  /** No record references the blob any more, or the bucket has changed. */
  | { state: 'gone' }
  /** Other writes kept changing the record. */
  | { state: 'changed' }
  | { state: 'unreadable'; error: BlobUnreadable }

const attemptsMax = 3

export interface MovableBlob {
  owner: BlobOwner
  /** That of its object. Absent: STANDARD. */
  storageClass: StorageClass | undefined
}

/**
 * `bucket`: the bucket of the blob, as the caller read it. Does nothing if it is gone or has another location by now. Throws the errors of writing to the location:
 * `StoreFull`, ServiceUnavailable. Then nothing is lost, and another run continues.
 */
export async function moveBlob(
  backend: Backend,
  bucket: BucketRecord,
  { owner, storageClass }: MovableBlob,
  pace: Pace,
): Promise<MoveOutcome> {
  const location = backend.blobs.locationFor(bucket.location, storageClass)
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
      // Compaction or another move can have moved the shard meanwhile.
      if (!(error.cause instanceof ShardMissing) || attempt === attemptsMax) return { state: 'unreadable', error }
    }
  }
  return { state: 'changed' }
}

/** `undefined` when the bucket has another location, or is gone, even if a new bucket has its name. */
export async function unchangedBucket(
  { kv }: Backend,
  { name, id, location }: BucketRecord,
): Promise<FoundBucket | undefined> {
  const found = await readBucket(kv, name)
  return found?.record.id === id && found.record.location === location ? found : undefined
}

/** Whether a later attempt can succeed: the stores have no room now, or too few of them are in use. */
export function isRefusedForNow(error: unknown): boolean {
  return (
    error instanceof StoreFull ||
    error instanceof StoreOut ||
    (error instanceof S3Error && transientCodes.has(error.code))
  )
}

const transientCodes: ReadonlySet<string> = new Set(['ServiceUnavailable', 'SlowDown'])

const isOf = (manifest: Manifest, { location, locationVersion }: Manifest): boolean =>
  manifest.location === location && manifest.locationVersion === locationVersion

/** False when the record references another blob by now, or the bucket has changed. Keeps other changes of the record, such as its history key, tags and locks. */
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

/** Shard ids are never reused, so blobs with the same ids are the same. */
function isSameBlob({ shards }: Manifest, { shards: others }: Manifest): boolean {
  return (
    shards.length === others.length &&
    shards.every(({ storeId, id }, i) => storeId === others[i]?.storeId && id === others[i]?.id)
  )
}
