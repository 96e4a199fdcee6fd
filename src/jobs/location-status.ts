/** What an operator wants to know of each location: its stores, what lacks shards, and how many failures it survives. Reads only. */
import type { LocationState } from '../shards/blobs.ts'
import { repairOwnerOf, repairs } from '../store/keyspace.ts'
import { repairCodec } from '../store/record-codecs.ts'
import type { Store } from '../store/store.ts'
import { findReference } from './blob-reference.ts'
import { everyEntry } from './every-entry.ts'

export interface StoreStatus {
  name: string
  domain: string
  state: 'up' | 'full' | 'read-only' | 'out'
  reason: string | undefined
  /** Absent: it can't be asked. */
  usedBytes: number | undefined
  freeBytes: number | undefined
}

export interface LocationStatus extends Omit<LocationState, 'stores'> {
  stores: StoreStatus[]
  /** Blobs in the repair queue. */
  degradedBlobs: number
  /** Blobs of which too few shards are left: not among those. */
  lostBlobs: number
  /** So many stores may be lost and everything can still be read: as things are, and once all is repaired and every store is back. */
  failuresSurvived: { now: number; whole: number }
}

export async function locationStatuses(store: Store): Promise<LocationStatus[]> {
  const queued = await queuedByLocation(store)
  return Promise.all(
    store.blobs.locations.map(async (location) => {
      const stores = await Promise.all(location.stores.map(statusOf))
      const { degradedBlobs, lostBlobs } = queued.get(location.name) ?? nothingQueued
      const whole = location.copies - 1
      const out = stores.filter(({ state }) => state === 'out').length
      // A queued blob may have as few good shards as it takes to read it: nobody knows until it has been verified.
      const now = degradedBlobs + lostBlobs > 0 ? 0 : Math.max(0, whole - out)
      return { ...location, stores, degradedBlobs, lostBlobs, failuresSurvived: { now, whole } }
    }),
  )
}

async function statusOf({ name, domain, state, reason, store }: LocationState['stores'][number]): Promise<StoreStatus> {
  const usage = state === 'out' ? undefined : await store.usage().catch(() => undefined)
  // Who looks from outside has not been refused yet.
  if (state === 'up' && usage?.freeBytes === 0)
    return { name, domain, state: 'full', reason: 'it has no room left', ...usage }
  return { name, domain, state, reason, usedBytes: usage?.usedBytes, freeBytes: usage?.freeBytes }
}

type Queued = Pick<LocationStatus, 'degradedBlobs' | 'lostBlobs'>
const nothingQueued: Queued = { degradedBlobs: 0, lostBlobs: 0 }

async function queuedByLocation({ kv }: Store): Promise<Map<string, Queued>> {
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
