/** Reads one page of a bucket's keys: seeks from the index straight to what the page shows, and past each group that it folds. */
import type { Entry, Key } from '../kv/kv.ts'
import { endOfPrefix, type KeyRange, keyAfter } from '../kv/ordered-key.ts'
import { ObjectKeys } from './keyspace.ts'
import { ListingPage, type ListingQuery, ReadAhead } from './listing.ts'
import { objectCodec } from './record-codecs.ts'
import type { BucketRecord, ListedObject } from './records.ts'
import { admittedToList, type BucketScope } from './scope.ts'
import type { Store } from './store.ts'

/** Where a page starts: behind a key, or behind all keys of a group that an earlier page showed. */
export type PageStart = { afterKey: string } | { afterGroup: string }

export interface Walk<T> {
  query: ListingQuery
  range: KeyRange
  /** The listed key of an entry. */
  keyOf(entry: Entry): string
  /** The first position behind all keys that start with `group`. */
  behindGroup(group: string): Key
  /** What the page keeps of an entry. */
  read(key: string, entry: Entry): T
}

export interface Page<T> {
  entries: T[]
  groups: string[]
  /** Where the next page starts; `undefined` when this is the last. */
  next: PageStart | undefined
}

/** Walks an index in order, and gathers one page. Reads at most about twice the entries and groups that it returns. */
export async function walkPage<T>(store: Store, walk: Walk<T>): Promise<Page<T>> {
  const page = new ListingPage(walk.query)
  const readAhead = new ReadAhead(walk.query.delimiter !== '')
  const entries: T[] = []
  const groups: string[] = []
  let last: PageStart | undefined
  let start = walk.range.start

  while (true) {
    const limit = readAhead.take(page.room)
    const batch = await store.kv.range({ start, end: walk.range.end, limit })
    let seek: Key | undefined
    for (const entry of batch) {
      const key = walk.keyOf(entry)
      const verdict = page.judge(key)
      if (verdict.kind === 'full') return { entries, groups, next: last }
      if (verdict.kind === 'group') {
        if (verdict.fresh) groups.push(verdict.group)
        last = { afterGroup: verdict.group }
        seek = walk.behindGroup(verdict.group)
        readAhead.reset()
        break
      }
      entries.push(walk.read(key, entry))
      last = { afterKey: key }
    }
    if (seek === undefined && batch.length < limit) return { entries, groups, next: undefined }
    const lastRead = batch.at(-1)
    start = seek ?? (lastRead === undefined ? start : keyAfter(lastRead.key))
  }
}

export interface ObjectQuery {
  prefix: string
  delimiter: string
  max: number
  start: PageStart | undefined
}

export interface ListedKey {
  key: string
  object: ListedObject
}

/** One page of a bucket's current objects. Throws NoSuchBucket, or what the scope throws. */
export async function listObjects(
  store: Store,
  scope: BucketScope,
  query: ObjectQuery,
): Promise<{ bucket: BucketRecord; page: Page<ListedKey> }> {
  const bucket = (await admittedToList(store, scope)).record
  if (query.max === 0) return { bucket, page: { entries: [], groups: [], next: undefined } }

  const keys = new ObjectKeys(scope.name)
  const all = keys.startingWith(query.prefix)
  const behindGroup = (group: string): Key => endOfPrefix(keys.pack(group))
  const page = await walkPage<ListedKey>(store, {
    query: { ...query, shownGroup: shownGroup(query.start) },
    range: { start: pageStart(query.start, all.start, (key) => keyAfter(keys.pack(key)), behindGroup), end: all.end },
    keyOf: (found) => keys.unpack(found.key),
    behindGroup,
    read: (key, found) => ({ key, object: objectCodec.decodeListed(found.key, found.value) }),
  })
  return { bucket, page }
}

function shownGroup(start: PageStart | undefined): string | undefined {
  return start !== undefined && 'afterGroup' in start ? start.afterGroup : undefined
}

/** The later of the range's start and the page's start. */
function pageStart(
  start: PageStart | undefined,
  rangeStart: Key,
  behindKey: (key: string) => Key,
  behindGroup: (group: string) => Key,
): Key {
  if (start === undefined) return rangeStart
  const wanted = 'afterKey' in start ? behindKey(start.afterKey) : behindGroup(start.afterGroup)
  return Buffer.compare(wanted, rangeStart) > 0 ? wanted : rangeStart
}
