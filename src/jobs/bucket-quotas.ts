/** The quotas of all buckets, as an operator sets and sees them. What a bucket held before is counted in the background. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Backend } from '../commits/backend.ts'
import { serverScope } from '../commits/scope.ts'
import { limits } from '../limits.ts'
import { setQuota, usedOfQuota } from '../objects/bucket-quota.ts'
import { findBucket } from '../objects/buckets.ts'
import type { BucketRecord } from '../records/bucket-record.ts'
import type { BucketQuota, Usage } from '../records/usage.ts'
import { everyBucket } from './blob-reference.ts'
import { countUsage } from './count-usage.ts'

export interface LimitedBucket {
  bucket: string
  owner: string
  quota: BucketQuota
  /** Absent: what the bucket holds is still being counted. */
  used: Usage | undefined
}

export class BucketQuotas {
  readonly #backend: Pick<Backend, 'kv' | 'clock'>
  readonly #stopping = new AbortController()
  readonly #counting = new Set<Promise<void>>()

  constructor(backend: Pick<Backend, 'kv' | 'clock'>) {
    this.#backend = backend
  }

  async list(): Promise<LimitedBucket[]> {
    const found: LimitedBucket[] = []
    for await (const bucket of everyBucket(this.#backend.kv)) {
      const limited = await this.of(bucket)
      if (limited !== undefined) found.push(limited)
    }
    return found
  }

  /** `undefined`: the bucket has no quota. Throws NoSuchBucket. */
  async find(name: string): Promise<LimitedBucket | undefined> {
    return this.of(await findBucket(this.#backend, serverScope(name)))
  }

  /** Returns when the quota holds, or after a while when it takes long to count what is in the bucket. Throws NoSuchBucket. */
  async set(name: string, quota: BucketQuota): Promise<LimitedBucket> {
    const bucket = await setQuota(this.#backend, name, quota)
    const counting = this.#count(bucket)
    await Promise.race([counting, delay(limits.quotaCountWaitMs, undefined, { ref: false })])
    return { bucket: name, owner: bucket.owner, quota, used: await usedOfQuota(this.#backend, bucket) }
  }

  /** Throws NoSuchBucket. */
  async remove(name: string): Promise<void> {
    await setQuota(this.#backend, name, undefined)
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await Promise.all(this.#counting)
  }

  /** `undefined`: the bucket has no quota. */
  async of(bucket: BucketRecord): Promise<LimitedBucket | undefined> {
    const { name, owner, quota } = bucket
    if (quota === undefined) return undefined
    return { bucket: name, owner, quota, used: await usedOfQuota(this.#backend, bucket) }
  }

  /** Never rejects: the background jobs count again. */
  #count(bucket: BucketRecord): Promise<void> {
    const counting = countUsage(this.#backend, bucket, this.#stopping.signal)
      .catch(() => {})
      .finally(() => this.#counting.delete(counting))
    this.#counting.add(counting)
    return counting
  }
}
