/** A bucket as one request may use it. Every way to a bucket's record leads through `admit`, so that no path forgets the permission. */
import { S3Error } from '../errors.ts'
import type { Entry } from '../kv/kv.ts'
import { keyAfter } from '../kv/ordered-key.ts'
import { limits } from '../limits.ts'
import { bucketKey } from './keyspace.ts'
import { bucketCodec } from './record-codecs.ts'
import type { BucketRecord } from './records.ts'
import type { Store } from './store.ts'

export interface BucketScope {
  name: string
  /** Throws AccessDenied unless the request may do what it asks in this bucket. */
  admit(bucket: BucketRecord): void
}

/** A bucket's record, and the version that a commit checks. */
export interface FoundBucket {
  record: BucketRecord
  version: number
}

/** The bucket that `entry` holds. Throws NoSuchBucket, or what `admit` throws. */
export function admitted(scope: BucketScope, entry: Entry | undefined): FoundBucket {
  if (entry === undefined) throw new S3Error('NoSuchBucket', { details: { BucketName: scope.name } })
  const record = decodedBucket(scope.name, entry)
  scope.admit(record)
  return { record, version: entry.version }
}

/** The bucket of a listing, found without waiting for other lookups: see `range` of the kv interface. Throws as `admitted` does. */
export async function admittedToList(store: Store, scope: BucketScope): Promise<FoundBucket> {
  const start = bucketKey(scope.name)
  const [entry] = await store.kv.range({ start, end: keyAfter(start), limit: 1 })
  return admitted(scope, entry)
}

/** By name, as decoded last: nearly every request needs its bucket. Equal bytes under an equal key are the same record, of whichever store. */
const remembered = new Map<string, { value: Buffer; record: BucketRecord }>()

function decodedBucket(name: string, { key, value }: Entry): BucketRecord {
  const known = remembered.get(name)
  if (known !== undefined && (known.value === value || known.value.equals(value))) return known.record
  const record = Object.freeze(bucketCodec.decode(key, value))
  if (remembered.size >= limits.bucketRecordsRememberedMax) remembered.clear()
  remembered.set(name, { value, record })
  return record
}
