/** Asks a store for its present state, because a process that has not written to it yet does not know that it refuses writes. */
import type { LocationState } from '../../blobs/blobs.ts'

type PlacedStore = LocationState['stores'][number]

export interface StoreNow extends Pick<PlacedStore, 'state' | 'reason'> {
  /** Absent: the store is unreachable. */
  usedBytes: number | undefined
  freeBytes: number | undefined
}

export async function storeNow({
  state,
  reason,
  store,
}: Pick<PlacedStore, 'state' | 'reason' | 'store'>): Promise<StoreNow> {
  const usage = state === 'out' ? undefined : await store.usage().catch(() => undefined)
  const room = { usedBytes: usage?.usedBytes, freeBytes: usage?.freeBytes }
  if (state !== 'up') return { state, reason, ...room }
  if (usage?.readOnly !== undefined) return { state: 'read-only', reason: usage.readOnly, ...room }
  if (usage?.freeBytes === 0) return { state: 'full', reason: 'it has no room left', ...room }
  return { state, reason, ...room }
}
