/** Turns a change of a key's versions into a commit that applies only to what was read. */

import { known } from '../known.ts'
import type { Check, Key, Put } from '../kv/kv.ts'
import { type BlobOwner, historyKey, nullVersionKey } from '../records/keyspace.ts'
import { nullVersionCodec, objectCodec, versionCodec } from '../records/record-codecs.ts'
import type { GarbageRecord, ObjectRecord, VersionRecord } from '../records/records.ts'
import { growthOf } from '../rules/quota.ts'
import { checkRemovable, type LockClaim } from '../rules/retention.ts'
import type { KeyVersions, VersionChange } from '../rules/versions.ts'
import type { Backend } from './backend.ts'
import { garbagePut } from './commit.ts'
import { eventPuts, type VersionEvent } from './event-queue.ts'
import type { KeyHistory, PlacedVersion } from './key-history.ts'
import { lockNow } from './lock-clock.ts'
import { movePutsOfVersion } from './move-queue.ts'
import { NewestWrapping } from './newest-wrapping.ts'
import { replicaPuts } from './replica-queue.ts'
import type { FoundBucket } from './scope.ts'
import { usageChange } from './usage.ts'

/**
 * What a request can claim against the locks of `locked`. It reads the time only when a version has a retention. A bucket that was never versioned cannot lock
 * anything; if one of its records has a lock all the same, that lock never expires.
 */
export async function lockClaim(
  backend: Backend,
  { record }: FoundBucket,
  bypassGovernance: boolean,
  locked: readonly VersionRecord[],
  now?: () => Promise<number>,
): Promise<LockClaim> {
  const needsTime =
    record.versioning !== 'unversioned' &&
    locked.some((one) => one.kind === 'object' && one.attributes.retention !== undefined)
  if (!needsTime) return { nowMs: Number.NEGATIVE_INFINITY, bypassGovernance }
  return { nowMs: await (now === undefined ? lockNow(backend) : now()), bypassGovernance }
}

/** A `Commit` that callers can add puts and deletes to. */
export interface HistoryCommit {
  checks: readonly Check[]
  puts: Put[]
  deletes: Key[]
}

/**
 * The commit of a change. Every removal of a version goes through here, so this is the only place that checks locks: throws AccessDenied when a removed version
 * is protected. The data of removed versions becomes garbage in the same commit, the bucket's
 * notifications tell `event`, its replication queues it, and its usage is kept if it has a quota.
 */
export function historyCommit(
  backend: Backend,
  history: KeyHistory,
  change: VersionChange,
  claim: LockClaim,
  event: VersionEvent,
): HistoryCommit {
  const { key, currentKey, bucket, versions } = history
  const { name } = bucket.record
  const puts: Put[] = []
  const deletes: Key[] = []
  for (const version of change.removed) {
    if (version.kind === 'marker') continue
    checkRemovable(version.attributes, claim)
    const owner = { kind: 'version' as const, bucket: name, key, sequence: version.sequence }
    puts.push(garbagePut(backend, garbageOf(version, owner)))
  }
  const wrapping = new NewestWrapping(backend, bucket.record.id, key)
  if (change.current === undefined) {
    if (versions.current !== undefined) deletes.push(currentKey)
  } else if (change.current !== versions.current) {
    const placed = wrapping.newest(change.current)
    puts.push({ key: currentKey, value: objectCodec.encode(currentKey, placed) })
    const isNew = !versions.newest.includes(change.current)
    puts.push(...movePutsOfVersion(backend, bucket.record, key, change.current, isNew))
  }
  for (const version of change.addToHistory) {
    const versionKey = historyKey(name, key, version.sequence)
    puts.push({ key: versionKey, value: versionCodec.encode(versionKey, wrapping.newest(version)) })
    puts.push(...movePutsOfVersion(backend, bucket.record, key, version, version !== versions.current))
  }
  for (const { sequence } of change.dropFromHistory) deletes.push(historyKey(name, key, sequence))
  const covered = coveredMarker(history, change)
  if (covered !== undefined) puts.push({ key: covered.key, value: versionCodec.encode(covered.key, covered.record) })
  movePointer(history, change, puts, deletes)
  puts.push(...eventPuts(backend, bucket, key, event))
  if (bucket.record.replication !== undefined) puts.push(...replicaPuts(backend, bucket, key, event))
  const { quota, id } = bucket.record
  if (quota !== undefined) puts.push(...usageChange(backend, id, growthOf(versions, change)))
  const changeChecks = [...historyChecks(history, change), ...wrapping.checks]
  return { checks: changeChecks.length === 0 ? history.checks : [...history.checks, ...changeChecks], puts, deletes }
}

/** The newest marker, when the change puts another version on top of it. It guards the key, so it is written again unchanged to get a new version. */
function coveredMarker(
  { versions, placed }: KeyHistory,
  { current, addToHistory, dropFromHistory }: VersionChange,
): PlacedVersion | undefined {
  const [newest] = versions.newest
  if (versions.current !== undefined || newest === undefined || dropFromHistory.includes(newest)) return undefined
  return current === undefined && addToHistory.length === 0 ? undefined : placed[0]
}

/** Checks in addition to the guard: the versions of the history that the change removes or uncovers are as they were read. */
function historyChecks({ versions, placed }: KeyHistory, change: VersionChange): Check[] {
  if (placed.length === 0) return []
  const restsOn = new Set(change.dropFromHistory)
  const uncovered = uncoveredBy(versions, change)
  if (uncovered !== undefined) restsOn.add(uncovered)
  return [...restsOn].map(({ sequence }) => {
    const { key, version } = known(placed.find(({ record }) => record.sequence === sequence))
    return { key, version }
  })
}

/** The version that becomes the newest when the change removes the newest one. */
function uncoveredBy({ current, newest }: KeyVersions, { removed }: VersionChange): VersionRecord | undefined {
  const [first, second] = newest
  if (current !== undefined) return removed.includes(current) ? first : undefined
  return first !== undefined && removed.includes(first) ? second : undefined
}

/** Moves the pointer to the null version. It needs no check of its own: every change that moves it also writes the guard or removes the null version. */
function movePointer({ key, bucket, versions }: KeyHistory, change: VersionChange, puts: Put[], deletes: Key[]): void {
  if (change.nullSequence === versions.nullVersion?.sequence) return
  const pointer = nullVersionKey(bucket.record.name, key)
  if (change.nullSequence === undefined) deletes.push(pointer)
  else puts.push({ key: pointer, value: nullVersionCodec.encode(pointer, { sequence: change.nullSequence }) })
}

/** What becomes unreferenced when a version is removed. */
export function garbageOf({ data }: ObjectRecord, owner: BlobOwner): GarbageRecord {
  if (data.kind === 'blob') return { kind: 'blob', manifest: data.manifest, owner }
  return { kind: 'parts', uploadId: data.uploadId, note: data.note, owner }
}
