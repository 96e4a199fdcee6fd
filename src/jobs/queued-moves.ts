/** Moves the blobs that a move of their bucket may have missed: see `store/move-queue`. */
import type { Entry } from '../kv/kv.ts'
import type { Pace } from '../shards/blobs.ts'
import { moveOwnerOf, moves } from '../store/keyspace.ts'
import { moveCodec } from '../store/record-codecs.ts'
import type { Store } from '../store/store.ts'
import { foundBucket } from './blob-reference.ts'
import { everyEntry } from './every-entry.ts'
import { isRefusedForNow, moveBlob } from './move-blob.ts'

/** Resolves with how many of the queue are where they belong. What can't be read, or written, now stays queued. */
export async function moveQueued(store: Store, pace: Pace = async () => {}): Promise<number> {
  let moved = 0
  for await (const queued of everyEntry(store.kv, moves)) {
    const isDone = await moveOne(store, queued, pace)
    if (!isDone) continue
    moved++
    await store.kv.commit({ checks: [{ key: queued.key, version: queued.version }], deletes: [queued.key] })
  }
  return moved
}

async function moveOne(store: Store, queued: Entry, pace: Pace): Promise<boolean> {
  const { bucket: name } = moveCodec.decode(queued.key, queued.value)
  const bucket = await foundBucket(store.kv, name)
  if (bucket === undefined) return true
  try {
    const { state } = await moveBlob(store, bucket.record, moveOwnerOf(queued.key), pace)
    return state === 'there' || state === 'gone'
  } catch (error) {
    if (isRefusedForNow(error)) return false
    throw error
  }
}
