/** Read, decide, commit; again when another commit came between. The one loop through which every change of metadata goes. */
import { timeOrderedId } from '../clock.ts'
import { S3Error } from '../errors.ts'
import type { Commit, Put } from '../kv/kv.ts'
import { limits } from '../limits.ts'
import { garbageKey } from './keyspace.ts'
import { garbageCodec } from './record-codecs.ts'
import type { GarbageRecord } from './records.ts'
import type { Store } from './store.ts'
import { inTurn } from './turns.ts'

export interface Decision<T> {
  commit: Commit
  result: T
}

/** `attempt` counts from 0; from 1 on, what was read earlier is out of date. */
export type Decide<T> = (attempt: number) => Promise<Decision<T>>

/**
 * `decide` reads what it needs and says what to write, guarded by checks on all it read. It runs again, on fresh reads, when a check fails.
 * Throws what `decide` throws; OperationAborted when others kept winning.
 */
export async function commitDecision<T>(store: Store, decide: Decide<T>): Promise<T> {
  return commitFrom(0, store, decide)
}

/** The same for a change of one key: it waits for those that came before. What was read before it waited is not tried. */
export async function commitKeyDecision<T>(store: Store, bucket: string, key: string, decide: Decide<T>): Promise<T> {
  return inTurn(store, `${bucket}/${key}`, (waited) => commitFrom(waited ? 1 : 0, store, decide))
}

async function commitFrom<T>(firstAttempt: number, store: Store, decide: Decide<T>): Promise<T> {
  for (let attempt = firstAttempt; attempt < limits.commitRetriesMax; attempt++) {
    const { commit, result } = await decide(attempt)
    if (await store.kv.commit(commit)) return result
  }
  throw new S3Error('OperationAborted')
}

/** Records, in the same commit that drops the last reference, what may be reclaimed after the grace. */
export function garbagePut(store: Pick<Store, 'clock'>, record: GarbageRecord): Put {
  const key = garbageKey(timeOrderedId(store.clock))
  return { key, value: garbageCodec.encode(key, record) }
}
