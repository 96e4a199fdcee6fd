/** Read, decide, commit; again when another commit came between. The one loop through which every change of metadata goes. */

import { timeOrderedId } from '../clock.ts'
import { S3Error } from '../errors.ts'
import type { Commit, Put } from '../kv/kv.ts'
import { limits } from '../limits.ts'
import { garbageKey } from './keyspace.ts'
import { type GarbageRecord, garbageCodec } from './records.ts'
import type { Store } from './store.ts'

export interface Decision<T> {
  commit: Commit
  result: T
}

/**
 * `decide` reads what it needs and says what to write, guarded by checks on all it read. It runs again, on fresh reads, when a check fails.
 * Throws what `decide` throws; OperationAborted when others kept winning.
 */
export async function commitDecision<T>(store: Store, decide: (attempt: number) => Promise<Decision<T>>): Promise<T> {
  for (let attempt = 0; attempt < limits.commitRetriesMax; attempt++) {
    const { commit, result } = await decide(attempt)
    if (await store.kv.commit(commit)) return result
  }
  throw new S3Error('OperationAborted')
}

/** Records, in the same commit that drops the last reference, what may be reclaimed after the grace. */
export function garbagePut(store: Store, record: GarbageRecord): Put {
  const key = garbageKey(timeOrderedId(store.clock))
  return { key, value: garbageCodec.encode(key, record) }
}
