/** Writes a whole object: bytes first, then one commit that makes it the current version of its key. */
import { S3Error } from '../errors.ts'
import type { Manifest } from '../shards/blobs.ts'
import { commitDecision } from './commit.ts'
import { nextSequence, readTarget, replaceCurrent } from './current-object.ts'
import { describeObject } from './descriptions.ts'
import { type IncomingData, writeBlob } from './incoming-data.ts'
import { checkWrite, type WriteConditions } from './preconditions.ts'
import type { ObjectAttributes, ObjectRecord } from './records.ts'
import type { BucketScope } from './scope.ts'
import type { Store } from './store.ts'

export interface NewObject {
  key: string
  attributes: ObjectAttributes
  data: IncomingData
  conditions: WriteConditions
}

/**
 * Resolves with the record of the new current version when bytes and record are durable.
 * Conditions are checked before the body is read, and again by the commit. Throws NoSuchBucket, PreconditionFailed and what `writeBlob` throws.
 */
export async function writeObject(store: Store, scope: BucketScope, object: NewObject): Promise<ObjectRecord> {
  const before = await readTarget(store, scope, object.key)
  checkWrite(object.conditions, before.current)

  const { manifest, digested } = await writeBlob(store, before.bucket.record.location, object.data, (digests) =>
    describeObject(before.bucket.record, object, digests, store.clock.now()),
  )
  return keepingNoOrphan(store, manifest, () =>
    commitDecision(store, async (attempt) => {
      const target = attempt === 0 ? before : await readTarget(store, scope, object.key)
      checkWrite(object.conditions, target.current)
      const record: ObjectRecord = {
        ...object.attributes,
        sequence: nextSequence(target),
        versionId: 'null',
        size: manifest.size,
        modifiedMs: store.clock.now(),
        etag: digested.etag,
        checksum: digested.checksum === undefined ? undefined : { ...digested.checksum, type: 'FULL_OBJECT' },
        data: { kind: 'blob', manifest },
      }
      return { result: record, commit: replaceCurrent(store, target, record) }
    }),
  )
}

/**
 * Runs the commit that is to reference a blob, and removes the blob when the commit was decided against. After any other failure the commit may have
 * happened, so the blob stays; if it is an orphan, reclaim finds it.
 */
export async function keepingNoOrphan<T>(store: Store, manifest: Manifest, commit: () => Promise<T>): Promise<T> {
  try {
    return await commit()
  } catch (error) {
    if (error instanceof S3Error) await store.blobs.remove([manifest])
    throw error
  }
}
