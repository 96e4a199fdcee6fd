/** The queue of blobs that lack copies. A write queues its blob in the commit that references it; a read queues a blob when a copy fails. */

import type { Manifest } from '../blobs/blobs.ts'
import type { Put } from '../kv/kv.ts'
import { type BlobOwner, repairKey } from '../records/keyspace.ts'
import { repairCodec } from '../records/record-codecs.ts'
import type { Backend } from './backend.ts'

/** Puts for the commit that makes `owner` reference `manifest`. */
export function repairPuts(backend: Backend, owner: BlobOwner, manifest: Manifest): Put[] {
  return manifest.missing === undefined ? [] : [repairPut(backend, owner)]
}

export function repairPut(backend: Pick<Backend, 'clock'>, owner: BlobOwner): Put {
  const key = repairKey(owner)
  return { key, value: repairCodec.encode(key, { queuedMs: backend.clock.now() }) }
}

/** A callback for one read. It queues the blob once, while the read goes on from another copy. If queueing fails, the next read tries again. */
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
  // Reads must not speed up the repair job's schedule for blobs that are known to be lost.
  if (queued !== undefined && repairCodec.decode(key, queued.value).lost !== undefined) return
  // A repair may be under way. Writing the entry again makes it look again.
  await backend.kv.commit({ puts: [put] })
}
