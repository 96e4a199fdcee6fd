/** Reads the versions of a key for a change, and turns the change into a commit that applies only to what was read. */
import type { Check, Commit, Entry, Key, Put } from '../kv/kv.ts'
import { type KeyRange, keyAfter } from '../kv/ordered-key.ts'
import { garbagePut } from './commit.ts'
import { type BlobOwner, bucketKey, historyKey, historyOf, nullVersionKey, objectKey } from './keyspace.ts'
import { lockNow } from './lock-clock.ts'
import { movePutsOfVersion } from './move-queue.ts'
import { nullVersionCodec, objectCodec, versionCodec } from './record-codecs.ts'
import type { GarbageRecord, ObjectRecord, VersionRecord } from './records.ts'
import { checkRemovable, type LockClaim } from './retention.ts'
import { admitted, type BucketScope, type FoundBucket } from './scope.ts'
import type { Store } from './store.ts'
import { nullVersionId, sequenceOf, versionIdOf } from './version-id.ts'
import { type KeyVersions, namesVersions, type VersionChange } from './versions.ts'

/** As many of the history as any change needs: the newest, and the one that follows it should it go. */
const newestRead = 2

export interface KeyHistory {
  key: string
  /** Where the current version lies. */
  currentKey: Key
  bucket: FoundBucket
  versions: KeyVersions
  /** What must not have changed when a commit applies. */
  checks: readonly Check[]
}

/** Throws NoSuchBucket, or what the scope throws. In a bucket that was never versioned it reads no more than the current version. */
export async function readHistory(store: Store, scope: BucketScope, key: string): Promise<KeyHistory> {
  const bucketName = scope.name
  const currentKey = objectKey(bucketName, key)
  const [bucketEntry, entry] = await store.kv.get([bucketKey(bucketName), currentKey])
  const bucket = admitted(scope, bucketEntry)
  const checks: Check[] = [{ key: bucketKey(bucketName), version: bucket.version }, unchanged(currentKey, entry)]
  const current = entry === undefined ? undefined : objectCodec.decode(entry.key, entry.value)
  if (bucket.record.versioning === 'unversioned') {
    return { key, currentKey, bucket, versions: { current, newest: [], nullVersion: undefined }, checks }
  }

  const history = historyOf(bucketName, key)
  const entries = await store.kv.range({ ...history, limit: newestRead })
  const newest = entries.map((found) => versionCodec.decode(found.key, found.value))
  const pointer = nullVersionKey(bucketName, key)
  const [nullEntry] = await store.kv.range({ start: pointer, end: keyAfter(pointer), limit: 1 })
  checks.push(unchanged(pointer, nullEntry), ...startUnchanged(history, entries))
  const nullSequence = nullEntry && nullVersionCodec.decode(nullEntry.key, nullEntry.value).sequence
  let nullVersion = newest.find(({ sequence }) => sequence === nullSequence)
  if (nullVersion === undefined && nullSequence !== undefined) {
    const [found] = await store.kv.get([historyKey(bucketName, key, nullSequence)])
    checks.push(unchanged(historyKey(bucketName, key, nullSequence), found))
    nullVersion = found && versionCodec.decode(found.key, found.value)
  }
  return { key, currentKey, bucket, versions: { current, newest, nullVersion }, checks }
}

function unchanged(key: Buffer, entry: Entry | undefined): Check {
  return entry === undefined ? { key, absent: true } : { key, version: entry.version }
}

/** Checks that `entries` are still the first of `range`. */
function startUnchanged(range: KeyRange, entries: readonly Entry[]): Check[] {
  const checks: Check[] = []
  let emptyFrom = range.start
  for (const { key, version } of entries) {
    checks.push({ emptyFrom, emptyTo: key }, { key, version })
    emptyFrom = keyAfter(key)
  }
  if (entries.length < newestRead) checks.push({ emptyFrom, emptyTo: range.end })
  return checks
}

/** The name of the version that comes next. */
export function newVersionId({ bucket }: KeyHistory, sequence: number, random: Buffer): string {
  return namesVersions(bucket.record.versioning) ? versionIdOf(sequence, random) : nullVersionId
}

/** What a request may claim against locks. Where versioning never was, nothing can be locked; a lock that lies there all the same never expires. */
export async function lockClaim(store: Store, { record }: FoundBucket, bypassGovernance: boolean): Promise<LockClaim> {
  const nowMs = record.versioning === 'unversioned' ? Number.NEGATIVE_INFINITY : await lockNow(store)
  return { nowMs, bypassGovernance }
}

/**
 * The commit of a change. No version leaves by any other way, so here, and only here, locks are asked: throws AccessDenied when one that goes is protected.
 * What goes becomes garbage in the same commit.
 */
export function historyCommit(store: Store, history: KeyHistory, change: VersionChange, claim: LockClaim): Commit {
  const { key, currentKey, bucket, versions } = history
  const { name } = bucket.record
  const gone = change.removed.filter((version) => version.kind === 'object')
  for (const version of gone) checkRemovable(version, claim)

  const puts: Put[] = gone.map((version) =>
    garbagePut(store, garbageOf(version, { kind: 'version', bucket: name, key, sequence: version.sequence })),
  )
  const deletes: Buffer[] = []
  if (change.current === undefined) {
    if (versions.current !== undefined) deletes.push(currentKey)
  } else if (change.current !== versions.current) {
    puts.push({ key: currentKey, value: objectCodec.encode(currentKey, change.current) })
    const isNew = !versions.newest.includes(change.current)
    puts.push(...movePutsOfVersion(bucket.record, key, change.current, isNew))
  }
  for (const version of change.addToHistory) {
    const versionKey = historyKey(name, key, version.sequence)
    puts.push({ key: versionKey, value: versionCodec.encode(versionKey, version) })
    puts.push(...movePutsOfVersion(bucket.record, key, version, version !== versions.current))
  }
  for (const { sequence } of change.dropFromHistory) deletes.push(historyKey(name, key, sequence))
  movePointer(history, change, puts, deletes)
  return { checks: history.checks, puts, deletes }
}

function movePointer(
  { key, bucket, versions }: KeyHistory,
  change: VersionChange,
  puts: Put[],
  deletes: Buffer[],
): void {
  if (change.nullSequence === versions.nullVersion?.sequence) return
  const pointer = nullVersionKey(bucket.record.name, key)
  if (change.nullSequence === undefined) deletes.push(pointer)
  else puts.push({ key: pointer, value: nullVersionCodec.encode(pointer, { sequence: change.nullSequence }) })
}

/** What becomes unreferenced when a version goes. */
export function garbageOf({ data }: ObjectRecord, owner: BlobOwner): GarbageRecord {
  if (data.kind === 'blob') return { kind: 'blob', manifest: data.manifest, owner }
  return { kind: 'parts', uploadId: data.uploadId, note: data.note, owner }
}

/** A version by its name among those that were read, or by a further read. */
export async function versionNamed(
  store: Store,
  { key, bucket, versions }: KeyHistory,
  versionId: string,
): Promise<{ version: VersionRecord; checks: readonly Check[] } | undefined> {
  const known = [versions.current, ...versions.newest, versions.nullVersion]
  const version = known.find((candidate) => candidate?.versionId === versionId)
  if (version !== undefined) return { version, checks: [] }
  if (versionId === nullVersionId || bucket.record.versioning === 'unversioned') return undefined
  const [entry] = await store.kv.get([historyKey(bucket.record.name, key, sequenceOf(versionId))])
  if (entry === undefined) return undefined
  const found = versionCodec.decode(entry.key, entry.value)
  return found.versionId === versionId ? { version: found, checks: [unchanged(entry.key, entry)] } : undefined
}
