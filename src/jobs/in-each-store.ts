/** Does some work on every store that is in use. A store that fails delays no other; the first failure is thrown at the end. */

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
