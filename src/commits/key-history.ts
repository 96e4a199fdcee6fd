/** Reads the versions of a key for a change, and the checks that its commit makes on what was read. `history-commit` builds the commit. */

import { known } from '../known.ts'
import type { Check, Entry, Key, Version } from '../kv/kv.ts'
import type { KeyRange } from '../kv/ordered-key.ts'
import { bucketKey, historyKey, historyOf, nullVersionKey, objectKey } from '../records/keyspace.ts'
import { nullVersionCodec, objectCodec, versionCodec } from '../records/record-codecs.ts'
import type { VersionRecord } from '../records/records.ts'
import { nullVersionId, sequenceOf, versionIdOf } from '../records/version-id.ts'
import { type KeyVersions, namesVersions } from '../rules/versions.ts'
import type { Backend } from './backend.ts'
import { admitted, type BucketScope, type FoundBucket, isUnversioned, lastSeen, type ReadExisting } from './scope.ts'

/** No change needs more of the history: the newest version, and the one that follows it if the newest is removed. */
const newestRead = 2

export interface KeyHistory {
  key: string
  /** The metadata key of the current version. */
  currentKey: Key
  bucket: FoundBucket
  versions: KeyVersions
  /** The version that the request named, if it is in the history. */
  named: VersionRecord | undefined
  /** The versions that were read from the history, with their metadata keys. */
  placed: readonly PlacedVersion[]
  /** Every change checks the bucket, and the record that guards the versions of the key. */
  checks: readonly Check[]
}

export interface PlacedVersion {
  key: Key
  version: Version
  record: VersionRecord
}

/** A key, and the version of it that a request names. */
export interface RequestedKey {
  key: string
  versionId?: string | undefined
}

/** Throws NoSuchBucket, and what the scope throws. In a bucket that was never versioned, it reads only the current version. */
export async function readHistory(backend: Backend, scope: BucketScope, asked: RequestedKey): Promise<KeyHistory> {
  // The path of most writes: one key of a bucket without versions.
  if (lastSeen(scope.name)?.versioning === 'unversioned') {
    const keys = { key: asked.key, currentKey: objectKey(scope.name, asked.key) }
    const keyOfBucket = bucketKey(scope.name)
    const [bucketEntry, entry] = await backend.kv.get([keyOfBucket, keys.currentKey])
    const bucket = admitted(scope, bucketEntry, existingAt(asked, entry))
    if (bucket.record.versioning === 'unversioned') {
      return withoutHistory(bucket, unchanged(keyOfBucket, bucketEntry), keys, entry)
    }
  }
  const [historyFor] = await readHistories(backend, scope.name, [asked])
  return known(historyFor)(scope)
}

/**
 * Reads the histories of several keys of a bucket together. Returns a function for each key, which takes the key's own scope and gives its history. That
 * function throws NoSuchBucket, and what the scope throws.
 */
export async function readHistories(
  { kv }: Backend,
  bucket: string,
  asked: readonly RequestedKey[],
): Promise<((scope: BucketScope) => KeyHistory)[]> {
  const keyOfBucket = bucketKey(bucket)
  const current = asked.map(({ key }) => ({ key, currentKey: objectKey(bucket, key) }))
  const first = [keyOfBucket, ...current.map(({ currentKey }) => currentKey)]
  // The remembered bucket can be out of date, so it only decides what to read first.
  if (lastSeen(bucket)?.versioning === 'unversioned') {
    const [entry, ...entries] = await kv.get(first)
    if (isUnversioned(bucket, entry)) {
      const check = unchanged(keyOfBucket, entry)
      return current.map((keys, i) => (scope) => {
        const bucket = admitted(scope, entry, existingAt(asked[i], entries[i]))
        return withoutHistory(bucket, check, keys, entries[i])
      })
    }
  }
  const keys = asked.map((one) => historyKeysOf(bucket, one))
  const nullPointers = keys.map(({ nullPointer }) => nullPointer)
  const named = keys.flatMap((each) => each.named ?? [])
  const histories = keys.map(({ history }) => ({ ...history, limit: newestRead }))
  const view = await kv.view([...first, ...nullPointers, ...named], histories, placedVersion)
  const [entry, ...entries] = view.entries
  const check = unchanged(keyOfBucket, entry)
  if (isUnversioned(bucket, entry)) {
    return current.map((keys, i) => (scope) => {
      const bucket = admitted(scope, entry, existingAt(asked[i], entries[i]))
      return withoutHistory(bucket, check, keys, entries[i])
    })
  }
  const read = keys.map((each, i) => {
    const nullPointer = entries[keys.length + i]
    const newest = view.found[i] ?? []
    const at = each.named === undefined ? undefined : entries[2 * keys.length + named.indexOf(each.named)]
    return { keys: each, current: entries[i], nullPointer, newest, named: at && placedVersion(at) }
  })
  const older = await olderNullVersions(kv, bucket, read)
  return read.map((one, i) => (scope) => {
    const bucket = admitted(scope, entry, existingAt(asked[i], one.current))
    return withHistory(bucket, check, one, older)
  })
}

/** The current object. `undefined` when the request names a version: the scope then looks up that version itself. */
function existingAt(asked: RequestedKey | undefined, current: Entry | undefined): ReadExisting | undefined {
  if (asked?.versionId !== undefined) return undefined
  return () => current && objectCodec.decode(current.key, current.value).attributes
}

interface CurrentKey {
  key: string
  currentKey: Key
}

interface HistoryKeys extends CurrentKey {
  nullPointer: Key
  history: KeyRange
  named: Key | undefined
}

interface ReadKey {
  keys: HistoryKeys
  current: Entry | undefined
  nullPointer: Entry | undefined
  newest: readonly PlacedVersion[]
  named: PlacedVersion | undefined
}

function historyKeysOf(bucket: string, { key, versionId }: RequestedKey): HistoryKeys {
  return {
    key,
    currentKey: objectKey(bucket, key),
    nullPointer: nullVersionKey(bucket, key),
    history: historyOf(bucket, key),
    named:
      versionId === undefined || versionId === nullVersionId
        ? undefined
        : historyKey(bucket, key, sequenceOf(versionId)),
  }
}

/** Copies the key: the engine can reuse the entry's bytes after the call. */
function placedVersion({ key, value, version }: Entry): PlacedVersion {
  return { key: Buffer.from(key), version, record: versionCodec.decode(key, value) }
}

function nullSequenceOf({ nullPointer }: ReadKey): number | undefined {
  return nullPointer && nullVersionCodec.decode(nullPointer.key, nullPointer.value).sequence
}

/** The null versions that are not among the newest of their keys. Costs one more round trip if there are any. */
async function olderNullVersions(
  kv: Backend['kv'],
  bucket: string,
  read: readonly ReadKey[],
): Promise<ReadonlyMap<ReadKey, { key: Key; entry: Entry | undefined }>> {
  const older = read.flatMap((one) => {
    const sequence = nullSequenceOf(one)
    if (sequence === undefined || one.newest.some(({ record }) => record.sequence === sequence)) return []
    return [{ one, key: historyKey(bucket, one.keys.key, sequence) }]
  })
  const entries = older.length === 0 ? [] : await kv.get(older.map(({ key }) => key))
  return new Map(older.map(({ one, key }, i) => [one, { key, entry: entries[i] }]))
}

const noVersions: readonly VersionRecord[] = []

const nothingPlaced: readonly PlacedVersion[] = []

function withoutHistory(
  bucket: FoundBucket,
  bucketCheck: Check,
  { key, currentKey }: CurrentKey,
  entry: Entry | undefined,
): KeyHistory {
  const current = entry && objectCodec.decode(entry.key, entry.value)
  return {
    key,
    currentKey,
    bucket,
    versions: { current, newest: noVersions, nullVersion: undefined },
    named: undefined,
    placed: nothingPlaced,
    checks: [bucketCheck, unchanged(currentKey, entry)],
  }
}

function withHistory(
  bucket: FoundBucket,
  bucketCheck: Check,
  read: ReadKey,
  older: ReadonlyMap<ReadKey, { key: Key; entry: Entry | undefined }>,
): KeyHistory {
  const { keys, newest, named, current, nullPointer } = read
  const sequence = nullSequenceOf(read)
  const behind = older.get(read)
  const olderNull = behind?.entry && placedVersion(behind.entry)
  const placed = [newest, olderNull ?? [], named ?? []].flat()
  const nullVersion = placed.find(({ record }) => record.sequence === sequence)?.record
  const checks = [bucketCheck, ...guardChecks(keys, current, newest)]
  // The null version moved between the two reads.
  if (sequence !== undefined && nullVersion === undefined) checks.push(unchanged(keys.nullPointer, nullPointer))
  return {
    key: keys.key,
    currentKey: keys.currentKey,
    bucket,
    versions: {
      current: current && objectCodec.decode(current.key, current.value),
      newest: newest.map(({ record }) => record),
      nullVersion,
    },
    named: named?.record,
    placed,
    checks,
  }
}

/**
 * The newest version guards all versions of its key: a change that replaces it writes its record, and every change checks that record. So no change checks
 * the absence of a key that it does not write. A key without versions has no guard, so its change checks that the key is still empty.
 */
function guardChecks(
  { currentKey, history }: HistoryKeys,
  current: Entry | undefined,
  newest: readonly PlacedVersion[],
): Check[] {
  if (current !== undefined) return [{ key: currentKey, version: current.version }]
  const [newestMarker] = newest
  if (newestMarker !== undefined) return [{ key: newestMarker.key, version: newestMarker.version }]
  return [
    { key: currentKey, absent: true },
    { emptyFrom: history.start, emptyTo: history.end },
  ]
}

function unchanged(key: Buffer, entry: Entry | undefined): Check {
  return entry === undefined ? { key, absent: true } : { key, version: entry.version }
}

/** The id of a new version with this sequence. */
export function newVersionId({ bucket }: KeyHistory, sequence: number, random: Buffer): string {
  return namesVersions(bucket.record.versioning) ? versionIdOf(sequence, random) : nullVersionId
}

/** The version with the id that the request named when the history was read. */
export function versionNamed({ bucket, versions, named }: KeyHistory, versionId: string): VersionRecord | undefined {
  const candidates = [versions.current, ...versions.newest, versions.nullVersion]
  if (bucket.record.versioning !== 'unversioned') candidates.push(named)
  return candidates.find((candidate) => candidate?.versionId === versionId)
}
