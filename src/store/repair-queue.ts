/** Blobs that lack copies, remembered until they are whole. Who writes a blob queues it in the commit that references it; who reads one, when a copy fails. */
import type { Put } from '../kv/kv.ts'
import type { Manifest } from '../shards/blobs.ts'
import { type BlobOwner, repairKey } from './keyspace.ts'
import { repairCodec } from './record-codecs.ts'
import type { Store } from './store.ts'

/** What belongs into the commit that makes `owner` reference `manifest`. */
export function repairPuts(store: Store, owner: BlobOwner, manifest: Manifest): Put[] {
  return manifest.missing === undefined ? [] : [repairPut(store, owner)]
}

export function repairPut(store: Pick<Store, 'clock'>, owner: BlobOwner): Put {
  const key = repairKey(owner)
  return { key, value: repairCodec.encode(key, { queuedMs: store.clock.now() }) }
}

/** Called while a read goes on, it queues the blob once. The read is served from another copy; should the queue fail, the next read tries again. */
export function reportingDamage(store: Store, owner: BlobOwner): () => void {
  let reported = false
  return () => {
    if (reported) return
    reported = true
    queueRepair(store, owner).catch(() => {})
  }
}

/** What is known to be lost is left to be found again by repair. */
async function queueRepair(store: Store, owner: BlobOwner): Promise<void> {
  const [queued] = await store.kv.get([repairKey(owner)])
  if (queued !== undefined && repairCodec.decode(queued.key, queued.value).lost !== undefined) return
  // Also where it stands already: a repair that is under way then looks at it again.
  await store.kv.commit({ puts: [repairPut(store, owner)] })
}
