/** Counts what buckets with a quota hold when counting begins, and keeps the records of their usage few. */
import { randomId } from '../clock.ts'
import type { Backend } from '../commits/backend.ts'
import { commitDecision } from '../commits/commit.ts'
import { addUp } from '../commits/usage.ts'
import type { Snapshot } from '../kv/kv.ts'
import { limits } from '../limits.ts'
import { type BucketRecord, bucketCodec } from '../records/bucket-record.ts'
import {
  bucketKey,
  contentsOfBucket,
  openUploadOf,
  openUploads,
  partsOf,
  usageKey,
  usageOf,
  usages,
  usedBucketId,
} from '../records/keyspace.ts'
import { partCodec, usageCodec, versionCodec } from '../records/record-codecs.ts'
import { RecordDamaged } from '../records/record-format.ts'
import type { Usage, UsageRecord } from '../records/usage.ts'
import { minus, noUsage, plus, usageOfOpenUpload } from '../rules/quota.ts'
import { everyBucket } from './blob-reference.ts'
import { everyEntry } from './every-entry.ts'

type Counting = Pick<Backend, 'kv' | 'clock'>

/**
 * Counts what the bucket holds, unless that is known, and adds it to the total. Writes go on meanwhile. If several processes count at once, the first to end
 * counts. Gives up when the signal is aborted.
 */
export async function countUsage({ kv, clock }: Counting, bucket: BucketRecord, signal: AbortSignal): Promise<void> {
  const counting = await beginCount({ kv, clock }, bucket)
  if (counting === undefined) return
  const snapshot = await kv.snapshot()
  let missing: Usage
  try {
    // Changes that are in the snapshot are among what it holds, too.
    missing = minus(await contentOf(snapshot, bucket, signal), await notedIn(snapshot, bucket.id))
  } finally {
    await snapshot.close()
  }
  if (signal.aborted) return
  const key = usageKey(bucket.id)
  await commitDecision({ kv, clock }, async () => {
    const [entry] = await kv.get([key])
    const total = entry && usageCodec.decode(key, entry.value)
    if (entry === undefined || total?.counting !== counting) return { result: undefined, commit: {} }
    const counted: UsageRecord = { ...total, ...plus(total, missing), counting: undefined }
    const commit = {
      checks: [{ key, version: entry.version }],
      puts: [{ key, value: usageCodec.encode(key, counted) }],
    }
    return { result: undefined, commit }
  })
}

/** The name of the count that is to be made. `undefined`: none is. Metadata that was recovered has no total, because shards don't tell it. */
function beginCount({ kv, clock }: Counting, { name, id }: BucketRecord): Promise<string | undefined> {
  const [keyOfBucket, key] = [bucketKey(name), usageKey(id)]
  return commitDecision({ kv, clock }, async () => {
    const [entry, counted] = await kv.get([keyOfBucket, key])
    const bucket = entry && bucketCodec.decode(keyOfBucket, entry.value)
    if (entry === undefined || bucket?.id !== id || bucket.quota === undefined) return { result: undefined, commit: {} }
    if (counted !== undefined) return { result: usageCodec.decode(key, counted.value).counting, commit: {} }
    const counting = randomId(clock)
    const checks = [
      { key: keyOfBucket, version: entry.version },
      { key, absent: true as const },
    ]
    const total = usageCodec.encode(key, { ...noUsage, bucket: name, counting })
    return { result: counting, commit: { checks, puts: [{ key, value: total }] } }
  })
}

/** Ends early when the signal is aborted. */
async function contentOf(snapshot: Snapshot, { name, id }: BucketRecord, signal: AbortSignal): Promise<Usage> {
  const held = { ...noUsage }
  const add = ({ bytes, objects }: Usage): void => {
    held.bytes += bytes
    held.objects += objects
  }
  for (const range of contentsOfBucket(name)) {
    for await (const { key, value } of everyEntry(snapshot, range)) {
      if (signal.aborted) return held
      const version = unlessDamaged(() => versionCodec.decodeListed(key, value))
      if (version !== undefined && version.kind !== 'marker') add({ bytes: version.size, objects: 1 })
    }
  }
  for await (const { key } of everyEntry(snapshot, openUploads(id))) {
    if (signal.aborted) return held
    const sizes: { size: number }[] = []
    for await (const part of everyEntry(snapshot, partsOf(openUploadOf(key).uploadId)))
      sizes.push(unlessDamaged(() => partCodec.decode(part.key, part.value)) ?? { size: 0 })
    add(usageOfOpenUpload(sizes))
  }
  return held
}

/** A scrub reports damaged records. They must not keep a quota from being followed. */
function unlessDamaged<T>(decode: () => T): T | undefined {
  try {
    return decode()
  } catch (error) {
    if (error instanceof RecordDamaged) return undefined
    throw error
  }
}

async function notedIn(snapshot: Snapshot, bucketId: string): Promise<Usage> {
  let noted = noUsage
  for await (const { key, value } of everyEntry(snapshot, usageOf(bucketId))) {
    noted = plus(noted, usageCodec.decode(key, value))
  }
  return noted
}

/** A background job. It ends counts that were interrupted, adds changes up, and removes what belongs to buckets that have no quota any more. */
export class UsageKeeper {
  readonly #backend: Counting
  readonly #stopping = new AbortController()

  constructor(backend: Counting) {
    this.#backend = backend
  }

  async run(): Promise<void> {
    const { kv } = this.#backend
    const limited = new Set<string>()
    for await (const bucket of everyBucket(kv)) {
      if (bucket.quota === undefined) continue
      limited.add(bucket.id)
      await countUsage(this.#backend, bucket, this.#stopping.signal)
      await addUp(kv, bucket.id)
    }
    for (let { start, end } = usages; ; ) {
      const [first] = await kv.range({ start, end, limit: 1 })
      if (first === undefined) return
      const id = usedBucketId(first.key)
      if (!limited.has(id)) await forget(this.#backend, id)
      start = usageOf(id).end
    }
  }

  /** A run under way ends soon. */
  stop(): void {
    this.#stopping.abort()
  }
}

/** Leaves alone what has a total: it may be that of a bucket which has got its quota just now. A total goes together with its bucket or quota. */
async function forget({ kv }: Counting, bucketId: string): Promise<void> {
  const total = usageKey(bucketId)
  for (;;) {
    const changes = await kv.range({ ...usageOf(bucketId), limit: limits.usageChangesMax })
    if (changes.length === 0 || changes[0]?.key.equals(total)) return
    const deletes = changes.map(({ key }) => key)
    if (!(await kv.commit({ checks: [{ key: total, absent: true }], deletes }))) return
  }
}
