/** Finds shards that a crash left without a reference. It walks only batches that no earlier search has cleared, and each of them once. */

import type { Backend } from '../../commits/backend.ts'
import { orphanPut } from '../../commits/orphans.ts'
import type { Put } from '../../kv/kv.ts'
import { limits } from '../../limits.ts'
import type { ShardStore } from '../../stores/shard-store.ts'
import { inEachStore } from '../in-each-store.ts'
import { findOwner } from '../shard-owner.ts'

/** Resolves with the number of orphans that it has put into quarantine. */
export async function findOrphans(
  backend: Backend,
  { graceMs, did }: { graceMs: number; did?(shards: number): void },
): Promise<number> {
  const writtenBefore = backend.clock.now() - graceMs
  let found = 0
  await inEachStore(backend, async (shards) => {
    for (const batch of await shards.unchecked()) {
      // A shard younger than the grace can belong to a request that has not committed yet.
      if (!batch.closed || batch.newestMs > writtenBefore) continue
      found += await checkBatch(backend, shards, batch.id, did)
      await shards.markChecked(batch.id)
    }
  })
  return found
}

async function checkBatch(
  backend: Backend,
  shards: ShardStore,
  batchId: string,
  did: ((shards: number) => void) | undefined,
): Promise<number> {
  let found = 0
  let orphans: Put[] = []
  const flush = async (): Promise<void> => {
    if (orphans.length > 0) await backend.kv.commit({ puts: orphans })
    found += orphans.length
    orphans = []
  }
  for await (const shard of shards.list(batchId)) {
    did?.(1)
    if ((await findOwner(backend, shards.storeId, shard)) !== undefined) continue
    orphans.push(
      orphanPut(backend, {
        storeId: shards.storeId,
        id: shard.id,
        payloadBytes: shard.payloadBytes,
        description: shard.description.toString('base64'),
      }),
    )
    if (orphans.length >= limits.reclaimBatch) await flush()
  }
  await flush()
  return found
}
