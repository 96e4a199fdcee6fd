/** Read, decide, commit, and start over when another commit came first. Most changes of metadata go through this loop. */
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

/** `keys` can be left out when no check is one of the key ring's. */
type Writing = Pick<Backend, 'kv' | 'clock'> & Partial<Pick<Backend, 'keys'>>

/** `attempt` counts from 0. From 1 on, anything read before the call is out of date. */
export type Decide<T> = (attempt: number) => Promise<Decision<T>>

/**
 * `decide` reads what it needs and returns what to write, guarded by checks on everything that it read. When a check fails, it runs again and reads again.
 * Throws what `decide` throws, and OperationAborted when other commits kept coming first.
 */
export function commitDecision<T>(backend: Writing, decide: Decide<T>): Promise<T> {
  return commitFrom(0, backend, decide)
}

/** The same for a change of one key, which waits for earlier changes of that key. If it waited, `decide` starts at attempt 1, because earlier reads are stale. */
export function commitKeyDecision<T>(backend: Backend, bucket: string, key: string, decide: Decide<T>): Promise<T> {
  return inTurnOfKey(backend, bucket, key, (waited) => commitFrom(waited ? 1 : 0, backend, decide))
}

/** For a change of one key that does more than commit. `waited`: an earlier change of the key had to finish first. */
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

/** The bound doubles up to a maximum. The delay is random, because commits that collided would otherwise collide again. */
function backoffMs(clock: Clock, failed: number): number {
  const most = Math.min(2 ** (failed - 2), limits.commitBackoffMsMax)
  return (most * clock.random(1).readUInt8()) / 255
}

/** Records what can be reclaimed after the grace. Belongs in the commit that drops the last reference. */
export function garbagePut(backend: Pick<Backend, 'clock'>, record: GarbageRecord): Put {
  const key = garbageKey(timeOrderedId(backend.clock))
  return { key, value: garbageCodec.encode(key, record) }
}
