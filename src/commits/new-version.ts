/** Puts a new version in its place: the part of a write that every way of writing shares. */

import type { DefaultRetention } from '../records/bucket-record.ts'
import type { ObjectDescription } from '../records/descriptions.ts'
import type { ObjectAttributes } from '../records/object-attributes.ts'
import type { DeleteMarker, Encryption, ObjectRecord } from '../records/records.ts'
import { describedRandom, versionRandomBytes } from '../records/version-id.ts'
import { checkWrite, conditionally, type WriteConditions } from '../rules/preconditions.ts'
import { retentionFrom } from '../rules/retention.ts'
import { nextSequence, ownBlob, placeVersion, type VersionInBucket } from '../rules/versions.ts'
import type { Backend } from './backend.ts'
import { commitKeyDecision, type Decision } from './commit.ts'
import { historyCommit, lockClaim } from './history-commit.ts'
import { type KeyHistory, newVersionId, readHistory } from './key-history.ts'
import { lockNow } from './lock-clock.ts'
import { repairPut } from './repair-queue.ts'
import type { BucketScope } from './scope.ts'

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

/** What is decided of a version before its bytes are written, so that they can tell it: for the place that is next now. */
export interface ExpectedVersion extends Pick<ObjectDescription, 'key' | 'sequence' | 'versionRandom'> {
  encryption: Encryption | undefined
  /** As `versionRandom`, also where no version is named by it. */
  random: Buffer
  /** The lock that the bucket's default gives, once it is known when it begins. Pure. */
  stampedAt(nowMs: number): StampedRetention | undefined
}

export async function expectVersion(
  backend: Backend,
  { key, bucket, versions }: KeyHistory,
  { attributes, encryptionAt }: Pick<NewRecord, 'attributes' | 'encryptionAt'>,
): Promise<ExpectedVersion> {
  const sequence = nextSequence(versions)
  const random = backend.clock.random(versionRandomBytes)
  const rule = bucket.record.objectLock?.defaultRetention
  return {
    key,
    sequence,
    versionRandom: describedRandom(bucket.record, random),
    encryption: encryptionAt?.(sequence),
    random,
    stampedAt: rule === undefined || attributes.retention !== undefined ? noStamp : await retentionStamp(backend, rule),
  }
}

/** What a blob can tell of the lock that its version gets from the bucket: the clock is asked now, and counted on from there. */
async function retentionStamp(backend: Backend, rule: DefaultRetention): Promise<ExpectedVersion['stampedAt']> {
  const trustedMs = await lockNow(backend)
  const atMs = backend.clock.now()
  return (nowMs) => ({ rule, retention: retentionFrom(rule, trustedMs + Math.max(0, nowMs - atMs)) })
}

const noStamp = (): undefined => undefined

/**
 * Commits an object as the newest version of its key, if its conditions hold of the current one in the attempt that succeeds. `before` serves the first.
 * A lock that the client didn't ask for is the bucket's default, stamped here. Throws PreconditionFailed, ConditionalRequestConflict.
 */
export async function commitObject(
  backend: Backend,
  scope: BucketScope,
  before: KeyHistory,
  record: NewRecord,
  conditions: WriteConditions,
): Promise<VersionInBucket> {
  const decide = async (attempt: number): Promise<Decision<VersionInBucket>> => {
    const history = attempt === 0 ? before : await readHistory(backend, scope, before)
    checkWrite(conditions, history.versions.current)
    const placed = await placeObject(backend, history, record)
    return { result: { bucket: history.bucket.record, record: placed.object }, commit: placed.commit }
  }
  return conditionally(conditions, () => commitKeyDecision(backend, scope.name, before.key, decide))
}

/** The object with its place, and the commit that puts it there. */
export async function placeObject(backend: Backend, history: KeyHistory, record: NewRecord) {
  const sequence = nextSequence(history.versions)
  const rule = history.bucket.record.objectLock?.defaultRetention
  // Only a lock that is still to be made takes time.
  const isLocked = rule === undefined || record.attributes.retention !== undefined
  const attributes = isLocked ? record.attributes : await lockedAttributes(backend, rule, record)
  // Field by field, none left out: every PUT comes by here, and spreads cost more than all else that it does.
  const object: { [Field in keyof Required<ObjectRecord>]: ObjectRecord[Field] } = {
    kind: 'object',
    sequence,
    versionId: newVersionId(history, sequence, record.versionRandom),
    modifiedMs: backend.clock.now(),
    size: record.size,
    etag: record.etag,
    checksum: record.checksum,
    attributes,
    data: record.data,
    encryption: record.encryptionAt?.(sequence),
  }
  const change = placeVersion(history.versions, object)
  const claim = await lockClaim(backend, history.bucket, false, change.removed)
  const { checks, puts, deletes } = historyCommit(backend, history, change, claim)
  const blob = ownBlob(object.data)
  if (blob?.missing !== undefined) {
    puts.push(repairPut(backend, { kind: 'version', bucket: history.bucket.record.name, key: history.key, sequence }))
  }
  return { object, commit: { grows: true, checks, puts, deletes } }
}

/** With the bucket's default retention. */
async function lockedAttributes(
  backend: Backend,
  rule: DefaultRetention,
  { attributes, stamped }: Pick<NewRecord, 'attributes' | 'stamped'>,
): Promise<ObjectAttributes> {
  if (JSON.stringify(rule) === JSON.stringify(stamped?.rule)) return stampedAttributes(attributes, stamped)
  return { ...attributes, retention: retentionFrom(rule, await lockNow(backend)) }
}

/** What a blob tells of its object's attributes. */
export function stampedAttributes(
  attributes: ObjectAttributes,
  stamped: StampedRetention | undefined,
): ObjectAttributes {
  return stamped === undefined ? attributes : { ...attributes, retention: stamped.retention }
}

/** The delete marker with its place, and the commit that puts it there. */
export async function placeMarker(backend: Backend, history: KeyHistory, now?: () => Promise<number>) {
  const sequence = nextSequence(history.versions)
  const marker: DeleteMarker = {
    kind: 'marker',
    sequence,
    versionId: newVersionId(history, sequence, backend.clock.random(versionRandomBytes)),
    modifiedMs: backend.clock.now(),
  }
  const change = placeVersion(history.versions, marker)
  const claim = await lockClaim(backend, history.bucket, false, change.removed, now)
  return { marker, commit: historyCommit(backend, history, change, claim) }
}
