/** What an operator wants to know of each location: its stores, what lacks copies, and how many failures it survives. Reads only. */
import type { LocationState } from '../shards/blobs.ts'
import { repairOwnerOf, repairs } from '../store/keyspace.ts'
import type { Store } from '../store/store.ts'
import { findReference } from './blob-reference.ts'
import { everyEntry } from './every-entry.ts'

export interface StoreStatus {
  name: string
  domain: string
  state: 'up' | 'full' | 'out'
  reason: string | undefined
  /** Absent: it can't be asked. */
  usedBytes: number | undefined
  freeBytes: number | undefined
}

export interface LocationStatus extends Omit<LocationState, 'stores'> {
  stores: StoreStatus[]
  /** Blobs in the repair queue. */
  degradedBlobs: number
  /** So many stores may be lost and everything can still be read: as things are, and once all is repaired and every store is back. */
  failuresSurvived: { now: number; whole: number }
}

export async function locationStatuses(store: Store): Promise<LocationStatus[]> {
  const degraded = await degradedByLocation(store)
  return Promise.all(
    store.blobs.locations.map(async (location) => {
      const stores = await Promise.all(location.stores.map(statusOf))
      const { blobs = 0, fewestCopies = location.copies } = degraded.get(location.name) ?? {}
      const out = stores.filter(({ state }) => state === 'out').length
      const now = Math.max(0, Math.min(location.copies - out, fewestCopies) - 1)
      return { ...location, stores, degradedBlobs: blobs, failuresSurvived: { now, whole: location.copies - 1 } }
    }),
  )
}

async function statusOf({ name, domain, state, reason, store }: LocationState['stores'][number]): Promise<StoreStatus> {
  const usage = state === 'out' ? undefined : await store.usage().catch(() => undefined)
  return { name, domain, state, reason, usedBytes: usage?.usedBytes, freeBytes: usage?.freeBytes }
}

/** A queued blob may have as few as one good copy: nobody knows until it has been verified. */
async function degradedByLocation({ kv }: Store): Promise<Map<string, { blobs: number; fewestCopies: number }>> {
  const degraded = new Map<string, { blobs: number; fewestCopies: number }>()
  for await (const { key } of everyEntry(kv, repairs)) {
    const reference = await findReference(kv, repairOwnerOf(key))
    if (reference === undefined) continue
    const { location } = reference.manifest
    degraded.set(location, { blobs: (degraded.get(location)?.blobs ?? 0) + 1, fewestCopies: 1 })
  }
  return degraded
}
