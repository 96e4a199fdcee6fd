/** Reads one page of a bucket's keys from the index, and no more entries than the page needs. */

import type { Backend } from '../commits/backend.ts'
import { type BucketScope, listedWithOwners, viewInBucket } from '../commits/scope.ts'
import type { Key, RangeQuery } from '../kv/kv.ts'
import { endOfPrefix, keyAfter, later } from '../kv/ordered-key.ts'
import type { BucketRecord } from '../records/bucket-record.ts'
import { ObjectKeys } from '../records/keyspace.ts'
import { objectCodec } from '../records/record-codecs.ts'
import type { ListedObject } from '../records/records.ts'
import { findsMax, groupOf, type Line, type ListingQuery, type Page, type PageStart, pageOf } from '../rules/listing.ts'

export interface ObjectQuery extends ListingQuery {
  start: PageStart | undefined
  /** Also return the owner of each object. */
  owners?: boolean
}

export interface ListedKey {
  key: string
  object: ListedObject
}

/** One page of a bucket's current objects. Throws NoSuchBucket, or what the scope throws. */
export async function listObjects(
  backend: Backend,
  scope: BucketScope,
  query: ObjectQuery,
): Promise<{ bucket: BucketRecord; page: Page<ListedKey> }> {
  if (query.owners !== true) return readPage(backend, scope, query, objectCodec.decodeListed)
  return listedWithOwners(scope.name, (owners) =>
    readPage(backend, scope, query, owners ? objectCodec.decodeOwned : objectCodec.decodeListed),
  )
}

async function readPage(
  backend: Backend,
  scope: BucketScope,
  query: ObjectQuery,
  decode: (key: Key, value: Buffer) => ListedObject,
): Promise<{ bucket: BucketRecord; page: Page<ListedKey> }> {
  const keys = new ObjectKeys(scope.name)
  const range = keys.startingWith(query.prefix)
  const index: RangeQuery = {
    start: later(range.start, startOf(keys, query.start)),
    end: range.end,
    limit: findsMax(query),
    fold: keys.fold(query),
  }
  const { prefix, delimiter } = query
  const queries = query.max === 0 ? [] : [index]
  const {
    bucket,
    found: [found = []],
  } = await viewInBucket(backend, scope, queries, ({ key, value }): Line<ListedKey> => {
    const text = keys.unpack(key)
    return groupOf(text, prefix, delimiter) ?? { key: text, object: decode(key, value) }
  })
  return { bucket, page: pageOf(query, found) }
}

function startOf(keys: ObjectKeys, start: PageStart | undefined): Key | undefined {
  if (start === undefined) return undefined
  return 'afterKey' in start ? keyAfter(keys.pack(start.afterKey)) : endOfPrefix(keys.pack(start.afterGroup))
}
