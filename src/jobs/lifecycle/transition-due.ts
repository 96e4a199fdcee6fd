/** Gives a version the storage class that lifecycle rules say, if that is still so when it commits. Its data follows: see `commits/move-queue`. */
import type { Backend } from '../../commits/backend.ts'
import { commitKeyDecision } from '../../commits/commit.ts'
import { eventPuts } from '../../commits/event-queue.ts'
import { movePutOfVersion } from '../../commits/move-queue.ts'
import { NewestWrapping } from '../../commits/newest-wrapping.ts'
import { serverScope } from '../../commits/scope.ts'
import { type ErrorCode, S3Error } from '../../errors.ts'
import { findVersion } from '../../objects/find-version.ts'
import type { BucketRecord } from '../../records/bucket-record.ts'
import { bucketKey, objectKey } from '../../records/keyspace.ts'
import { versionCodec } from '../../records/record-codecs.ts'
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
    return await commitKeyDecision(backend, bucketName, key, async () => {
      const { bucket, entry, record } = await findVersion(backend, serverScope(bucketName), key, versionId)
      const isCurrent = entry.key.equals(objectKey(bucketName, key))
      const isSeen = record.sequence === due.sequence && isCurrent === (due.noncurrent === undefined)
      const storageClass = isSeen ? classNow(bucket.record, record, due, nowMs) : undefined
      // Rules can't name a class that no location keeps, but a location can stop keeping it.
      if (storageClass === undefined || !backend.blobs.keptClasses.has(storageClass))
        return { result: false, commit: {} }
      const wrapping = new NewestWrapping(backend, bucket.record.id, key)
      const version = wrapping.newest({ ...record, attributes: { ...record.attributes, storageClass } })
      return {
        result: true,
        commit: {
          grows: true,
          checks: [
            { key: bucketKey(bucketName), version: bucket.version },
            { key: entry.key, version: entry.version },
            ...wrapping.checks,
          ],
          puts: [
            { key: entry.key, value: versionCodec.encode(entry.key, version) },
            movePutOfVersion(bucket.record, key, version),
            ...eventPuts(backend, bucket, key, { name: 'LifecycleTransition', version }),
          ],
        },
      }
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
