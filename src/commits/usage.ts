/**
 * The usage of buckets that have a quota: a total, and changes that are not yet added to it. The commit that changes a bucket's content puts a record of its own,
 * so writers don't contend for the total (ADR 0065).
 */
import { timeOrderedId } from '../clock.ts'
import type { Commit, Entry, Kv, Put } from '../kv/kv.ts'
import { limits } from '../limits.ts'
import { usageKey, usageOf } from '../records/keyspace.ts'
import { usageCodec } from '../records/record-codecs.ts'
import type { Usage, UsageRecord } from '../records/usage.ts'
import { plus } from '../rules/quota.ts'
import type { Backend } from './backend.ts'

/** How many changes this process has put since it last added a bucket's up, by the bucket's id. */
const putSince = new WeakMap<Kv, Map<string, number>>()

/** Records a change of what a bucket holds. For buckets with a quota only. */
export function usageChange({ kv, clock }: Pick<Backend, 'kv' | 'clock'>, bucketId: string, growth: Usage): Put[] {
  if (growth.bytes === 0 && growth.objects === 0) return []
  const counts = putSince.get(kv) ?? new Map<string, number>()
  putSince.set(kv, counts)
  const count = (counts.get(bucketId) ?? 0) + 1
  counts.set(bucketId, count % limits.usageChangesMax)
  // A failure leaves the changes where they are, and the next ones try again.
  if (count === limits.usageChangesMax) addUp(kv, bucketId).catch(() => {})
  const key = usageKey(bucketId, timeOrderedId(clock))
  return [{ key, value: usageCodec.encode(key, growth) }]
}

export interface FoundUsage {
  /** The total with all changes. */
  usage: Usage
  total: UsageRecord
  /** A commit that adds the changes to the total. It applies only if the total is still the one that was read. */
  added: Required<Pick<Commit, 'checks' | 'puts' | 'deletes'>>
}

/**
 * What the bucket holds now. Where very many changes wait, it adds them to the total first. `undefined`: the bucket is not counted, because it has no
 * quota.
 */
export async function readUsage(kv: Kv, bucketId: string): Promise<FoundUsage | undefined> {
  for (;;) {
    const [first, ...changes] = await kv.range({ ...usageOf(bucketId), limit: limits.usageChangesMax })
    if (first === undefined || !first.key.equals(usageKey(bucketId))) return undefined
    const found = foundUsage(first, changes)
    if (changes.length < limits.usageChangesMax - 1) return found
    await kv.commit(found.added)
  }
}

/** Adds the changes that wait to the total, unless another process does. */
export async function addUp(kv: Kv, bucketId: string): Promise<void> {
  const found = await readUsage(kv, bucketId)
  if (found !== undefined && found.added.deletes.length > 0) await kv.commit(found.added)
}

function foundUsage({ key, value, version }: Entry, changes: readonly Entry[]): FoundUsage {
  const total = usageCodec.decode(key, value)
  const usage = plus(total, ...changes.map((change) => usageCodec.decode(change.key, change.value)))
  return {
    usage,
    total,
    added: {
      checks: [{ key, version }],
      puts: [{ key, value: usageCodec.encode(key, { ...total, ...usage }) }],
      deletes: changes.map((change) => change.key),
    },
  }
}
