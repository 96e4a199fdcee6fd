/** Replaces a lost store by a new, empty one. */
import type { Backend } from '../../commits/backend.ts'
import { repairPut } from '../../commits/repair-queue.ts'
import type { StoreSettings } from '../../config/locations.ts'
import { changePlacement, PlacementRefused, readKnownPlacement } from '../../instance/known-placement.ts'
import { everyReference } from '../../jobs/blob-reference.ts'
import type { Put } from '../../kv/kv.ts'
import { limits } from '../../limits.ts'
import { makeStore } from './make-store.ts'
import type { Telling } from './open-stores.ts'

/**
 * Also queues the blobs that had copies on the lost store for repair, and resolves with their number. After a crash, another call continues. Running
 * servers take up the new store when they next look at the lost one, or at the placement that they share. Throws `PlacementRefused`.
 */
export async function replaceStore(
  { kv, blobs, clock }: Pick<Backend, 'kv' | 'blobs' | 'clock'>,
  settings: StoreSettings,
  making: Telling,
): Promise<number> {
  const { name } = settings
  const lost = (await readKnownPlacement(kv)).known.stores[name]?.storeId
  if (blobs.stores.some(({ storeId }) => storeId === lost)) {
    throw new PlacementRefused(`store ${name} is there and in use: only one that is lost can be replaced`)
  }
  const storeId = await makeStore(settings, making)
  if (lost !== undefined) await queueWhatLayIn(lost, { kv, clock })
  await changePlacement(kv, (known) => {
    if (known.stores[name]?.storeId !== lost) throw new PlacementRefused(`store ${name} was replaced meanwhile`)
    return { ...known, stores: { ...known.stores, [name]: { storeId } } }
  })
  // Runs again for what a server committed meanwhile. From now on, nothing is written to the lost store.
  return lost === undefined ? 0 : queueWhatLayIn(lost, { kv, clock })
}

/** Queues the lost store's blobs for repair. Resolves with their number. */
async function queueWhatLayIn(lost: string, { kv, clock }: Pick<Backend, 'kv' | 'clock'>): Promise<number> {
  let queued = 0
  let puts: Put[] = []
  const flush = async (): Promise<void> => {
    if (puts.length > 0) await kv.commit({ puts })
    queued += puts.length
    puts = []
  }
  for await (const { owner, manifest } of everyReference(kv)) {
    if (!manifest.shards.some((shard) => shard.storeId === lost)) continue
    puts.push(repairPut({ clock }, owner))
    if (puts.length >= limits.reclaimBatch) await flush()
  }
  await flush()
  return queued
}
