/** Lists all versions of a bucket's keys: merges the index of current objects with the index of the history, key by key, newest version first. */

import type { Backend } from '../commits/backend.ts'
import { type BucketScope, listedWithOwners, viewInBucket } from '../commits/scope.ts'
import type { Key, RangeQuery } from '../kv/kv.ts'
import { endOfPrefix, keyAfter, later } from '../kv/ordered-key.ts'
import { limits } from '../limits.ts'
import type { BucketRecord } from '../records/bucket-record.ts'
import { HistoryKeys, historyKey, historyOf, nullVersionKey, ObjectKeys, objectKey } from '../records/keyspace.ts'
import { nullVersionCodec, objectCodec, versionCodec } from '../records/record-codecs.ts'
import type { DeleteMarker, ListedObject } from '../records/records.ts'
import { nullVersionId, sequenceOf } from '../records/version-id.ts'
import { findsMax, groupOf, type Line, type ListingQuery, pageOf, startBehindGroup } from '../rules/listing.ts'
import { compareUtf8 } from '../rules/utf8-order.ts'

export interface ListedVersion {
  key: string
  latest: boolean
  version: ListedObject | DeleteMarker
}

export interface VersionQuery extends ListingQuery {
  /** Lists versions of keys after this one; with `versionIdMarker`, also the versions of this key that are older than that one. */
  keyMarker: string | undefined
  versionIdMarker: string | undefined
}

export interface VersionPage {
  entries: ListedVersion[]
  groups: string[]
  /** Markers of the next page; `undefined` when this is the last. */
  next: { keyMarker: string; versionIdMarker: string | undefined } | undefined
}

/** Throws NoSuchBucket, or what the scope throws. */
export async function listVersions(
  backend: Backend,
  scope: BucketScope,
  query: VersionQuery,
): Promise<{ bucket: BucketRecord; page: VersionPage }> {
  const indexes = { objects: new ObjectKeys(scope.name), history: new HistoryKeys(scope.name) }
  const start = await startOf(backend, scope.name, indexes, query)
  const { bucket, found } = await listedWithOwners(scope.name, (owners) =>
    read(backend, scope, indexes, { ...query, owners }, start),
  )
  const page = pageOf(query, merged(found))
  const { entries, groups, next } = page
  if (next === undefined || 'afterGroup' in next) {
    return {
      bucket,
      page: { entries, groups, next: next && { keyMarker: next.afterGroup, versionIdMarker: undefined } },
    }
  }
  const versionIdMarker = entries.at(-1)?.version.versionId
  return { bucket, page: { entries, groups, next: { keyMarker: next.afterKey, versionIdMarker } } }
}

interface Indexes {
  objects: ObjectKeys
  history: HistoryKeys
}

interface Start {
  objects: Key
  history: Key
  /** Set when the page starts in the middle of a key's versions: reads of that key's newest version, and the sequence that the page starts after. */
  within: { object: RangeQuery; history: RangeQuery; sequence: number } | undefined
}

async function startOf(
  backend: Backend,
  bucket: string,
  { objects, history }: Indexes,
  query: VersionQuery,
): Promise<Start | undefined> {
  const { prefix, keyMarker, versionIdMarker } = query
  if (keyMarker === undefined) return undefined
  const start = startBehindGroup(keyMarker, query)
  if ('afterGroup' in start) {
    const { afterGroup } = start
    return {
      objects: endOfPrefix(objects.pack(afterGroup)),
      history: history.startingWith(afterGroup).end,
      within: undefined,
    }
  }
  const canHoldIt = keyMarker.startsWith(prefix) && Buffer.byteLength(keyMarker) <= limits.keyBytesMax
  if (versionIdMarker === undefined || !canHoldIt) {
    return { objects: keyAfter(objects.pack(keyMarker)), history: historyOf(bucket, keyMarker).end, within: undefined }
  }
  return startWithin(backend, bucket, keyMarker, versionIdMarker)
}

async function startWithin(backend: Backend, bucket: string, key: string, versionId: string): Promise<Start> {
  const object = objectKey(bucket, key)
  const ofKey = historyOf(bucket, key)
  const sequence = versionId === nullVersionId ? await nullSequence(backend, bucket, key) : sequenceOf(versionId)
  // The marker's null version is gone, and with it its position. Showing the key again is better than skipping some of its versions.
  if (sequence === undefined) return { objects: object, history: ofKey.start, within: undefined }
  return {
    objects: keyAfter(object),
    history: keyAfter(historyKey(bucket, key, sequence)),
    within: {
      object: { start: object, end: keyAfter(object), limit: 1 },
      history: { ...ofKey, limit: 1 },
      sequence,
    },
  }
}

async function nullSequence(backend: Backend, bucket: string, key: string): Promise<number | undefined> {
  const [object, pointer] = await backend.kv.get([objectKey(bucket, key), nullVersionKey(bucket, key)])
  const current = object && objectCodec.decodeListed(object.key, object.value)
  if (current?.versionId === nullVersionId) return current.sequence
  return pointer && nullVersionCodec.decode(pointer.key, pointer.value).sequence
}

/** What one index holds for a key: a version, or the group that the key falls into. */
interface FoundVersion {
  key: string
  line: Line<ListedObject | DeleteMarker>
}

/** What a page can show from each index, in order. */
interface Found {
  objects: readonly FoundVersion[]
  history: readonly FoundVersion[]
  /** The key whose newest version an earlier page showed. */
  begunKey: string | undefined
}

/** Reads both indexes from one snapshot, because a version moves to the history when a newer one is written, and back when that one is removed. */
async function read(
  backend: Backend,
  scope: BucketScope,
  { objects, history }: Indexes,
  query: VersionQuery & { owners: boolean },
  start: Start | undefined,
): Promise<{ bucket: BucketRecord; found: Found }> {
  const { prefix, delimiter } = query
  const decode = query.owners ? versionCodec.decodeOwned : versionCodec.decodeListed
  const limit = findsMax(query)
  const objectRange = objects.startingWith(prefix)
  const historyRange = history.startingWith(prefix)
  const within = start?.within
  const {
    bucket,
    found: [foundObjects = [], foundHistory = [], ofKey = [], historyOfKey = []],
  } = await viewInBucket(
    backend,
    scope,
    [
      { ...objectRange, start: later(objectRange.start, start?.objects), limit, fold: objects.fold(query) },
      { ...historyRange, start: later(historyRange.start, start?.history), limit, fold: history.fold(query) },
      ...(within === undefined ? [] : [within.object, within.history]),
    ],
    ({ key, value }, queryIndex): FoundVersion => {
      const text = queryIndex % 2 === 0 ? objects.unpack(key) : history.unpack(key)
      // A grouped key needs no decoding: the page shows only its group.
      const group = queryIndex < 2 ? groupOf(text, prefix, delimiter) : undefined
      return { key: text, line: group ?? decode(key, value) }
    },
  )
  if (within === undefined) {
    return { bucket, found: { objects: foundObjects, history: foundHistory, begunKey: undefined } }
  }

  const [newest] = [...ofKey, ...historyOfKey]
  const isShown = newest !== undefined && typeof newest.line !== 'string' && newest.line.sequence >= within.sequence
  // If the newest version is older than the marker, newer ones were removed since the last page. It is the current one now, and no page has shown it.
  const restored = isShown ? [] : ofKey.map(({ key, line }) => ({ key, line: groupOf(key, prefix, delimiter) ?? line }))
  return {
    bucket,
    found: {
      objects: [...restored, ...foundObjects],
      history: foundHistory,
      begunKey: isShown ? newest.key : undefined,
    },
  }
}

/** The versions of both indexes in order of keys. A key's current object comes before its history. */
function* merged({ objects, history, begunKey }: Found): Generator<Line<ListedVersion>> {
  let at = 0
  let lastKey = begunKey
  for (const older of history) {
    for (let object = objects[at]; object && compareUtf8(object.key, older.key) <= 0; object = objects[++at]) {
      yield lineOf(object, true)
      lastKey = object.key
    }
    yield lineOf(older, older.key !== lastKey)
    lastKey = older.key
  }
  for (const object of objects.slice(at)) yield lineOf(object, true)
}

function lineOf({ key, line }: FoundVersion, latest: boolean): Line<ListedVersion> {
  return typeof line === 'string' ? line : { key, latest, version: line }
}
