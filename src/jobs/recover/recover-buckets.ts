/** Recovers buckets: those of the snapshot, and those that only shards name. */

import { garbagePut } from '../../commits/commit.ts'
import { garbageOf } from '../../commits/history-commit.ts'
import type { Key } from '../../kv/kv.ts'
import {
  type BucketRecord,
  type BucketState,
  bucketCodec,
  isGuarded,
  unsetBucket,
  withState,
} from '../../records/bucket-record.ts'
import { readDescription } from '../../records/description-bytes.ts'
import {
  bucketKey,
  historyKeyOf,
  historyOfBucket,
  noValue,
  nullVersionsOf,
  ObjectKeys,
  ownedBucketKey,
} from '../../records/keyspace.ts'
import { versionCodec } from '../../records/record-codecs.ts'
import { everyBucket } from '../blob-reference.ts'
import { everyEntry } from '../every-entry.ts'
import { type Recovery, Writes } from './context.ts'

/** What shards say about their bucket. */
export interface BucketSighting {
  id: string
  name: string
  /** When its last blob was written. */
  lastMs: number
  /** Its state at that time. */
  state: BucketState | undefined
}

/** Returns buckets by name. `owner`: the owner of buckets whose shards name none. */
export async function recoverBuckets(recovery: Recovery, owner: string): Promise<Map<string, BucketRecord>> {
  const { kv, takenMs, report } = recovery
  const known = new Map<string, BucketRecord>()
  for await (const bucket of everyBucket(kv)) known.set(bucket.name, bucket)
  const changed = new Set<string>()
  const sighted = newestOf(await sightings(recovery))
  for (const sighting of sighted.values()) {
    const before = known.get(sighting.name)
    const after = bucketAfter(before, sighting, { takenMs, owner })
    if (after === undefined || after === before) continue
    if (before !== undefined && before.id !== after.id) await removeBucket(recovery, before)
    if (before?.id !== after.id) report.bucketsFromShards += 1
    known.set(after.name, after)
    changed.add(after.name)
  }
  const writes = new Writes(recovery)
  for (const found of known.values()) {
    const bucket = untilConfirmed(found)
    known.set(bucket.name, bucket)
    if (bucket.unconfirmed === true) report.unconfirmed.push(bucket.name)
    if (bucket === found && !changed.has(bucket.name)) continue
    const key = bucketKey(bucket.name)
    writes.put({ key, value: bucketCodec.encode(key, bucket) })
    writes.put({ key: ownedBucketKey(bucket.owner, bucket.name), value: noValue })
    await writes.flushWhenMany()
  }
  await writes.flush()
  report.buckets = known.size
  return known
}

/** `undefined`: the shards are left over from a deleted bucket. Pure. */
export function bucketAfter(
  before: BucketRecord | undefined,
  { id, name, lastMs, state }: BucketSighting,
  { takenMs, owner }: { takenMs: number | undefined; owner: string },
): BucketRecord | undefined {
  const isNews = takenMs === undefined || lastMs > takenMs
  if (before !== undefined && !isNews) return before.id === id ? before : undefined
  const known = before?.id === id ? before : { ...unsetBucket, name, id, owner, createdMs: lastMs }
  const after = state === undefined ? known : withState(known, state)
  // Object Lock can't be disabled, so a shard without it is older.
  const locked = { ...after, objectLock: after.objectLock ?? before?.objectLock }
  return state?.guarded === true ? { ...locked, unconfirmed: true } : locked
}

/**
 * Marks a guarded bucket as unconfirmed, because its guards can have changed since the snapshot, for instance to keep everybody else out. Returns a bucket without
 * guards unchanged.
 */
function untilConfirmed(bucket: BucketRecord): BucketRecord {
  return isGuarded(bucket) && bucket.unconfirmed !== true ? { ...bucket, unconfirmed: true } : bucket
}

/** Of several buckets with one name, the one with the newest write exists. The others must have been deleted before it could be created. */
function newestOf(found: readonly BucketSighting[]): Map<string, BucketSighting> {
  const newest = new Map<string, BucketSighting>()
  for (const sighting of found) {
    const other = newest.get(sighting.name)
    if (other === undefined || other.lastMs < sighting.lastMs) newest.set(sighting.name, sighting)
  }
  return newest
}

async function sightings({ staging, takenMs, graceMs }: Recovery): Promise<BucketSighting[]> {
  const byId = new Map<string, BucketSighting>()
  for (const table of ['v', 'p'] as const) {
    for await (const { blobs } of staging.groups(table)) {
      for (const [shard] of blobs.values()) {
        const description = shard && readDescription(shard.raw)
        if (description === undefined || description.kind === 'snapshot') continue
        const { bucketId: id, bucket: name, writtenMs: lastMs, bucketState: state } = description
        if (takenMs !== undefined && lastMs < takenMs - graceMs) continue
        const known = byId.get(id)
        if (known !== undefined && isAfter(known, lastMs, state)) continue
        byId.set(id, { id, name, lastMs, state })
      }
    }
  }
  return [...byId.values()]
}

/** Of two sightings at the same time, either can be the older one, so one with guards wins. */
function isAfter({ lastMs, state }: BucketSighting, otherMs: number, other: BucketState | undefined): boolean {
  return lastMs > otherMs || (lastMs === otherMs && (state?.guarded === true || other?.guarded !== true))
}

/** Removes a bucket that was deleted after the snapshot, with the versions that the snapshot lists. */
async function removeBucket(recovery: Recovery, { name, id, owner }: BucketRecord): Promise<void> {
  const writes = new Writes(recovery)
  const objects = new ObjectKeys(name)
  const tables = [
    { range: objects.startingWith(''), keyOf: (key: Key) => objects.unpack(key) },
    { range: historyOfBucket(name), keyOf: historyKeyOf },
  ]
  for (const { range, keyOf } of tables) {
    for await (const entry of everyEntry(recovery.kv, range)) {
      const version = versionCodec.decode(entry.key, entry.value)
      const { sequence } = version
      const of = { kind: 'version' as const, bucket: name, key: keyOf(entry.key), sequence }
      if (version.kind === 'object') writes.put(garbagePut(recovery, garbageOf(version, of)))
      writes.delete(entry.key)
      await writes.flushWhenMany()
    }
  }
  for await (const { key } of everyEntry(recovery.kv, nullVersionsOf(name))) {
    writes.delete(key)
    await writes.flushWhenMany()
  }
  writes.delete(ownedBucketKey(owner, name))
  await writes.flush()
  await recovery.kv.commit({ puts: [garbagePut(recovery, { kind: 'bucket', bucketId: id })] })
}
