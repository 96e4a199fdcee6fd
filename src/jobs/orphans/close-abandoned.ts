/** Closes the batches that members left open before they were gone, so that the search for orphans looks into them. */
import type { Backend } from '../../commits/backend.ts'
import type { IsGone } from '../../stores/shard-store.ts'
import { inEachStore } from '../in-each-store.ts'

/** Resolves with the number of closed batches. */
export async function closeAbandoned(backend: Backend, isGone: IsGone): Promise<number> {
  let closed = 0
  await inEachStore(backend, async (shards) => {
    closed += await shards.closeAbandoned(isGone)
  })
  return closed
}
