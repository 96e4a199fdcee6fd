/** A bucket as one request may use it. Every path to a bucket's record leads through `admit`, so that none forgets to check the permission. */
import { S3Error } from '../errors.ts'
import type { Entry, RangeQuery, Version } from '../kv/kv.ts'
import { limits } from '../limits.ts'
import type { BucketRecord } from '../records/bucket-record.ts'
import { bucketCodec } from '../records/bucket-record.ts'
import { bucketKey } from '../records/keyspace.ts'
import type { EventSender } from '../records/notifications.ts'
import type { ObjectAttributes } from '../records/object-attributes.ts'
import type { Encryption, OpenUpload } from '../records/records.ts'
import type { Backend } from './backend.ts'

export interface BucketScope {
  name: string
  /**
   * Throws AccessDenied unless the request may do what it asks in this bucket. `existing`: the object that it concerns, if it was read with the bucket. `upload`: the
   * one that it continues, also for later calls.
   */
  admit(bucket: BucketRecord, existing?: ReadExisting, upload?: ContinuedUpload): void
  /** Who sends the request, for events. Absent: the server itself acts. */
  readonly sender?: EventSender
}

/** A bucket as the server itself uses it, for a job or an operator: there is no request whose permission could be checked. */
export const serverScope = (name: string): BucketScope => ({ name, admit: () => {} })

/** Decodes the object only when a decision needs it. Returns `undefined` when there is none. */
export type ReadExisting = () => ObjectAttributes | undefined

/** What a decision about a part can depend on: who began the upload, and how it is encrypted. */
export type ContinuedUpload = Pick<OpenUpload, 'bucketId' | 'initiator'> & {
  encryption?: Omit<Encryption, 'wrappedKey'> | undefined
}

/** A bucket's record, and the version that a commit checks. */
export interface FoundBucket {
  record: BucketRecord
  version: Version
  /** The scope through which it was found. */
  scope?: BucketScope | undefined
}

/** The bucket that `entry` holds. Throws NoSuchBucket, or what `admit` throws. */
export function admitted(
  scope: BucketScope,
  entry: Entry | undefined,
  existing?: ReadExisting,
  upload?: ContinuedUpload,
): FoundBucket {
  if (entry === undefined) throw new S3Error('NoSuchBucket', { details: { BucketName: scope.name } })
  const record = decodedBucket(scope.name, entry)
  scope.admit(record, existing, upload?.bucketId === record.id ? upload : undefined)
  return { record, version: entry.version, scope }
}

/** Reads a bucket and runs a listing's queries in one round trip. Throws what `admitted` throws. */
export async function viewInBucket<T>(
  { kv }: Backend,
  scope: BucketScope,
  queries: readonly RangeQuery[],
  read: (entry: Entry, query: number) => T,
): Promise<{ bucket: BucketRecord; found: T[][] }> {
  const { entries, found } = await kv.view([bucketKey(scope.name)], queries, read)
  return { bucket: admitted(scope, entries[0]).record, found }
}

/**
 * Lists with the owners of objects if objects in the bucket can have other owners than the bucket's. Calls `list` a second time when the remembered bucket,
 * which decides how to list first, is out of date.
 */
export async function listedWithOwners<T extends { bucket: BucketRecord }>(
  name: string,
  list: (owners: boolean) => Promise<T>,
): Promise<T> {
  const hasOwners = lastSeen(name)?.ownership !== undefined
  const listed = await list(hasOwners)
  return hasOwners || listed.bucket.ownership === undefined ? listed : list(true)
}

/**
 * The last decoded record of each bucket name, because nearly every request needs its bucket. All backends share it: equal bytes under an equal key decode to
 * the same record.
 */
const remembered = new Map<string, { value: Buffer; record: BucketRecord }>()

/** The bucket as it was when it was last read. It can be out of date. */
export const lastSeen = (name: string): BucketRecord | undefined => remembered.get(name)?.record

export function isUnversioned(name: string, entry: Entry | undefined): boolean {
  return entry === undefined || decodedBucket(name, entry).versioning === 'unversioned'
}

function decodedBucket(name: string, { key, value }: Entry): BucketRecord {
  const known = remembered.get(name)
  if (known !== undefined && (known.value === value || known.value.equals(value))) return known.record
  const record = Object.freeze(bucketCodec.decode(key, value))
  if (remembered.size >= limits.bucketRecordsRememberedMax) remembered.clear()
  remembered.set(name, { value, record })
  return record
}
