/** Read, decide, commit; again when another commit came between. The one loop through which every change of metadata goes. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Clock, timeOrderedId } from '../clock.ts'
import { S3Error } from '../errors.ts'
import type { Commit, Put } from '../kv/kv.ts'
import { limits } from '../limits.ts'
import { garbageKey } from '../records/keyspace.ts'
import { garbageCodec } from '../records/record-codecs.ts'
import type { GarbageRecord } from '../records/records.ts'
import type { Backend } from './backend.ts'
import { inTurn, turnOfKey } from './turns.ts'

export interface Decision<T> {
  commit: Commit
  result: T
}

/** Without `keys`: no check is of the key ring. */
type Writing = Pick<Backend, 'kv' | 'clock'> & Partial<Pick<Backend, 'keys'>>

/** `attempt` counts from 0; from 1 on, what was read earlier is out of date. */
export type Decide<T> = (attempt: number) => Promise<Decision<T>>

/**
 * `decide` reads what it needs and says what to write, guarded by checks on all it read. It runs again, on fresh reads, when a check fails.
 * Throws what `decide` throws; OperationAborted when others kept winning.
 */
export function commitDecision<T>(backend: Writing, decide: Decide<T>): Promise<T> {
  return commitFrom(0, backend, decide)
}

/** The same for a change of one key: it waits for those that came before. What was read before it waited is not tried. */
export function commitKeyDecision<T>(backend: Backend, bucket: string, key: string, decide: Decide<T>): Promise<T> {
  return inTurnOfKey(backend, bucket, key, (waited) => commitFrom(waited ? 1 : 0, backend, decide))
}

/** For a change of one key that does more than commit. `waited`: another came before. */
export function inTurnOfKey<T>(
  backend: Backend,
  bucket: string,
  key: string,
  work: (waited: boolean) => Promise<T>,
): Promise<T> {
  return inTurn(backend, turnOfKey(bucket, key), work)
}

async function commitFrom<T>(firstAttempt: number, { kv, keys, clock }: Writing, decide: Decide<T>): Promise<T> {
  for (let attempt = firstAttempt; attempt < limits.commitRetriesMax; attempt++) {
    const { commit, result } = await decide(attempt)
    if (await kv.commit(commit)) return result
    if (keys !== undefined && commit.checks?.some((check) => keys.checks.includes(check))) await keys.refresh()
    const failed = attempt - firstAttempt + 1
    if (failed >= 2) await sleep(backoffMs(clock, failed))
  }
  throw new S3Error('OperationAborted')
}

/** Doubles up to a bound. Random, so that those that got in each other's way do not come again together. */
function backoffMs(clock: Clock, failed: number): number {
  const most = Math.min(2 ** (failed - 2), limits.commitBackoffMsMax)
  return (most * clock.random(1).readUInt8()) / 255
}

/** Records, in the same commit that drops the last reference, what may be reclaimed after the grace. */
export function garbagePut(backend: Pick<Backend, 'clock'>, record: GarbageRecord): Put {
  const key = garbageKey(timeOrderedId(backend.clock))
  return { key, value: garbageCodec.encode(key, record) }
}
