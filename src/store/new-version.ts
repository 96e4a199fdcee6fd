/** Puts a new version in its place: the part of a write that every way of writing shares. */
import { commitKeyDecision } from './commit.ts'
import { historyCommit, type KeyHistory, lockClaim, newVersionId, readHistory } from './key-history.ts'
import { lockNow } from './lock-clock.ts'
import type {
  BucketRecord,
  DefaultRetention,
  DeleteMarker,
  Encryption,
  ObjectAttributes,
  ObjectRecord,
} from './records.ts'
import { repairPuts } from './repair-queue.ts'
import { retentionFrom } from './retention.ts'
import type { BucketScope, FoundBucket } from './scope.ts'
import type { Store } from './store.ts'
import { versionRandomBytes } from './version-id.ts'
import { nextSequence, ownBlob, placeVersion, type VersionInBucket } from './versions.ts'

/** An object before its place among the versions is known. */
export interface NewRecord extends Omit<ObjectRecord, 'kind' | 'sequence' | 'versionId' | 'modifiedMs' | 'encryption'> {
  /** The object's key is bound to its place, so it is wrapped once that is known. Absent: not encrypted. */
  encryptionAt: ((sequence: number) => Encryption) | undefined
  /** With its place, the name of the version. */
  versionRandom: Buffer
  /** The default lock as the blob tells it, and the rule that it follows from: it counts for as long as the bucket has that rule. Absent: none was needed. */
  stamped?: StampedRetention | undefined
}

export interface StampedRetention {
  rule: DefaultRetention
  retention: ObjectAttributes['retention']
}

/** What a blob can tell of the lock that its version gets from the bucket: the clock is asked now, and counted on from there. */
export async function retentionStamp(
  store: Store,
  { objectLock }: BucketRecord,
  asked: ObjectAttributes['retention'],
): Promise<() => StampedRetention | undefined> {
  const rule = objectLock?.defaultRetention
  if (rule === undefined || asked !== undefined) return () => undefined
  const trustedMs = await lockNow(store)
  const atMs = store.clock.now()
  return () => ({ rule, retention: retentionFrom(rule, trustedMs + Math.max(0, store.clock.now() - atMs)) })
}

/**
 * Commits an object as the newest version of its key. `check` is asked in each attempt whether the current object allows it, and throws when not.
 * `before` serves the first attempt. A lock that the client didn't ask for is the bucket's default, stamped here.
 */
export async function commitObject(
  store: Store,
  scope: BucketScope,
  before: KeyHistory,
  record: NewRecord,
  check: (current: ObjectRecord | undefined) => void,
): Promise<VersionInBucket> {
  return commitKeyDecision(store, scope.name, before.key, async (attempt) => {
    const history = attempt === 0 ? before : await readHistory(store, scope, before.key)
    check(history.versions.current)
    const placed = await placeObject(store, history, record)
    return { result: { bucket: history.bucket.record, record: placed.object }, commit: placed.commit }
  })
}

/** The object with its place, and the commit that puts it there. */
export async function placeObject(store: Store, history: KeyHistory, record: NewRecord) {
  const sequence = nextSequence(history.versions)
  // Field by field, none left out: every PUT comes by here, and spreads cost more than all else that it does.
  const object: { [Field in keyof Required<ObjectRecord>]: ObjectRecord[Field] } = {
    kind: 'object',
    sequence,
    versionId: newVersionId(history, sequence, record.versionRandom),
    modifiedMs: store.clock.now(),
    size: record.size,
    etag: record.etag,
    checksum: record.checksum,
    headers: record.headers,
    metadata: record.metadata,
    tags: record.tags,
    retention: record.retention ?? (await defaultRetention(store, history.bucket, record.stamped)),
    legalHold: record.legalHold,
    storageClass: record.storageClass,
    websiteRedirectLocation: record.websiteRedirectLocation,
    data: record.data,
    encryption: record.encryptionAt?.(sequence),
  }
  const claim = await lockClaim(store, history.bucket, false)
  const commit = historyCommit(store, history, placeVersion(history.versions, object), claim)
  const blob = ownBlob(object.data)
  const owner = { kind: 'version' as const, bucket: history.bucket.record.name, key: history.key, sequence }
  const queued = blob === undefined ? [] : repairPuts(store, owner, blob)
  return { object, commit: queued.length === 0 ? commit : { ...commit, puts: [...(commit.puts ?? []), ...queued] } }
}

async function defaultRetention(
  store: Store,
  { record }: FoundBucket,
  stamped: StampedRetention | undefined,
): Promise<ObjectAttributes['retention']> {
  const rule = record.objectLock?.defaultRetention
  if (rule !== undefined && JSON.stringify(rule) === JSON.stringify(stamped?.rule)) return stamped?.retention
  return rule && retentionFrom(rule, await lockNow(store))
}

/** The delete marker with its place, and the commit that puts it there. */
export async function placeMarker(store: Store, history: KeyHistory) {
  const sequence = nextSequence(history.versions)
  const marker: DeleteMarker = {
    kind: 'marker',
    sequence,
    versionId: newVersionId(history, sequence, store.clock.random(versionRandomBytes)),
    modifiedMs: store.clock.now(),
  }
  const claim = await lockClaim(store, history.bucket, false)
  return { marker, commit: historyCommit(store, history, placeVersion(history.versions, marker), claim) }
}
