/** Creates, finds, lists, changes and removes buckets. */

import { randomId } from '../clock.ts'
import type { Backend } from '../commits/backend.ts'
import { commitDecision, garbagePut } from '../commits/commit.ts'
import { admitted, type BucketScope, serverScope } from '../commits/scope.ts'
import { requireWholeMetadata } from '../commits/whole-metadata.ts'
import { S3Error } from '../errors.ts'
import type { Key, Put } from '../kv/kv.ts'
import { type KeyRange, keyAfter } from '../kv/ordered-key.ts'
import { limits } from '../limits.ts'
import { type BucketRecord, bucketCodec, type ObjectLock, unsetBucket } from '../records/bucket-record.ts'
import {
  bucketKey,
  contentsOfBucket,
  noValue,
  openUploads,
  ownedBucketKey,
  ownedBucketName,
  ownedBuckets,
  usageKey,
} from '../records/keyspace.ts'
import type { Tag } from '../records/object-attributes.ts'

export interface NewBucket {
  name: string
  owner: string
  /** As the client gave it. */
  locationConstraint: string | undefined
  /** The location that the constraint stands for. */
  location: string
  tags?: readonly Tag[]
  /** Object Lock turns versioning on. */
  objectLock: ObjectLock | undefined
  ownership?: BucketRecord['ownership']
  grants?: BucketRecord['grants']
}

/** A bucket's record is the last of its records to be deleted. If others exist without it, it was lost. */
function bucketHidden(name: string): S3Error {
  return new S3Error('ServiceUnavailable', {
    message: 'The metadata is damaged: it holds what belongs to this bucket, but not the bucket. Run holdfast scrub.',
    details: { BucketName: name },
  })
}

/**
 * Throws BucketAlreadyOwnedByYou, BucketAlreadyExists; ServiceUnavailable when the metadata is damaged. With `repeatable`, a request that the bucket's
 * owner repeats succeeds, and returns the bucket as it is, unless it asked for a location constraint.
 */
export async function createBucket(
  backend: Backend,
  bucket: NewBucket,
  { repeatable = false }: { repeatable?: boolean } = {},
): Promise<BucketRecord> {
  const key = bucketKey(bucket.name)
  const ownedKey = ownedBucketKey(bucket.owner, bucket.name)
  return commitDecision(backend, async () => {
    const [entry, owned] = await backend.kv.get([key, ownedKey])
    if (entry !== undefined) {
      const existing = bucketCodec.decode(key, entry.value)
      const isOwn = existing.owner === bucket.owner
      const isRepeated =
        isOwn && repeatable && existing.locationConstraint === undefined && matchesRequest(existing, bucket)
      if (isRepeated) return { result: existing, commit: {} }
      throw new S3Error(isOwn ? 'BucketAlreadyOwnedByYou' : 'BucketAlreadyExists', {
        details: { BucketName: bucket.name },
      })
    }
    if (owned !== undefined) throw bucketHidden(bucket.name)
    if (await holdAny(backend, contentsOfBucket(bucket.name))) throw bucketHidden(bucket.name)
    const record: BucketRecord = {
      ...unsetBucket,
      ...bucket,
      id: randomId(backend.clock),
      createdMs: backend.clock.now(),
      versioning: bucket.objectLock === undefined ? unsetBucket.versioning : 'enabled',
    }
    return {
      result: record,
      commit: {
        grows: true,
        checks: [{ key, absent: true }],
        puts: [
          { key, value: bucketCodec.encode(key, record) },
          { key: ownedKey, value: noValue },
        ],
      },
    }
  })
}

/**
 * Whether a bucket is what a request for a new one asks for. Later configuration does not matter, but Object Lock must agree both ways: a client that asks
 * for a bucket without it must not get one whose objects it may be unable to delete.
 */
export function matchesRequest(existing: BucketRecord, requested: NewBucket): boolean {
  return (
    (existing.locationConstraint ?? '') === (requested.locationConstraint ?? '') &&
    (existing.objectLock === undefined) === (requested.objectLock === undefined) &&
    (requested.ownership === undefined || existing.ownership === requested.ownership) &&
    (requested.grants === undefined || JSON.stringify(existing.grants) === JSON.stringify(requested.grants)) &&
    (requested.tags === undefined || requested.tags.length === 0 || sameTags(existing.tags, requested.tags))
  )
}

function sameTags(some: readonly Tag[], others: readonly Tag[]): boolean {
  const values = new Map(others.map(({ key, value }) => [key, value]))
  return some.length === others.length && some.every(({ key, value }) => values.get(key) === value)
}

/** Throws NoSuchBucket, or what the scope throws. */
export async function findBucket(backend: Pick<Backend, 'kv'>, scope: BucketScope): Promise<BucketRecord> {
  const [entry] = await backend.kv.get([bucketKey(scope.name)])
  return admitted(scope, entry).record
}

/** `undefined`: there is none, or none can have that name. Throws what the scope throws. */
export async function findBucketIfAny(
  backend: Pick<Backend, 'kv'>,
  scope: BucketScope,
): Promise<BucketRecord | undefined> {
  if (scope.name === '' || scope.name.length > limits.bucketNameCharsMax) return undefined
  try {
    return await findBucket(backend, scope)
  } catch (error) {
    if (error instanceof S3Error && error.code === 'NoSuchBucket') return undefined
    throw error
  }
}

/**
 * Replaces a bucket's record with what `change` returns for it. The same commit makes the puts that `putsFor` returns for the record before. Throws NoSuchBucket, or
 * what the scope throws.
 */
export async function changeBucket(
  backend: Pick<Backend, 'kv' | 'clock'>,
  scope: BucketScope,
  change: (bucket: BucketRecord) => BucketRecord,
  putsFor: (before: BucketRecord) => readonly Put[] = () => [],
): Promise<void> {
  const key = bucketKey(scope.name)
  await commitDecision(backend, async () => {
    const [entry] = await backend.kv.get([key])
    const { record, version } = admitted(scope, entry)
    const value = bucketCodec.encode(key, change(record))
    const more = putsFor(record)
    const puts = [{ key, value }, ...more]
    return { result: undefined, commit: { grows: more.length > 0, checks: [{ key, version }], puts } }
  })
}

/** From now on, new blobs go to `location`, and the bucket is `moving` until `endMove`. Resolves with the changed record. */
export async function beginMove(backend: Backend, name: string, location: string): Promise<BucketRecord> {
  await changeBucket(backend, serverScope(name), (bucket) => {
    const constraint = bucket.location === location ? bucket.locationConstraint : location
    return { ...bucket, location, locationConstraint: constraint, moving: true }
  })
  return findBucket(backend, serverScope(name))
}

/** Ends the move that `beginMove` began, unless the bucket has been replaced or is being moved elsewhere. Throws NoSuchBucket. */
export async function endMove(backend: Backend, { name, id, location }: BucketRecord): Promise<void> {
  await changeBucket(backend, serverScope(name), (bucket) =>
    bucket.id === id && bucket.location === location ? { ...bucket, moving: undefined } : bucket,
  )
}

/** Records an operator's word that what guards the bucket is complete again. Resolves with the record as it was before. Throws NoSuchBucket. */
export async function confirmGuards(backend: Pick<Backend, 'kv' | 'clock'>, name: string): Promise<BucketRecord> {
  const before = await findBucket(backend, serverScope(name))
  if (before.unconfirmed === true)
    await changeBucket(backend, serverScope(name), (bucket) => ({ ...bucket, unconfirmed: undefined }))
  return before
}

/**
 * Removes a bucket that holds no object, no version and no delete marker; the commit itself checks that. Open uploads end with the bucket: to complete one
 * would need the bucket, so their parts are reclaimed. Throws BucketNotEmpty.
 */
export async function deleteBucket(backend: Backend, scope: BucketScope): Promise<void> {
  const key = bucketKey(scope.name)
  const contents = contentsOfBucket(scope.name)
  let wasChecked = false
  await commitDecision(backend, async () => {
    const [entry] = await backend.kv.get([key])
    const { record, version } = admitted(scope, entry)
    if (await holdAny(backend, contents)) throw new S3Error('BucketNotEmpty', { details: { BucketName: scope.name } })
    // Damage can hide locked versions, so a bucket that looks empty may not be.
    if (record.objectLock !== undefined && !wasChecked) {
      await requireWholeMetadata(backend)
      wasChecked = true
    }
    const open = openUploads(record.id)
    const [anyUpload] = await backend.kv.range({ ...open, limit: 1 })
    return {
      result: undefined,
      commit: {
        checks: [
          { key, version },
          ...contents.map(({ start, end }) => ({ emptyFrom: start, emptyTo: end })),
          // An upload that begins before the commit would escape the garbage record.
          ...(anyUpload === undefined ? [{ emptyFrom: open.start, emptyTo: open.end }] : []),
        ],
        deletes: [key, ownedBucketKey(record.owner, record.name), ...totalOf(record)],
        puts: anyUpload === undefined ? [] : [garbagePut(backend, { kind: 'bucket', bucketId: record.id })],
      },
    }
  })
}

/** The total of a bucket's usage goes with it. Changes that are not in it yet are removed in the background. */
const totalOf = ({ id, quota }: BucketRecord): Key[] => (quota === undefined ? [] : [usageKey(id)])

/** Looks from both ends of each range: damage that hides entries from one end may not hide them from the other. */
async function holdAny({ kv }: Backend, ranges: readonly KeyRange[]): Promise<boolean> {
  const ends = ranges.flatMap((range) => [false, true].map((reverse) => ({ ...range, reverse, limit: 1 })))
  const { found } = await kv.view([], ends, () => true)
  return found.some((entries) => entries.length > 0)
}

export interface BucketPage {
  buckets: BucketRecord[]
  /** Name of this page's last bucket; `undefined` on the last page. */
  next: string | undefined
}

/** An account's buckets in order of name. */
export async function listBuckets(
  backend: Backend,
  query: { owner: string; prefix: string; afterName: string | undefined; max: number },
): Promise<BucketPage> {
  const all = ownedBuckets(query.owner, query.prefix)
  const start = query.afterName === undefined ? all.start : keyAfter(ownedBucketKey(query.owner, query.afterName))
  const index = await backend.kv.range({
    start: Buffer.compare(start, all.start) > 0 ? start : all.start,
    end: all.end,
    limit: query.max + 1,
  })
  const names = index.slice(0, query.max).map((entry) => ownedBucketName(entry.key))
  const entries = await backend.kv.get(names.map(bucketKey))
  return {
    // A bucket that was deleted between the two reads is left out.
    buckets: entries.flatMap((entry) => (entry === undefined ? [] : [bucketCodec.decode(entry.key, entry.value)])),
    next: index.length > query.max ? names.at(-1) : undefined,
  }
}
