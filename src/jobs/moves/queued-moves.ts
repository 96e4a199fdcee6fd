/** Moves the blobs that a move of their bucket can have missed: see `commits/move-queue`. */

import type { Pace } from '../../blobs/blobs.ts'
import type { Backend } from '../../commits/backend.ts'
import type { Entry, Kv } from '../../kv/kv.ts'
import { type MovableOwner, moveOwnerOf, moves, partOf, partsOf } from '../../records/keyspace.ts'
import { moveCodec } from '../../records/record-codecs.ts'
import { readBucket } from '../blob-reference.ts'
import { everyEntry } from '../every-entry.ts'
import { findVersionRecord } from '../version-record.ts'
import { isRefusedForNow, moveBlob } from './move-blob.ts'

/** Resolves with the number of queued blobs that are now in the right place. Blobs that can't be read or written now stay queued. */
export async function moveQueued(
  backend: Backend,
  { pace = async () => {}, did }: { pace?: Pace; did?(queued: number): void } = {},
): Promise<number> {
  let moved = 0
  for await (const queued of everyEntry(backend.kv, moves)) {
    const isDone = await moveOne(backend, queued, pace)
    if (!isDone) continue
    moved++
    did?.(1)
    await backend.kv.commit({ checks: [{ key: queued.key, version: queued.version }], deletes: [queued.key] })
  }
  return moved
}

async function moveOne(backend: Backend, queued: Entry, pace: Pace): Promise<boolean> {
  const { bucket: name } = moveCodec.decode(queued.key, queued.value)
  const bucket = await readBucket(backend.kv, name)
  if (bucket === undefined) return true
  try {
    let isDone = true
    for await (const owner of ownersOf(backend.kv, moveOwnerOf(queued.key))) {
      const { state } = await moveBlob(backend, bucket.record, owner, pace)
      isDone &&= state === 'there' || state === 'gone'
    }
    return isDone
  } catch (error) {
    if (isRefusedForNow(error)) return false
    throw error
  }
}

/** The blobs of a version: its own, or its parts. */
async function* ownersOf(kv: Kv, owner: MovableOwner): AsyncGenerator<MovableOwner> {
  yield owner
  if (owner.kind === 'part') return
  const record = (await findVersionRecord(kv, owner))?.record
  if (record?.kind !== 'object' || record.data.kind !== 'parts') return
  for await (const part of everyEntry(kv, partsOf(record.data.uploadId))) yield { kind: 'part', ...partOf(part.key) }
}
