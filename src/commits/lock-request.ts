/** Checks whether a bucket allows the lock that a client asks for when it writes or changes a version. */
import { S3Error } from '../errors.ts'
import type { BucketRecord } from '../records/bucket-record.ts'
import type { ObjectAttributes } from '../records/object-attributes.ts'
import { checkRetentionDate } from '../rules/retention.ts'
import type { Backend } from './backend.ts'
import { lockNow } from './lock-clock.ts'

/** Throws InvalidRequest when the bucket has no Object Lock, InvalidArgument when the date has passed. */
export async function checkLockRequest(
  backend: Backend,
  bucket: BucketRecord,
  { retention, legalHold }: Pick<ObjectAttributes, 'retention' | 'legalHold'>,
): Promise<void> {
  if (retention === undefined && legalHold === undefined) return
  requireObjectLock(bucket)
  if (retention !== undefined) checkRetentionDate(retention, await lockNow(backend))
}

export function requireObjectLock({ name, objectLock }: BucketRecord): void {
  if (objectLock !== undefined) return
  throw new S3Error('InvalidRequest', {
    message: 'Bucket is missing Object Lock Configuration',
    details: { BucketName: name },
  })
}
