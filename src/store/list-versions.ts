/** Lists all versions of a bucket's keys: merges the index of current objects with that of the history, key by key, the newest version first. */
import type { Entry, Key } from '../kv/kv.ts'
import { endOfPrefix, type KeyRange, keyAfter } from '../kv/ordered-key.ts'
import { limits } from '../limits.ts'
import {
  historyKey,
  historyKeyOf,
  historyOf,
  historyStartingWith,
  nullVersionKey,
  ObjectKeys,
  objectKey,
} from './keyspace.ts'
import { groupOf, ListingPage, ReadAhead } from './listing.ts'
import { nullVersionCodec, objectCodec, versionCodec } from './record-codecs.ts'
import type { BucketRecord, DeleteMarker, ListedObject } from './records.ts'
import { admittedToList, type BucketScope } from './scope.ts'
import type { Store } from './store.ts'
import { nullVersionId, sequenceOf } from './version-id.ts'

export interface ListedVersion {
  key: string
  latest: boolean
  version: ListedObject | DeleteMarker
}

export interface VersionQuery {
  prefix: string
  delimiter: string
  max: number
  /** Versions of keys behind this one; with `versionIdMarker` also those of this key that are older. */
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
  store: Store,
  scope: BucketScope,
  query: VersionQuery,
): Promise<{ bucket: BucketRecord; page: VersionPage }> {
  const bucket = (await admittedToList(store, scope)).record
  if (query.max === 0) return { bucket, page: { entries: [], groups: [], next: undefined } }
  return { bucket, page: await gatherPage(store, scope.name, query) }
}

async function gatherPage(store: Store, bucket: string, query: VersionQuery): Promise<VersionPage> {
  const page = new ListingPage({ ...query, shownGroup: query.keyMarker })
  const merged = new MergedVersions(store, bucket, query, await startOf(store, bucket, query))
  const entries: ListedVersion[] = []
  const groups: string[] = []
  let next: VersionPage['next']

  for (let found = await merged.next(page.room); found !== undefined; found = await merged.next(page.room)) {
    const verdict = page.judge(found.key)
    if (verdict.kind === 'full') return { entries, groups, next }
    if (verdict.kind === 'group') {
      if (verdict.fresh) groups.push(verdict.group)
      next = { keyMarker: verdict.group, versionIdMarker: undefined }
      merged.skip(verdict.group)
    } else {
      entries.push(found)
      next = { keyMarker: found.key, versionIdMarker: found.version.versionId }
    }
  }
  return { entries, groups, next: undefined }
}

interface Start {
  /** Behind which object, and which place of the history, the page begins. */
  objects: Key
  history: Key
  /** A key whose newest version an earlier page showed. */
  begunKey: string | undefined
}

async function startOf(store: Store, bucket: string, query: VersionQuery): Promise<Start | undefined> {
  const { keyMarker, versionIdMarker, delimiter } = query
  if (keyMarker === undefined) return undefined
  const keys = new ObjectKeys(bucket)
  if (versionIdMarker !== undefined && Buffer.byteLength(keyMarker) <= limits.keyBytesMax) {
    return behindVersion(store, bucket, keyMarker, versionIdMarker)
  }
  if (keyMarker.startsWith(query.prefix) && groupOf(keyMarker, query.prefix, delimiter) === keyMarker) {
    // A common prefix, which the page before ended with: all keys under it have been shown.
    return { ...behindGroup(keys, bucket, keyMarker), begunKey: undefined }
  }
  return {
    objects: keyAfter(keys.pack(keyMarker)),
    history: historyOf(bucket, keyMarker).end,
    begunKey: undefined,
  }
}

/** Behind one version of a key. If it was the newest and has gone since, the one below has become current, and has yet to be shown. */
async function behindVersion(store: Store, bucket: string, key: string, versionId: string): Promise<Start> {
  const objects = objectKey(bucket, key)
  const [object, pointer] = await store.kv.get([objects, nullVersionKey(bucket, key)])
  const current = object && objectCodec.decodeListed(object.key, object.value)
  const sequence = versionId === nullVersionId ? nullSequence(current, pointer) : sequenceOf(versionId)
  // A null version that has gone: nothing says what lay behind it, so the key is shown again rather than missed.
  if (sequence === undefined) return { objects, history: historyOf(bucket, key).start, begunKey: undefined }
  const history = keyAfter(historyKey(bucket, key, sequence))
  if (current !== undefined && current.sequence < sequence) return { objects, history, begunKey: undefined }
  return { objects: keyAfter(objects), history, begunKey: key }
}

function nullSequence(current: ListedObject | undefined, pointer: Entry | undefined): number | undefined {
  if (current?.versionId === nullVersionId) return current.sequence
  return pointer && nullVersionCodec.decode(pointer.key, pointer.value).sequence
}

function behindGroup(keys: ObjectKeys, bucket: string, group: string): { objects: Key; history: Key } {
  return { objects: endOfPrefix(keys.pack(group)), history: historyStartingWith(bucket, group).end }
}

/** The versions in their order, read from both indexes a little ahead. */
class MergedVersions {
  readonly #keys: ObjectKeys
  readonly #bucket: string
  readonly #objects: IndexCursor
  readonly #history: IndexCursor
  #lastKey: string | undefined
  #lastSequence = Infinity

  constructor(store: Store, bucket: string, { prefix, delimiter }: VersionQuery, start: Start | undefined) {
    const keys = new ObjectKeys(bucket)
    this.#keys = keys
    this.#bucket = bucket
    const grouping = delimiter !== ''
    this.#objects = new IndexCursor(store, keys.startingWith(prefix), (key) => keys.unpack(key), grouping)
    this.#history = new IndexCursor(store, historyStartingWith(bucket, prefix), historyKeyOf, grouping)
    if (start === undefined) return
    this.#objects.seek(start.objects)
    this.#history.seek(start.history)
    this.#lastKey = start.begunKey
  }

  async next(room: number): Promise<ListedVersion | undefined> {
    while (true) {
      const object = await this.#objects.peek(room)
      const older = await this.#history.peek(room)
      const cursor =
        object === undefined || (older !== undefined && isBefore(older.key, object.key)) ? this.#history : this.#objects
      const taken = cursor.take()
      if (taken === undefined) return undefined
      const { entry, key } = taken
      const version = versionCodec.decodeListed(entry.key, entry.value)
      const latest = key !== this.#lastKey
      // Written over between the reads of the two indexes: it was shown as the current one.
      if (!latest && version.sequence >= this.#lastSequence) continue
      this.#lastKey = key
      this.#lastSequence = version.sequence
      return { key, latest, version }
    }
  }

  /** Goes on behind all keys of a group. */
  skip(group: string): void {
    const behind = behindGroup(this.#keys, this.#bucket, group)
    this.#objects.seek(behind.objects)
    this.#history.seek(behind.history)
  }
}

/** In UTF-8 order, which is not the order of JavaScript's strings. Of one key, the current object comes before its history. */
function isBefore(a: string, b: string): boolean {
  return a !== b && Buffer.compare(Buffer.from(a), Buffer.from(b)) < 0
}

class IndexCursor {
  readonly #store: Store
  readonly #range: KeyRange
  readonly #keyOf: (packed: Key) => string
  readonly #grouping: boolean
  #readAhead: ReadAhead
  #start: Key
  #batch: Entry[] = []
  #taken = 0
  #exhausted = false

  constructor(store: Store, range: KeyRange, keyOf: (packed: Key) => string, grouping: boolean) {
    this.#store = store
    this.#range = range
    this.#keyOf = keyOf
    this.#grouping = grouping
    this.#readAhead = new ReadAhead(grouping)
    this.#start = range.start
  }

  /** Never goes back. What was read ahead and lies before is dropped. */
  seek(start: Key): void {
    if (Buffer.compare(start, this.#start) > 0) this.#start = start
    const ahead = this.#batch.slice(this.#taken).findIndex((entry) => Buffer.compare(entry.key, start) >= 0)
    if (ahead >= 0) {
      this.#taken += ahead
      return
    }
    this.#batch = []
    this.#taken = 0
    this.#readAhead = new ReadAhead(this.#grouping)
  }

  async peek(room: number): Promise<{ key: string; entry: Entry } | undefined> {
    if (this.#taken === this.#batch.length && !this.#exhausted) await this.#fill(room)
    return this.#next()
  }

  take(): { key: string; entry: Entry } | undefined {
    const next = this.#next()
    if (next !== undefined) this.#taken += 1
    return next
  }

  #next(): { key: string; entry: Entry } | undefined {
    const entry = this.#batch[this.#taken]
    return entry && { key: this.#keyOf(entry.key), entry }
  }

  async #fill(room: number): Promise<void> {
    const limit = this.#readAhead.take(room)
    this.#batch = await this.#store.kv.range({ start: this.#start, end: this.#range.end, limit })
    this.#taken = 0
    this.#exhausted = this.#batch.length < limit
    const last = this.#batch.at(-1)
    if (last !== undefined) this.#start = keyAfter(last.key)
  }
}
