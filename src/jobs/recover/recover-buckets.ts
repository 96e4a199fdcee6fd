/** The buckets: those of the snapshot, and those that only shards tell of. */

import { garbagePut } from '../../commits/commit.ts'
import { garbageOf } from '../../commits/history-commit.ts'
import type { Key } from '../../kv/kv.ts'
import { readDescription } from '../../records/description-bytes.ts'
import type { BucketState } from '../../records/descriptions.ts'
import {
  bucketKey,
  historyKeyOf,
  historyOfBucket,
  noValue,
  nullVersionsOf,
  ObjectKeys,
  ownedBucketKey,
} from '../../records/keyspace.ts'
import { bucketCodec, versionCodec } from '../../records/record-codecs.ts'
import type { BucketRecord } from '../../records/records.ts'
import { everyBucket } from '../blob-reference.ts'
import { everyEntry } from '../every-entry.ts'
import { type Recovery, Writes } from './context.ts'

/** What shards tell of a bucket. */
export interface BucketSighting {
  id: string
  name: string
  /** When the last blob of it was written. */
  lastMs: number
  /** As it was then. */
  state: BucketState | undefined
}

/** By name. Owner of buckets that no shard tells the owner of: `owner`. */
export async function recoverBuckets(recovery: Recovery, owner: string): Promise<Map<string, BucketRecord>> {
  const { kv, takenMs, report } = recovery
  const known = new Map<string, BucketRecord>()
  for await (const bucket of everyBucket(kv)) known.set(bucket.name, bucket)
  const writes = new Writes(recovery)
  const sighted = newestOf(await sightings(recovery))
  for (const sighting of sighted.values()) {
    const before = known.get(sighting.name)
    const after = bucketAfter(before, sighting, { takenMs, owner })
    if (after === undefined || after === before) continue
    if (before !== undefined && before.id !== after.id) await removeBucket(recovery, before)
    if (before?.id !== after.id) report.bucketsFromShards += 1
    known.set(after.name, after)
    const key = bucketKey(after.name)
    writes.put({ key, value: bucketCodec.encode(key, after) })
    writes.put({ key: ownedBucketKey(after.owner, after.name), value: noValue })
    await writes.whenMany()
  }
  await writes.flush()
  report.buckets = known.size
  return known
}

/** `undefined`: what was seen is left of a bucket that is gone. Pure. */
export function bucketAfter(
  before: BucketRecord | undefined,
  { id, name, lastMs, state }: BucketSighting,
  { takenMs, owner }: { takenMs: number | undefined; owner: string },
): BucketRecord | undefined {
  const isNews = takenMs === undefined || lastMs > takenMs
  if (before !== undefined && !isNews) return before.id === id ? before : undefined
  const unsaid: BucketState = {
    owner,
    createdMs: lastMs,
    locationConstraint: undefined,
    location: 'default',
    versioning: 'unversioned',
    objectLock: undefined,
  }
  // Tags are not told: those of the snapshot stay.
  const tags = before?.id === id ? before.tags : []
  const told = state ?? (before?.id === id ? before : unsaid)
  // Object Lock can't be disabled: whoever says less wrote before.
  return { ...told, objectLock: told.objectLock ?? before?.objectLock, name, id, tags }
}

/** Of several buckets of one name the one that was written to last is there; the others had to be empty before it could be. */
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
        if (known === undefined || known.lastMs < lastMs) byId.set(id, { id, name, lastMs, state })
      }
    }
  }
  return [...byId.values()]
}

/** It was removed after the snapshot, so it had become empty. */
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
      await writes.whenMany()
    }
  }
  for await (const { key } of everyEntry(recovery.kv, nullVersionsOf(name))) {
    writes.delete(key)
    await writes.whenMany()
  }
  writes.delete(ownedBucketKey(owner, name))
  await writes.flush()
  await recovery.kv.commit({ puts: [garbagePut(recovery, { kind: 'bucket', bucketId: id })] })
}
