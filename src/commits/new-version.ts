/** Makes a new version the newest of its key: the step that all writes share. */

import { S3Error } from '../errors.ts'
import type { BucketRecord, DefaultRetention } from '../records/bucket-record.ts'
import type { ObjectDescription } from '../records/descriptions.ts'
import type { Creation } from '../records/notifications.ts'
import type { ObjectAttributes } from '../records/object-attributes.ts'
import type { DeleteMarker, Encryption, ObjectRecord } from '../records/records.ts'
import { describedRandom, randomOfCopy, versionRandomBytes } from '../records/version-id.ts'
import { checkWrite, conditionally, type WriteConditions } from '../rules/preconditions.ts'
import { growthOf } from '../rules/quota.ts'
import { retentionFrom } from '../rules/retention.ts'
import { nextSequence, ownBlob, placeVersion, type VersionInBucket } from '../rules/versions.ts'
import type { Backend } from './backend.ts'
import { commitKeyDecision, type Decision } from './commit.ts'
import { findCopy } from './existing-copy.ts'
import { historyCommit, lockClaim } from './history-commit.ts'
import { type KeyHistory, newVersionId, readHistory } from './key-history.ts'
import { lockNow } from './lock-clock.ts'
import { type Cap, withinQuota } from './quota.ts'
import { repairPut } from './repair-queue.ts'
import { replicatedAttributes } from './replica-queue.ts'
import type { BucketScope } from './scope.ts'

/** An object before its sequence among the versions is known. */
export interface NewRecord extends Omit<ObjectRecord, 'kind' | 'sequence' | 'versionId' | 'modifiedMs' | 'encryption'> {
  /** Wraps the object's key, which is bound to the version's sequence. `undefined`: not encrypted. */
  encryptionAt: ((sequence: number) => Encryption) | undefined
  /** Forms the version's id, together with its sequence. */
  versionRandom: Buffer
  /** The default retention that the blob's description states, valid while the bucket still has the same rule. Absent: none was needed. */
  stamped?: StampedRetention | undefined
  /** As events tell it. */
  madeBy: Creation
  /** The attributes by the bucket's settings, which can have changed since the body began to come. Throws to refuse. Absent: they do not depend on any. */
  attributesIn?: ((bucket: BucketRecord) => ObjectAttributes) | undefined
}

export interface StampedRetention {
  rule: DefaultRetention
  retention: ObjectAttributes['retention']
}

/** What is decided about a version before its bytes are written, so that the blob's description can state it. Assumes the sequence that is next now. */
export interface ExpectedVersion extends Pick<ObjectDescription, 'key' | 'sequence' | 'versionRandom'> {
  encryption: Encryption | undefined
  /** The bytes of `versionRandom`. Also set when the version is to be the null version. */
  random: Buffer
  /** The retention that the bucket's default gives a version written at `nowMs`. Pure. */
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

/** The default retention for the blob's description. Reads the lock clock now, and counts on from there. */
async function retentionStamp(backend: Backend, rule: DefaultRetention): Promise<ExpectedVersion['stampedAt']> {
  const trustedMs = await lockNow(backend)
  const atMs = backend.clock.now()
  return (nowMs) => ({ rule, retention: retentionFrom(rule, trustedMs + Math.max(0, nowMs - atMs)) })
}

const noStamp = (): undefined => undefined

/**
 * Commits an object as the newest version of its key. Every attempt checks the conditions against the current version; the first attempt uses `before`.
 * An object without a retention of its own gets the bucket's default here. A copy of another bucket's version that the key has already
 * is left as it is: then the result has other data than `record`. Throws NoSuchBucket, PreconditionFailed, ConditionalRequestConflict, QuotaExceeded.
 */
export async function commitObject(
  backend: Backend,
  scope: BucketScope,
  before: KeyHistory,
  record: NewRecord,
  conditions: WriteConditions,
): Promise<VersionInBucket> {
  const decide = async (attempt: number, cap: Cap | undefined): Promise<Decision<VersionInBucket>> => {
    const history = attempt === 0 ? before : await readAgain(backend, scope, before)
    checkWrite(conditions, history.versions.current, before.key)
    const { replication } = record.attributes
    const made = replication?.status === 'REPLICA' ? await existingCopy(backend, history, replication.of) : undefined
    if (made !== undefined) return { result: made, commit: { checks: history.checks } }
    const attributes = attempt === 0 ? undefined : record.attributesIn?.(history.bucket.record)
    const placed = attributes === undefined ? record : { ...record, attributes }
    const { object, change, commit } = await placeObject(backend, history, placed)
    const result = { bucket: history.bucket.record, record: object }
    return { result, commit: cap === undefined ? commit : await cap(commit, growthOf(history.versions, change)) }
  }
  const most = { bytes: record.size, objects: 1 }
  return conditionally(conditions, () =>
    withinQuota(backend, before.bucket.record, most, (cap) =>
      commitKeyDecision(backend, scope.name, before.key, (attempt) => decide(attempt, cap)),
    ),
  )
}

/** Throws NoSuchBucket where another bucket has the name by now: the wrapped key, the lock and the blob's description belong to the former one. */
async function readAgain(backend: Backend, scope: BucketScope, before: KeyHistory): Promise<KeyHistory> {
  const history = await readHistory(backend, scope, before)
  if (history.bucket.record.id === before.bucket.record.id) return history
  throw new S3Error('NoSuchBucket', { details: { BucketName: scope.name } })
}

/** The copy of a version of another bucket, if the key has it already. */
async function existingCopy(
  { kv }: Backend,
  history: KeyHistory,
  original: string,
): Promise<VersionInBucket | undefined> {
  const record = await findCopy(kv, history, original)
  return record?.kind === 'object' ? { bucket: history.bucket.record, record } : undefined
}

/** The object as the newest version, and the commit that makes it so. */
export async function placeObject(backend: Backend, history: KeyHistory, record: NewRecord) {
  const sequence = nextSequence(history.versions)
  const rule = history.bucket.record.objectLock?.defaultRetention
  // Most objects need no default retention, and so no look at the lock clock.
  const needsNoDefault = rule === undefined || record.attributes.retention !== undefined
  const locked = needsNoDefault ? record.attributes : await lockedAttributes(backend, rule, record)
  const encryption = record.encryptionAt?.(sequence)
  // Field by field, none left out: every PUT runs this, and a spread would cost more than the rest of the function.
  const object: { [Field in keyof Required<ObjectRecord>]: ObjectRecord[Field] } = {
    kind: 'object',
    sequence,
    versionId: newVersionId(history, sequence, record.versionRandom),
    modifiedMs: timeOf(backend, record.attributes.originalMs),
    size: record.size,
    etag: record.etag,
    checksum: record.checksum,
    attributes: replicatedAttributes(history.bucket.record, history.key, locked, encryption),
    data: record.data,
    encryption,
  }
  const change = placeVersion(history.versions, object)
  const claim = await lockClaim(backend, history.bucket, false, change.removed)
  const { checks, puts, deletes } = historyCommit(backend, history, change, claim, {
    name: `ObjectCreated:${record.madeBy}`,
    version: object,
  })
  const blob = ownBlob(object.data)
  if (blob?.missing !== undefined) {
    puts.push(repairPut(backend, { kind: 'version', bucket: history.bucket.record.name, key: history.key, sequence }))
  }
  return { object, change, commit: { grows: true, checks, puts, deletes } }
}

/** The attributes with the bucket's default retention: the one that the blob states, if the rule is still the same. */
async function lockedAttributes(
  backend: Backend,
  rule: DefaultRetention,
  { attributes, stamped }: Pick<NewRecord, 'attributes' | 'stamped'>,
): Promise<ObjectAttributes> {
  if (JSON.stringify(rule) === JSON.stringify(stamped?.rule)) return stampedAttributes(attributes, stamped)
  return { ...attributes, retention: retentionFrom(rule, await lockNow(backend)) }
}

/** The attributes as the blob's description states them. */
export function stampedAttributes(
  attributes: ObjectAttributes,
  stamped: StampedRetention | undefined,
): ObjectAttributes {
  return stamped === undefined ? attributes : { ...attributes, retention: stamped.retention }
}

/** `Last-Modified` of a new version: a copy keeps that of its original. No version is from the future, even where the clock of the other server is ahead. */
function timeOf({ clock }: Backend, originalMs: number | undefined): number {
  const nowMs = clock.now()
  return originalMs === undefined ? nowMs : Math.min(originalMs, nowMs)
}

/** A delete marker as the newest version, and the commit that makes it so. `now`: the time for locks. `replicaOf`: the id of the marker of another bucket that it is a copy of. `originalMs`: when that was made. */
export async function placeMarker(
  backend: Backend,
  history: KeyHistory,
  {
    now,
    replicaOf,
    originalMs,
  }: { now?: () => Promise<number>; replicaOf?: string | undefined; originalMs?: number | undefined } = {},
) {
  const sequence = nextSequence(history.versions)
  const random = replicaOf === undefined ? backend.clock.random(versionRandomBytes) : randomOfCopy(replicaOf)
  const marker: DeleteMarker = {
    kind: 'marker',
    sequence,
    versionId: newVersionId(history, sequence, random),
    modifiedMs: timeOf(backend, originalMs),
  }
  const change = placeVersion(history.versions, marker)
  const claim = await lockClaim(backend, history.bucket, false, change.removed, now)
  const isReplica = replicaOf !== undefined
  const event = { name: 'ObjectRemoved:DeleteMarkerCreated', version: marker, isReplica } as const
  return { marker, commit: historyCommit(backend, history, change, claim, event) }
}
