/** Copies what the replication rules of buckets ask for. Of all processes that share the metadata, one does it. */
import { setMaxListeners } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { Backend } from '../../commits/backend.ts'
import { KvUnavailable } from '../../kv/kv.ts'
import type { Maintenance } from '../../members/membership.ts'
import type { BucketRecord } from '../../records/bucket-record.ts'
import { existingKey, queuedReplicas, replicaOf, replicasFor } from '../../records/keyspace.ts'
import { replicaCodec } from '../../records/record-codecs.ts'
import { replicationLimits } from '../../replication-limits.ts'
import { destinationOf } from '../../rules/replication.ts'
import { readBucket } from '../blob-reference.ts'
import { everyEntry } from '../every-entry.ts'
import type { CopyRights } from './copy-rights.ts'
import { settle } from './copy-version.ts'
import { DestinationQueue } from './destination-queue.ts'
import { OwnBucket } from './own-bucket.ts'
import { queueExisting } from './queue-existing.ts'
import type { ReplicaBucket } from './replica-bucket.ts'
import { siteFor } from './site-for.ts'
import type { Sites } from './sites.ts'

export interface ReplicationOptions {
  backend: Backend
  sites: Sites
  /** Absent: everybody may copy everything. */
  rights?: CopyRights | undefined
  /** Tells the operator that a destination takes no copies, or that some were given up. */
  warn(message: string): void
  /** Tells the operator that it takes them again. */
  inform(message: string): void
  onError(error: unknown): void
  /** Milliseconds of a monotonic clock. */
  monotonicMs?(): number
}

/** A bucket, and a destination for which something of it waits. */
interface Waiting {
  bucket: string
  arn: string
}

/** Runs until it is stopped. Stopping aborts copies under way; they begin again at the next start. */
export function startReplication(options: ReplicationOptions): Maintenance {
  const closing = new AbortController()
  // Every copy under way adds a listener, and Node warns about more than ten.
  setMaxListeners(0, closing.signal)
  const running = new Replication(options).run(closing.signal)
  return {
    stop: async () => {
      closing.abort()
      await running
    },
  }
}

class Replication {
  readonly #options: ReplicationOptions
  readonly #startedMs: number
  /** By bucket and destination. */
  readonly #queues = new Map<string, DestinationQueue>()
  /** The passes under way, likewise. */
  readonly #passes = new Map<string, Promise<void>>()
  /** How many of them there are, by the account whose buckets they copy and the site: one account, or a site that is away, does not hold up others. */
  readonly #places = new Map<string, number>()
  /** Those for which there was no place, likewise, and what place that was. */
  #turnedAway = new Map<string, string>()

  constructor(options: ReplicationOptions) {
    this.#options = options
    this.#startedMs = options.backend.clock.now()
  }

  async run(signal: AbortSignal): Promise<void> {
    const { backend, rights, onError } = this.#options
    while (!signal.aborted) {
      try {
        // Damaged metadata takes no commits, so what was copied would be copied again and again.
        if (rights?.areKnown !== false && (await backend.kv.integrity.damage()) === undefined)
          await this.#startPasses(signal)
      } catch (error) {
        if (!signal.aborted && !(error instanceof KvUnavailable)) onError(error)
      }
      await delay(replicationLimits.lookMs, undefined, { signal, ref: false }).catch(() => {})
    }
    await Promise.all(this.#passes.values())
  }

  /** Starts a pass for each destination for which something waits, unless one is under way. Those that found no place before come first. */
  async #startPasses(signal: AbortSignal): Promise<void> {
    for (const [id, queue] of this.#queues) {
      if (!this.#passes.has(id) && queue.isForgettable) this.#queues.delete(id)
    }
    const waiting = await this.#waiting(signal)
    const before = this.#turnedAway
    this.#turnedAway = new Map()
    const first = [...before.keys()].filter((id) => waiting.has(id))
    for (const id of new Set([...first, ...waiting.keys()])) {
      const one = waiting.get(id)
      if (one !== undefined) this.#begin(id, one, signal)
    }
  }

  async #waiting(signal: AbortSignal): Promise<Map<string, Waiting>> {
    const { kv } = this.#options.backend
    const found = new Map<string, Waiting>()
    for (let { start, end } = queuedReplicas; !signal.aborted; ) {
      const [next] = await kv.range({ start, end, limit: 1 })
      if (next === undefined) break
      const { bucket, arn } = replicaOf(next.key)
      found.set(`${bucket} ${arn}`, { bucket, arn })
      start = replicasFor(bucket, arn).end
    }
    return found
  }

  #begin(id: string, { bucket, arn }: Waiting, signal: AbortSignal): void {
    const queue = this.#queues.get(id) ?? this.#newQueue(bucket, arn)
    this.#queues.set(id, queue)
    if (this.#passes.has(id) || queue.isPaused) return
    const pass = this.#pass(queue, { bucket, arn }, signal)
      .catch((error: unknown) => {
        queue.pause('this server failed')
        if (!signal.aborted && !(error instanceof KvUnavailable)) this.#options.onError(error)
      })
      .finally(() => this.#passes.delete(id))
    this.#passes.set(id, pass)
  }

  #newQueue(bucket: string, arn: string): DestinationQueue {
    const { warn, inform, monotonicMs = () => performance.now() } = this.#options
    return new DestinationQueue({ bucket, arn, startedMs: this.#startedMs, monotonicMs, warn, inform })
  }

  async #pass(queue: DestinationQueue, { bucket: name, arn }: Waiting, signal: AbortSignal): Promise<void> {
    const { backend, rights } = this.#options
    const found = await readBucket(backend.kv, name)
    if (found === undefined) return forgetAll(backend, name, arn)
    const { record: bucket } = found
    const place = `${bucket.owner} ${destinationOf(arn)?.site ?? ''}`
    const taken = this.#places.get(place) ?? 0
    if (taken >= replicationLimits.queuesAtOnce) return void this.#turnedAway.set(`${name} ${arn}`, place)
    this.#places.set(place, taken + 1)
    try {
      if (!(await queueExistingIfAsked(backend, bucket, arn, signal))) return
      if (!isRuled(bucket, arn)) return await dropAll(backend, bucket, arn, signal)
      const to = this.#destination(bucket, arn, signal)
      const isInDemand = (): boolean => [...this.#turnedAway.values()].includes(place)
      if (typeof to === 'string') queue.pause(to)
      else await queue.pass({ backend, bucket, to, rights, signal }, isInDemand)
    } finally {
      this.#places.set(place, (this.#places.get(place) ?? 1) - 1)
    }
  }

  /** The bucket that the ARN names, or why there is none. */
  #destination({ owner }: BucketRecord, arn: string, signal: AbortSignal): ReplicaBucket | string {
    const named = destinationOf(arn)
    if (named === undefined) return 'the ARN names no bucket'
    if (named.site === undefined) return new OwnBucket(this.#options.backend, named.bucket, owner)
    const site = siteFor(this.#options.sites, named.site, owner)
    return typeof site === 'string' ? site : site.bucket(named.bucket, signal)
  }
}

/** Queues existing versions, if a rule asks for them. Resolves with false if it was stopped; nothing may be copied then, because a newer version could come first. */
async function queueExistingIfAsked(
  backend: Backend,
  bucket: BucketRecord,
  arn: string,
  signal: AbortSignal,
): Promise<boolean> {
  const [asked] = await backend.kv.get([existingKey(bucket.name, arn)])
  if (asked === undefined) return true
  const { bucketId } = replicaCodec.decode(asked.key, asked.value)
  if (bucketId === bucket.id && !(await queueExisting(backend, bucket, arn, signal))) return false
  // If it was asked for again meanwhile, the check fails and it runs again.
  await backend.kv.commit({ checks: [{ key: asked.key, version: asked.version }], deletes: [asked.key] })
  return true
}

const isRuled = ({ replication }: BucketRecord, arn: string): boolean =>
  replication?.rules.some(({ enabled, destination }) => enabled && destination.bucketArn === arn) === true

/** No rule copies anything to `arn` any more. */
async function dropAll(backend: Backend, bucket: BucketRecord, arn: string, signal: AbortSignal): Promise<void> {
  for await (const queued of everyEntry(backend.kv, replicasFor(bucket.name, arn))) {
    if (signal.aborted) return
    await settle({ backend, bucket }, queued, { kind: 'dropped' })
  }
}

/** The bucket is gone, so nothing in it waits any longer. */
async function forgetAll({ kv }: Backend, bucket: string, arn: string): Promise<void> {
  for (;;) {
    const page = await kv.range({ ...replicasFor(bucket, arn), limit: replicationLimits.queueReadAtOnce })
    if (page.length === 0) return
    await kv.commit({ deletes: page.map(({ key }) => key) })
  }
}
