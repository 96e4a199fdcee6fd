/** The current version of a key: reading it with its bucket in one round trip, and the commit that puts another in its place. */
import type { Commit, Entry, Put } from '../kv/kv.ts'
import { garbagePut } from './commit.ts'
import { bucketKey, objectKey } from './keyspace.ts'
import { type GarbageRecord, type ObjectRecord, objectCodec } from './records.ts'
import { admitted, type BucketScope, type FoundBucket } from './scope.ts'
import type { Store } from './store.ts'

export interface Target {
  key: string
  bucket: FoundBucket
  entry: Entry | undefined
  current: ObjectRecord | undefined
}

/** Throws NoSuchBucket, or what the scope throws. */
export async function readTarget(store: Store, scope: BucketScope, key: string): Promise<Target> {
  const [bucketEntry, entry] = await store.kv.get([bucketKey(scope.name), objectKey(scope.name, key)])
  const bucket = admitted(scope, bucketEntry)
  return { key, bucket, entry, current: entry === undefined ? undefined : objectCodec.decode(entry.key, entry.value) }
}

export const nextSequence = (target: Target): number => (target.current?.sequence ?? 0) + 1

/**
 * The commit that puts `record` in the place of the target's current version, or removes it when `undefined`. It applies only while bucket and current version are
 * as they were read. What the old version kept becomes garbage in the same commit.
 */
export function replaceCurrent(store: Store, target: Target, record: ObjectRecord | undefined): Commit {
  const { bucket, entry, current } = target
  const key = objectKey(bucket.record.name, target.key)
  const puts: Put[] = []
  if (current !== undefined) puts.push(garbagePut(store, garbageOf(current)))
  if (record !== undefined) puts.push({ key, value: objectCodec.encode(key, record) })
  return {
    checks: [
      { key: bucketKey(bucket.record.name), version: bucket.version },
      entry === undefined ? { key, absent: true } : { key, version: entry.version },
    ],
    puts,
    deletes: record === undefined ? [key] : [],
  }
}

/** What becomes unreferenced when a version goes. */
function garbageOf(record: ObjectRecord): GarbageRecord {
  return record.data.kind === 'blob'
    ? { kind: 'blob', manifest: record.data.manifest }
    : { kind: 'parts', uploadId: record.data.uploadId }
}
