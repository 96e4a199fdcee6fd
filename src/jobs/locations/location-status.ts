/** The status of each location for operators: its stores, blobs that lack shards, how many failures it survives, and moves to it. Reads only. */

import type { LocationState } from '../../blobs/blobs.ts'
import type { Backend } from '../../commits/backend.ts'
import type { Kv } from '../../kv/kv.ts'
import { repairOwnerOf, repairs } from '../../records/keyspace.ts'
import { repairCodec } from '../../records/record-codecs.ts'
import { findReference, readBucket } from '../blob-reference.ts'
import { everyEntry } from '../every-entry.ts'
import { moveKind } from '../moves/move-bucket.ts'
import { allTasks, type FoundTask, isEnded, type TaskRecord } from '../tasks/tasks.ts'
import { type StoreNow, storeNow } from './store-now.ts'

export interface StoreStatus extends StoreNow {
  name: string
  domain: string
}

/** A move of a bucket to this location: requested, under way, or stopped before everything was there. */
export interface MoveStatus extends Pick<TaskRecord, 'state' | 'reason' | 'progress'> {
  bucket: string
}

export interface LocationStatus extends Omit<LocationState, 'stores'> {
  stores: StoreStatus[]
  /** Blobs in the repair queue. */
  degradedBlobs: number
  /** Blobs with too few shards left. The repair queue's count leaves them out. */
  lostBlobs: number
  /** How many stores can be lost while everything stays readable: now, and after all blobs are repaired and every store is back. */
  failuresSurvived: { now: number; whole: number }
  moves: MoveStatus[]
}

export async function locationStatuses(backend: Backend): Promise<LocationStatus[]> {
  const queued = await queuedByLocation(backend)
  const moves = await movesByLocation(backend)
  return Promise.all(
    backend.blobs.locations.map(async (location) => {
      const stores = await Promise.all(
        location.stores.map(async (placed) => ({
          name: placed.name,
          domain: placed.domain,
          ...(await storeNow(placed)),
        })),
      )
      const { degradedBlobs, lostBlobs } = queued.get(location.name) ?? nothingQueued
      const whole = location.copies - 1
      const out = stores.filter(({ state }) => state === 'out').length
      // Until a queued blob is verified, it must be assumed to have no more good shards than a read needs.
      const now = degradedBlobs + lostBlobs > 0 ? 0 : Math.max(0, whole - out)
      const failuresSurvived = { now, whole }
      return {
        ...location,
        stores,
        degradedBlobs,
        lostBlobs,
        failuresSurvived,
        moves: moves.get(location.name) ?? [],
      }
    }),
  )
}

type Queued = Pick<LocationStatus, 'degradedBlobs' | 'lostBlobs'>
const nothingQueued: Queued = { degradedBlobs: 0, lostBlobs: 0 }

async function queuedByLocation({ kv }: Backend): Promise<Map<string, Queued>> {
  const byLocation = new Map<string, Queued>()
  for await (const { key, value } of everyEntry(kv, repairs)) {
    const reference = await findReference(kv, repairOwnerOf(key))
    if (reference === undefined) continue
    const { location } = reference.manifest
    const queued = byLocation.get(location) ?? { ...nothingQueued }
    byLocation.set(location, queued)
    if (repairCodec.decode(key, value).lost === undefined) queued.degradedBlobs++
    else queued.lostBlobs++
  }
  return byLocation
}

async function movesByLocation({ kv }: Backend): Promise<Map<string, MoveStatus[]>> {
  const byLocation = new Map<string, MoveStatus[]>()
  for (const task of await allTasks(kv)) {
    if (task.kind !== moveKind || !(await isUnfinished(kv, task))) continue
    const { state, reason, progress, arguments: asked } = task.record
    const to = String(asked.to)
    byLocation.set(to, [...(byLocation.get(to) ?? []), { bucket: task.name, state, reason, progress }])
  }
  return byLocation
}

/** A refused move has moved nothing. After a move that stopped half-way, the bucket can have another location by now. */
async function isUnfinished(kv: Kv, { name, record }: FoundTask): Promise<boolean> {
  if (!isEnded(record)) return true
  const bucket = (await readBucket(kv, name))?.record
  return bucket?.moving === true && bucket.location === record.arguments.to
}
