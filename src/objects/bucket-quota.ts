/** The quota of a bucket: how the operator sets it, and how much of it is used. Nobody but the operator can change it. */
import { randomId } from '../clock.ts'
import type { Backend } from '../commits/backend.ts'
import { commitDecision } from '../commits/commit.ts'
import { admitted, serverScope } from '../commits/scope.ts'
import { readUsage } from '../commits/usage.ts'
import { type BucketRecord, bucketCodec } from '../records/bucket-record.ts'
import { bucketKey, usageKey } from '../records/keyspace.ts'
import { usageCodec } from '../records/record-codecs.ts'
import type { BucketQuota, Usage } from '../records/usage.ts'

/**
 * Sets the quota, or removes it. From this commit on, every change of the bucket's content is counted. What it held before is unknown until `countUsage` has
 * ended, and the quota refuses nothing before that. Resolves with the bucket. Throws NoSuchBucket.
 */
export async function setQuota(
  backend: Pick<Backend, 'kv' | 'clock'>,
  name: string,
  quota: BucketQuota | undefined,
): Promise<BucketRecord> {
  const { kv, clock } = backend
  const key = bucketKey(name)
  return commitDecision(backend, async () => {
    const [entry] = await kv.get([key])
    const { record, version } = admitted(serverScope(name), entry)
    const total = usageKey(record.id)
    const [counted] = await kv.get([total])
    const result = { ...record, quota }
    const put = { key, value: bucketCodec.encode(key, result) }
    const checks = [{ key, version }]
    if (quota === undefined) return { result, commit: { checks, puts: [put], deletes: [total] } }
    if (counted !== undefined) return { result, commit: { checks, puts: [put] } }
    const nothing = { bucket: name, bytes: 0, objects: 0, counting: randomId(clock) }
    return {
      result,
      commit: {
        checks: [...checks, { key: total, absent: true }],
        puts: [put, { key: total, value: usageCodec.encode(total, nothing) }],
      },
    }
  })
}

/** The usage of a bucket with a quota. `undefined`: it has none, or what it holds is still being counted. */
export async function usedOfQuota(
  { kv }: Pick<Backend, 'kv'>,
  { id, quota }: BucketRecord,
): Promise<Usage | undefined> {
  const found = quota === undefined ? undefined : await readUsage(kv, id)
  return found?.total.counting === undefined ? found?.usage : undefined
}
