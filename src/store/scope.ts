/** A bucket as one request may use it. Every way to a bucket's record leads through `admit`, so that no path forgets the permission. */
import { S3Error } from '../errors.ts'
import type { Entry } from '../kv/kv.ts'
import { bucketCodec } from './record-codecs.ts'
import type { BucketRecord } from './records.ts'

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
  const record = bucketCodec.decode(entry.key, entry.value)
  scope.admit(record)
  return { record, version: entry.version }
}
