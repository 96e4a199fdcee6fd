/** Gives a version the storage class that lifecycle rules say, if that is still so when it commits. Its data follows: see `commits/move-queue`. */
import type { Backend } from '../../commits/backend.ts'
import { serverScope } from '../../commits/scope.ts'
import { type ErrorCode, S3Error } from '../../errors.ts'
import { setStorageClass } from '../../objects/change-version.ts'
import type { BucketRecord } from '../../records/bucket-record.ts'
import { objectKey } from '../../records/keyspace.ts'
import type { ObjectRecord } from '../../records/records.ts'
import { noncurrentTransitionOf, transitionOf } from '../../rules/lifecycle.ts'
import type { TransitionClass } from '../../storage-class.ts'
import type { DueTransition } from './due-versions.ts'

/** The version or its bucket is gone, or clients change the key all the time. */
const left: ReadonlySet<ErrorCode> = new Set([
  'NoSuchKey',
  'NoSuchVersion',
  'MethodNotAllowed',
  'NoSuchBucket',
  'OperationAborted',
])

/** Resolves with whether the version has another class now. */
export async function transitionDue(
  backend: Backend,
  bucketName: string,
  due: DueTransition,
  nowMs: number,
): Promise<boolean> {
  const { key, versionId } = due
  try {
    return await setStorageClass(backend, serverScope(bucketName), { key, versionId }, (record, bucket, entry) => {
      const isCurrent = entry.key.equals(objectKey(bucketName, key))
      const isSeen = record.sequence === due.sequence && isCurrent === (due.noncurrent === undefined)
      const storageClass = isSeen ? classNow(bucket, record, due, nowMs) : undefined
      // Rules can't name a class that no location keeps, but a location can stop keeping it.
      return storageClass !== undefined && backend.blobs.keptClasses.has(storageClass) ? storageClass : undefined
    })
  } catch (error) {
    if (error instanceof S3Error && left.has(error.code)) return false
    throw error
  }
}

/** By the rules and the version as they are now. A noncurrent version counts as many newer ones as when it was seen. */
function classNow(
  { lifecycle: rules = [], transitionMinimum: minimum }: BucketRecord,
  { size, modifiedMs, attributes: { tags, storageClass } }: ObjectRecord,
  { key, noncurrent }: DueTransition,
  nowMs: number,
): TransitionClass | undefined {
  const subject = { key, size, tags, storageClass }
  const time = { nowMs, minimum }
  return noncurrent === undefined
    ? transitionOf(rules, { ...subject, modifiedMs }, time)
    : noncurrentTransitionOf(rules, { ...subject, ...noncurrent }, time)
}
