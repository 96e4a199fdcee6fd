/** Works on every store that is in use. One that fails keeps no other waiting; the first failure is thrown in the end. */

import type { Backend } from '../commits/backend.ts'
import type { ShardStore } from '../stores/shard-store.ts'

export async function inEachStore({ blobs }: Backend, work: (shards: ShardStore) => Promise<void>): Promise<void> {
  const failures: unknown[] = []
  for (const shards of blobs.stores) {
    try {
      await work(shards)
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length > 0) throw failures[0]
}
