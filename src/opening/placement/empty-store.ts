/** Removes everything that clients stored. For tests: nothing can be undone. Accounts, users, policies and keys stay. */

import type { Backend } from '../../commits/backend.ts'
import { systemPrefix } from '../../instance/sealed-record.ts'
import type { Kv } from '../../kv/kv.ts'
import { endOfPrefix, type KeyRange } from '../../kv/ordered-key.ts'
import { identities } from '../../records/keyspace.ts'
import type { ShardStore } from '../../stores/shard-store.ts'

const batchMax = 1000
const firstKey = Buffer.alloc(0)
/** Greater than every key, because a table's name is a letter. */
const lastKey = Buffer.from([0xff])
/** The metadata of what clients stored. */
export const clientRanges: readonly KeyRange[] = [
  { start: firstKey, end: identities.start },
  { start: identities.end, end: systemPrefix },
  { start: endOfPrefix(systemPrefix), end: lastKey },
]

/** Removes metadata first, so that a request under way loses its bucket and fails cleanly, and finds no key whose data is gone. */
export async function emptyStore({ kv, blobs }: Backend): Promise<void> {
  for (const range of clientRanges) await deleteRange(kv, range)
  await Promise.all(blobs.stores.map(emptyShards))
}

async function deleteRange(kv: Kv, range: KeyRange): Promise<void> {
  while (true) {
    const entries = await kv.range({ ...range, limit: batchMax })
    if (entries.length === 0) return
    await kv.commit({ deletes: entries.map((entry) => entry.key) })
  }
}

async function emptyShards(shards: ShardStore): Promise<void> {
  let ids: string[] = []
  for await (const { id } of shards.list()) {
    ids.push(id)
    if (ids.length < batchMax) continue
    await shards.delete(ids)
    ids = []
  }
  await shards.delete(ids)
}
