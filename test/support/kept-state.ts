/** What a server has stored at a time: whether it still has, and the way back. Both ask the metadata, because asking a server for everything takes twenty requests. */
import type { Backend } from '../../src/commits/backend.ts'
import type { Entry, Kv } from '../../src/kv/kv.ts'
import { clientRanges } from '../../src/opening/placement/empty-store.ts'

export interface KeptState {
  /** Keys of records that are new, gone or different, and ids of shards that are gone. */
  changes(): Promise<string[]>
  /** Brings the records back. Their shards are still there, because nothing reclaims them in a wire test. */
  restore(): Promise<void>
}

const recordsMax = 10_000

export async function keepState({ kv, blobs }: Backend): Promise<KeptState> {
  const kept = byKey(await records(kv))
  const shardIds = async (): Promise<string[]> => {
    const ids: string[] = []
    for (const store of blobs.stores) for await (const { id } of store.list()) ids.push(`${store.storeId} ${id}`)
    return ids
  }
  const keptShards = await shardIds()
  const differing = async () => {
    const now = byKey(await records(kv))
    return {
      puts: [...kept].filter(([key, { value }]) => now.get(key)?.value.equals(value) !== true),
      deletes: [...now].filter(([key]) => !kept.has(key)),
    }
  }
  return {
    changes: async () => {
      const { puts, deletes } = await differing()
      const shardsNow = new Set(await shardIds())
      const gone = keptShards.filter((id) => !shardsNow.has(id)).map((id) => `the shard ${id}`)
      return [...[...puts, ...deletes].map(([key]) => key), ...gone]
    },
    restore: async () => {
      const { puts, deletes } = await differing()
      if (puts.length + deletes.length === 0) return
      await kv.commit({ puts: puts.map(([, entry]) => entry), deletes: deletes.map(([, { key }]) => key) })
    },
  }
}

async function records(kv: Kv): Promise<Entry[]> {
  const found = await Promise.all(clientRanges.map((range) => kv.range({ ...range, limit: recordsMax })))
  if (found.some(({ length }) => length === recordsMax)) throw new Error(`more than ${recordsMax} records`)
  return found.flat()
}

const byKey = (entries: readonly Entry[]): Map<string, Entry> =>
  new Map(entries.map((entry) => [entry.key.toString('latin1'), entry]))
