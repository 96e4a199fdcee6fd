/** Blobs that lack copies, remembered until they are whole. Who writes a blob queues it in the commit that references it; who reads one, when a copy fails. */

import type { Manifest } from '../blobs/blobs.ts'
import type { Put } from '../kv/kv.ts'
import { type BlobOwner, repairKey } from '../records/keyspace.ts'
import { repairCodec } from '../records/record-codecs.ts'
import type { Backend } from './backend.ts'

/** What belongs into the commit that makes `owner` reference `manifest`. */
export function repairPuts(backend: Backend, owner: BlobOwner, manifest: Manifest): Put[] {
  return manifest.missing === undefined ? [] : [repairPut(backend, owner)]
}

export function repairPut(backend: Pick<Backend, 'clock'>, owner: BlobOwner): Put {
  const key = repairKey(owner)
  return { key, value: repairCodec.encode(key, { queuedMs: backend.clock.now() }) }
}

/** Called while a read goes on, it queues the blob once. The read is served from another copy; should the queue fail, the next read tries again. */
export function reportingDamage(backend: Backend, owner: BlobOwner): () => void {
  let reported = false
  return () => {
    if (reported) return
    reported = true
    queueRepair(backend, owner).catch(() => {})
  }
}

async function queueRepair(backend: Backend, owner: BlobOwner): Promise<void> {
  const put = repairPut(backend, owner)
  const { key } = put
  if (await backend.kv.commit({ checks: [{ key, absent: true }], puts: [put] })) return
  const [queued] = await backend.kv.get([key])
  // What is known to be lost is looked at in its own time, however often somebody asks for it.
  if (queued !== undefined && repairCodec.decode(key, queued.value).lost !== undefined) return
  // Written again, so that a repair that is under way looks at it again.
  await backend.kv.commit({ puts: [put] })
}
