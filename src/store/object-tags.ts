/** Changes the tags of the current version of a key, and nothing else of it. */
import { S3Error } from '../errors.ts'
import { commitDecision } from './commit.ts'
import { readTarget } from './current-object.ts'
import { bucketKey } from './keyspace.ts'
import { type ObjectRecord, objectCodec, type Tag } from './records.ts'
import type { BucketScope } from './scope.ts'
import type { Store } from './store.ts'

/** Resolves with the record as changed. Throws NoSuchBucket, NoSuchKey, or what the scope throws. */
export async function setObjectTags(
  store: Store,
  scope: BucketScope,
  key: string,
  tags: readonly Tag[],
): Promise<ObjectRecord> {
  return commitDecision(store, async () => {
    const { bucket, entry, current } = await readTarget(store, scope, key)
    if (entry === undefined || current === undefined) throw new S3Error('NoSuchKey', { details: { Key: key } })
    const record = { ...current, tags }
    return {
      result: record,
      commit: {
        checks: [
          { key: bucketKey(bucket.record.name), version: bucket.version },
          { key: entry.key, version: entry.version },
        ],
        puts: [{ key: entry.key, value: objectCodec.encode(entry.key, record) }],
      },
    }
  })
}
