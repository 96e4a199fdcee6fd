/** Reads the versions of a key for a change, and turns the change into a commit that applies only to what was read. */
import type { Check, Commit, Entry, Key, Put } from '../kv/kv.ts'
import { type KeyRange, keyAfter } from '../kv/ordered-key.ts'
import { type BlobOwner, bucketKey, historyKey, historyOf, nullVersionKey, objectKey } from '../records/keyspace.ts'
import { nullVersionCodec, objectCodec, versionCodec } from '../records/record-codecs.ts'
import type { GarbageRecord, ObjectRecord, VersionRecord } from '../records/records.ts'
import { nullVersionId, sequenceOf, versionIdOf } from '../records/version-id.ts'
import { checkRemovable, type LockClaim } from '../rules/retention.ts'
import { type KeyVersions, namesVersions, type VersionChange } from '../rules/versions.ts'
import type { Backend } from './backend.ts'
import { garbagePut } from './commit.ts'
import { lockNow } from './lock-clock.ts'
import { movePutsOfVersion } from './move-queue.ts'
import { newestWrapping } from './newest-wrapping.ts'
import { admitted, type BucketScope, type FoundBucket, isUnversioned, lastVersioning } from './scope.ts'

/** As many of the history as any change needs: the newest, and the one that follows it should it go. */
const newestRead = 2

export interface KeyHistory {
  key: string
  /** Where the current version lies. */
  currentKey: Key
  bucket: FoundBucket
  versions: KeyVersions
  /** Where the version lies that was asked for by its name, if it is in the history. */
  named: PlacedVersion | undefined
  /** What must not have changed when a commit applies. */
  checks: readonly Check[]
}

interface PlacedVersion {
  key: Key
  version: number
  record: VersionRecord
}

/** A key, and the version of it that a request names. */
export interface AskedKey {
  key: string
  versionId?: string | undefined
}

/** Throws NoSuchBucket, or what the scope throws. In a bucket that was never versioned it reads no more than the current version. */
export async function readHistory(backend: Backend, scope: BucketScope, asked: AskedKey): Promise<KeyHistory> {
  const [admit] = await readHistories(backend, scope.name, [asked])
  if (admit === undefined) throw new Error('a key was asked for, and no history read')
  return admit(scope)
}

/** The histories of several keys of a bucket, read as one. Each is given to a scope of its own, and throws what that throws, or NoSuchBucket. */
export async function readHistories(
  { kv }: Backend,
  bucket: string,
  asked: readonly AskedKey[],
): Promise<((scope: BucketScope) => KeyHistory)[]> {
  const ofBucket = bucketKey(bucket)
  const current = asked.map(({ key }) => ({ key, currentKey: objectKey(bucket, key) }))
  const first = [ofBucket, ...current.map(({ currentKey }) => currentKey)]
  // What the bucket was when it was last read says only what to ask for.
  if (lastVersioning(bucket) === 'unversioned') {
    const [entry, ...entries] = await kv.get(first)
    if (isUnversioned(bucket, entry)) {
      const check = unchanged(ofBucket, entry)
      return current.map((place, i) => (scope) => withoutHistory(admitted(scope, entry), check, place, entries[i]))
    }
  }
  const places = asked.map((one) => placesOf(bucket, one))
  const pointers = places.map(({ pointer }) => pointer)
  const named = places.flatMap((place) => place.named ?? [])
  const histories = places.map(({ history }) => ({ ...history, limit: newestRead }))
  const view = await kv.view([...first, ...pointers, ...named], histories, placedVersion)
  const [entry, ...entries] = view.entries
  const check = unchanged(ofBucket, entry)
  if (isUnversioned(bucket, entry)) {
    return current.map((place, i) => (scope) => withoutHistory(admitted(scope, entry), check, place, entries[i]))
  }
  const read = places.map((place, i) => {
    const pointer = entries[places.length + i]
    const newest = view.found[i] ?? []
    const at = place.named === undefined ? undefined : entries[2 * places.length + named.indexOf(place.named)]
    return { place, current: entries[i], pointer, newest, named: at && placedVersion(at) }
  })
  const older = await olderNullVersions(kv, bucket, read)
  return read.map((one) => (scope) => withHistory(admitted(scope, entry), check, one, older))
}

interface CurrentPlace {
  key: string
  currentKey: Key
}

interface Places extends CurrentPlace {
  /** Of the null version. */
  pointer: Key
  history: KeyRange
  named: Key | undefined
}

interface ReadKey {
  place: Places
  current: Entry | undefined
  pointer: Entry | undefined
  newest: readonly PlacedVersion[]
  named: PlacedVersion | undefined
}

function placesOf(bucket: string, { key, versionId }: AskedKey): Places {
  return {
    key,
    currentKey: objectKey(bucket, key),
    pointer: nullVersionKey(bucket, key),
    history: historyOf(bucket, key),
    named:
      versionId === undefined || versionId === nullVersionId
        ? undefined
        : historyKey(bucket, key, sequenceOf(versionId)),
  }
}

/** While the engine may only lend the entry. */
function placedVersion({ key, value, version }: Entry): PlacedVersion {
  return { key: Buffer.from(key), version, record: versionCodec.decode(key, value) }
}

function nullSequenceOf({ pointer }: ReadKey): number | undefined {
  return pointer && nullVersionCodec.decode(pointer.key, pointer.value).sequence
}

/** Where null versions lie that are not among the newest of their keys. One more round trip, if there is any. */
async function olderNullVersions(
  kv: Backend['kv'],
  bucket: string,
  read: readonly ReadKey[],
): Promise<ReadonlyMap<ReadKey, { key: Key; entry: Entry | undefined }>> {
  const older = read.flatMap((one) => {
    const sequence = nullSequenceOf(one)
    if (sequence === undefined || one.newest.some(({ record }) => record.sequence === sequence)) return []
    return [{ one, key: historyKey(bucket, one.place.key, sequence) }]
  })
  const entries = older.length === 0 ? [] : await kv.get(older.map(({ key }) => key))
  return new Map(older.map(({ one, key }, i) => [one, { key, entry: entries[i] }]))
}

function withoutHistory(
  bucket: FoundBucket,
  bucketCheck: Check,
  { key, currentKey }: CurrentPlace,
  entry: Entry | undefined,
): KeyHistory {
  const current = entry && objectCodec.decode(entry.key, entry.value)
  const versions = { current, newest: [], nullVersion: undefined }
  return { key, currentKey, bucket, versions, named: undefined, checks: [bucketCheck, unchanged(currentKey, entry)] }
}

function withHistory(
  bucket: FoundBucket,
  bucketCheck: Check,
  read: ReadKey,
  older: ReadonlyMap<ReadKey, { key: Key; entry: Entry | undefined }>,
): KeyHistory {
  const { place, newest, named } = read
  const begun = withoutHistory(bucket, bucketCheck, place, read.current)
  const checks = [...begun.checks, unchanged(place.pointer, read.pointer), ...startUnchanged(place.history, newest)]
  const sequence = nullSequenceOf(read)
  let nullVersion = newest.find(({ record }) => record.sequence === sequence)?.record
  const behind = older.get(read)
  if (behind !== undefined) {
    checks.push(unchanged(behind.key, behind.entry))
    nullVersion = behind.entry && versionCodec.decode(behind.entry.key, behind.entry.value)
  }
  const versions = { current: begun.versions.current, newest: newest.map(({ record }) => record), nullVersion }
  return { ...begun, versions, named, checks }
}

function unchanged(key: Buffer, entry: Entry | undefined): Check {
  return entry === undefined ? { key, absent: true } : { key, version: entry.version }
}

/** Checks that `entries` are still the first of `range`. */
function startUnchanged(range: KeyRange, entries: readonly PlacedVersion[]): Check[] {
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

/**
 * What a request may claim against the locks of `locked`; only where one has a retention is the time of any consequence. Where versioning never was, nothing
 * can be locked; a lock that lies there all the same never expires.
 */
export async function lockClaim(
  backend: Backend,
  { record }: FoundBucket,
  bypassGovernance: boolean,
  locked: readonly VersionRecord[],
  now = () => lockNow(backend),
): Promise<LockClaim> {
  const asks =
    record.versioning !== 'unversioned' &&
    locked.some((one) => one.kind === 'object' && one.attributes.retention !== undefined)
  return { nowMs: asks ? await now() : Number.NEGATIVE_INFINITY, bypassGovernance }
}

/**
 * The commit of a change. No version leaves by any other way, so here, and only here, locks are asked: throws AccessDenied when one that goes is protected.
 * What goes becomes garbage in the same commit.
 */
export function historyCommit(backend: Backend, history: KeyHistory, change: VersionChange, claim: LockClaim): Commit {
  const { key, currentKey, bucket, versions } = history
  const { name } = bucket.record
  const gone = change.removed.filter((version) => version.kind === 'object')
  for (const version of gone) checkRemovable(version.attributes, claim)

  const puts: Put[] = gone.map((version) =>
    garbagePut(backend, garbageOf(version, { kind: 'version', bucket: name, key, sequence: version.sequence })),
  )
  const deletes: Buffer[] = []
  const wrapping = newestWrapping(backend, bucket.record.id, key)
  if (change.current === undefined) {
    if (versions.current !== undefined) deletes.push(currentKey)
  } else if (change.current !== versions.current) {
    const placed = wrapping.newest(change.current)
    puts.push({ key: currentKey, value: objectCodec.encode(currentKey, placed) })
    const isNew = !versions.newest.includes(change.current)
    puts.push(...movePutsOfVersion(bucket.record, key, change.current, isNew))
  }
  for (const version of change.addToHistory) {
    const versionKey = historyKey(name, key, version.sequence)
    puts.push({ key: versionKey, value: versionCodec.encode(versionKey, wrapping.newest(version)) })
    puts.push(...movePutsOfVersion(bucket.record, key, version, version !== versions.current))
  }
  for (const { sequence } of change.dropFromHistory) deletes.push(historyKey(name, key, sequence))
  movePointer(history, change, puts, deletes)
  return { checks: [...history.checks, ...wrapping.checks], puts, deletes }
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

/** The version of the name that was asked for when the history was read. */
export function versionNamed(
  { bucket, versions, named }: KeyHistory,
  versionId: string,
): { version: VersionRecord; checks: readonly Check[] } | undefined {
  const known = [versions.current, ...versions.newest, versions.nullVersion]
  const version = known.find((candidate) => candidate?.versionId === versionId)
  if (version !== undefined) return { version, checks: [] }
  if (bucket.record.versioning === 'unversioned' || named?.record.versionId !== versionId) return undefined
  return { version: named.record, checks: [{ key: named.key, version: named.version }] }
}
