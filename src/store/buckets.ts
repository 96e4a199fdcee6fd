/** Buckets: making, finding, listing, changing and removing their records. */
import { randomId } from '../clock.ts'
import { S3Error } from '../errors.ts'
import { keyAfter } from '../kv/ordered-key.ts'
import { commitDecision, garbagePut } from './commit.ts'
import {
  bucketKey,
  historyOfBucket,
  noValue,
  ObjectKeys,
  openUploads,
  ownedBucketKey,
  ownedBucketName,
  ownedBuckets,
} from './keyspace.ts'
import { bucketCodec } from './record-codecs.ts'
import type { BucketRecord, ObjectLock, Tag } from './records.ts'
import { admitted, type BucketScope } from './scope.ts'
import type { Store } from './store.ts'

export interface NewBucket {
  name: string
  owner: string
  /** As the client gave it. */
  locationConstraint: string | undefined
  /** The location that it means. */
  location: string
  tags?: readonly Tag[]
  /** Object Lock turns versioning on. */
  objectLock: ObjectLock | undefined
}

/** Throws BucketAlreadyOwnedByYou or BucketAlreadyExists. */
export async function createBucket(store: Store, bucket: NewBucket): Promise<BucketRecord> {
  const key = bucketKey(bucket.name)
  return commitDecision(store, async () => {
    const [existing] = await store.kv.get([key])
    if (existing !== undefined) {
      const { owner } = bucketCodec.decode(key, existing.value)
      throw new S3Error(owner === bucket.owner ? 'BucketAlreadyOwnedByYou' : 'BucketAlreadyExists', {
        details: { BucketName: bucket.name },
      })
    }
    const record: BucketRecord = {
      tags: [],
      ...bucket,
      id: randomId(store.clock),
      createdMs: store.clock.now(),
      versioning: bucket.objectLock === undefined ? 'unversioned' : 'enabled',
    }
    return {
      result: record,
      commit: {
        checks: [{ key, absent: true }],
        puts: [
          { key, value: bucketCodec.encode(key, record) },
          { key: ownedBucketKey(bucket.owner, bucket.name), value: noValue },
        ],
      },
    }
  })
}

/** Throws NoSuchBucket, or what the scope throws. */
export async function findBucket(store: Store, scope: BucketScope): Promise<BucketRecord> {
  const [entry] = await store.kv.get([bucketKey(scope.name)])
  return admitted(scope, entry).record
}

/** Replaces a bucket's record by what `change` makes of it. */
export async function changeBucket(
  store: Store,
  scope: BucketScope,
  change: (bucket: BucketRecord) => BucketRecord,
): Promise<void> {
  const key = bucketKey(scope.name)
  await commitDecision(store, async () => {
    const [entry] = await store.kv.get([key])
    const { record, version } = admitted(scope, entry)
    const value = bucketCodec.encode(key, change(record))
    return { result: undefined, commit: { checks: [{ key, version }], puts: [{ key, value }] } }
  })
}

/** From now on new blobs go to `location`; those that are there are `moving` until `endMove`. Resolves with the record as it is then. */
export async function beginMove(store: Store, name: string, location: string): Promise<BucketRecord> {
  await changeBucket(store, ofOperator(name), (bucket) => {
    const constraint = bucket.location === location ? bucket.locationConstraint : location
    return { ...bucket, location, locationConstraint: constraint, moving: true }
  })
  return findBucket(store, ofOperator(name))
}

/** Nothing more is to be moved. Throws NoSuchBucket. */
export async function endMove(store: Store, { name, id, location }: BucketRecord): Promise<void> {
  await changeBucket(store, ofOperator(name), (bucket) =>
    bucket.id === id && bucket.location === location ? { ...bucket, moving: undefined } : bucket,
  )
}

const ofOperator = (name: string): BucketScope => ({ name, admit: () => {} })

/**
 * Removes a bucket that holds nothing: no object, no version, no delete marker. Emptiness is checked by the commit itself. Uploads still open end with the bucket: nobody can complete them,
 * as that would need the bucket, and their parts are reclaimed. Throws BucketNotEmpty.
 */
export async function deleteBucket(store: Store, scope: BucketScope): Promise<void> {
  const key = bucketKey(scope.name)
  const contents = [new ObjectKeys(scope.name).startingWith(''), historyOfBucket(scope.name)]
  await commitDecision(store, async () => {
    const [entry] = await store.kv.get([key])
    const { record, version } = admitted(scope, entry)
    for (const range of contents) {
      const [any] = await store.kv.range({ ...range, limit: 1 })
      if (any !== undefined) throw new S3Error('BucketNotEmpty', { details: { BucketName: scope.name } })
    }
    const open = openUploads(record.id)
    const [anyUpload] = await store.kv.range({ ...open, limit: 1 })
    return {
      result: undefined,
      commit: {
        checks: [
          { key, version },
          ...contents.map(({ start, end }) => ({ emptyFrom: start, emptyTo: end })),
          // An upload that begins meanwhile must not escape the garbage record.
          ...(anyUpload === undefined ? [{ emptyFrom: open.start, emptyTo: open.end }] : []),
        ],
        deletes: [key, ownedBucketKey(record.owner, record.name)],
        puts: anyUpload === undefined ? [] : [garbagePut(store, { kind: 'bucket', bucketId: record.id })],
      },
    }
  })
}

export interface BucketPage {
  buckets: BucketRecord[]
  /** Name of the last bucket of a page that is not the last one. */
  next: string | undefined
}

/** An account's buckets in order of name. */
export async function listBuckets(
  store: Store,
  query: { owner: string; prefix: string; afterName: string | undefined; max: number },
): Promise<BucketPage> {
  const all = ownedBuckets(query.owner, query.prefix)
  const start = query.afterName === undefined ? all.start : keyAfter(ownedBucketKey(query.owner, query.afterName))
  const index = await store.kv.range({
    start: Buffer.compare(start, all.start) > 0 ? start : all.start,
    end: all.end,
    limit: query.max + 1,
  })
  const names = index.slice(0, query.max).map((entry) => ownedBucketName(entry.key))
  const entries = await store.kv.get(names.map(bucketKey))
  return {
    // A bucket that went between the two reads is left out.
    buckets: entries.flatMap((entry) => (entry === undefined ? [] : [bucketCodec.decode(entry.key, entry.value)])),
    next: index.length > query.max ? names.at(-1) : undefined,
  }
}
