/** Wins back room: each store drops what is dead and moves what is alive. A checked commit swaps the reference of each moved shard. */

import type { Backend } from '../commits/backend.ts'
import { garbagePut } from '../commits/commit.ts'
import type { CompactResult, FoundShard, ShardStore } from '../stores/shard-store.ts'
import { inEachStore } from './in-each-store.ts'
import { findOwner } from './shard-owner.ts'

export async function compactStores(
  backend: Backend,
  { graceMs, did }: { graceMs: number; did?(shards: number): void },
): Promise<CompactResult> {
  const move = async (shards: ShardStore, shard: FoundShard): Promise<boolean> => {
    const isMoved = await moveShard(backend, shards, shard)
    if (isMoved) did?.(1)
    return isMoved
  }
  const total: CompactResult = { removedBatches: 0, movedShards: 0, freedBytes: 0 }
  await inEachStore(backend, async (shards) => {
    const result = await shards.compact({ graceMs, move: (shard) => move(shards, shard) })
    total.removedBatches += result.removedBatches
    total.movedShards += result.movedShards
    total.freedBytes += result.freedBytes
  })
  return total
}

/** False when the shard has no owner (garbage not yet reclaimed) or its owner has changed meanwhile. Then its batch waits for another run. */
async function moveShard(backend: Backend, shards: ShardStore, shard: FoundShard): Promise<boolean> {
  const owner = await findOwner(backend, shards.storeId, shard)
  if (owner === undefined || owner === 'foreign') return false
  const payload = await shards.get(shard.id, { start: 0, end: shard.payloadBytes })
  const newId = await shards.put({ payload, describe: () => shard.description })
  const { key, version } = owner.entry
  // The old shard becomes garbage in the same commit. Otherwise a crash would leave it alive without an owner, and its batch with it.
  const swapped = await backend.kv.commit({
    checks: [{ key, version }],
    puts: [{ key, value: owner.withShardAt(newId) }, garbagePut(backend, owner.garbage)],
  })
  if (!swapped) await shards.delete([newId])
  return swapped
}
