/** Moves the queued blobs to where they belong: see `commits/move-queue`. */

import type { Pace } from '../../blobs/blobs.ts'
import type { Backend } from '../../commits/backend.ts'
import { eachOf } from '../../each-of.ts'
import type { Entry, Kv } from '../../kv/kv.ts'
import { limits } from '../../limits.ts'
import { type MovableOwner, moveOwnerOf, moves, partOf, partsOf } from '../../records/keyspace.ts'
import { moveCodec } from '../../records/record-codecs.ts'
import type { StorageClass } from '../../storage-class.ts'
import { readBucket } from '../blob-reference.ts'
import { everyEntry } from '../every-entry.ts'
import { findVersionRecord } from '../version-record.ts'
import { isRefusedForNow, type MovableBlob, moveBlob } from './move-blob.ts'

/** Resolves with the number of queued blobs that are now in the right place. Blobs that can't be read or written now stay queued. */
export async function moveQueued(
  backend: Backend,
  { pace = async () => {}, did }: { pace?: Pace; did?(queued: number): void } = {},
): Promise<number> {
  let moved = 0
  await eachOf(everyEntry(backend.kv, moves), limits.moveBlobsInFlightMax, async (queued) => {
    const isDone = await moveOne(backend, queued, pace)
    if (!isDone) return
    moved++
    did?.(1)
    await backend.kv.commit({ checks: [{ key: queued.key, version: queued.version }], deletes: [queued.key] })
  })
  return moved
}

async function moveOne(backend: Backend, queued: Entry, pace: Pace): Promise<boolean> {
  const { bucket: name, storageClass } = moveCodec.decode(queued.key, queued.value)
  const bucket = await readBucket(backend.kv, name)
  if (bucket === undefined) return true
  try {
    let isDone = true
    for await (const blob of blobsOf(backend.kv, moveOwnerOf(queued.key), storageClass)) {
      const { state } = await moveBlob(backend, bucket.record, blob, pace)
      isDone &&= state === 'there' || state === 'gone'
    }
    return isDone
  } catch (error) {
    if (isRefusedForNow(error)) return false
    throw error
  }
}

/** The part, or the blobs of a version: its own, and its parts. `ofPart`: the storage class of a part's upload. */
async function* blobsOf(kv: Kv, owner: MovableOwner, ofPart: StorageClass | undefined): AsyncGenerator<MovableBlob> {
  if (owner.kind === 'part') {
    yield { owner, storageClass: ofPart }
    return
  }
  const record = (await findVersionRecord(kv, owner))?.record
  if (record?.kind !== 'object') return
  const { storageClass } = record.attributes
  yield { owner, storageClass }
  if (record.data.kind !== 'parts') return
  for await (const { key } of everyEntry(kv, partsOf(record.data.uploadId))) {
    yield { owner: { kind: 'part', ...partOf(key) }, storageClass }
  }
}
