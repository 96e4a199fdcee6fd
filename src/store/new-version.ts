/** Puts a new version in its place: the part of a write that every way of writing shares. */
import { commitKeyDecision } from './commit.ts'
import { historyCommit, type KeyHistory, lockClaim, newVersionId, readHistory } from './key-history.ts'
import { lockNow } from './lock-clock.ts'
import type { DeleteMarker, Encryption, ObjectAttributes, ObjectRecord } from './records.ts'
import { repairPuts } from './repair-queue.ts'
import { retentionFrom } from './retention.ts'
import type { BucketScope, FoundBucket } from './scope.ts'
import type { Store } from './store.ts'
import { nextSequence, placeVersion, type VersionInBucket } from './versions.ts'

/** An object before its place among the versions is known. */
export interface NewRecord extends Omit<ObjectRecord, 'kind' | 'sequence' | 'versionId' | 'modifiedMs' | 'encryption'> {
  /** The object's key is bound to its place, so it is wrapped once that is known. Absent: not encrypted. */
  encryptionAt: ((sequence: number) => Encryption) | undefined
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
    versionId: newVersionId(store, history, sequence),
    modifiedMs: store.clock.now(),
    size: record.size,
    etag: record.etag,
    checksum: record.checksum,
    headers: record.headers,
    metadata: record.metadata,
    tags: record.tags,
    retention: record.retention ?? (await defaultRetention(store, history.bucket)),
    legalHold: record.legalHold,
    storageClass: record.storageClass,
    websiteRedirectLocation: record.websiteRedirectLocation,
    data: record.data,
    encryption: record.encryptionAt?.(sequence),
  }
  const claim = await lockClaim(store, history.bucket, false)
  const commit = historyCommit(store, history, placeVersion(history.versions, object), claim)
  const { data } = object
  const owner = { kind: 'version' as const, bucket: history.bucket.record.name, key: history.key, sequence }
  const queued = data.kind === 'blob' ? repairPuts(store, owner, data.manifest) : []
  return { object, commit: queued.length === 0 ? commit : { ...commit, puts: [...(commit.puts ?? []), ...queued] } }
}

async function defaultRetention(store: Store, { record }: FoundBucket): Promise<ObjectAttributes['retention']> {
  const rule = record.objectLock?.defaultRetention
  return rule && retentionFrom(rule, await lockNow(store))
}

/** The delete marker with its place, and the commit that puts it there. */
export async function placeMarker(store: Store, history: KeyHistory) {
  const sequence = nextSequence(history.versions)
  const marker: DeleteMarker = {
    kind: 'marker',
    sequence,
    versionId: newVersionId(store, history, sequence),
    modifiedMs: store.clock.now(),
  }
  const claim = await lockClaim(store, history.bucket, false)
  return { marker, commit: historyCommit(store, history, placeVersion(history.versions, marker), claim) }
}
