/** Reads the current version of a key: its record, and a verified range of its bytes. */
import { type ByteSource, bytesSource } from '../byte-source.ts'
import { S3Error } from '../errors.ts'
import { ShardMissing } from '../shards/shard-store.ts'
import type { ByteRange } from './byte-range.ts'
import { readTarget } from './current-object.ts'
import { openParts } from './object-parts.ts'
import type { BucketRecord, ObjectRecord } from './records.ts'
import type { BucketScope } from './scope.ts'
import type { Store } from './store.ts'

export interface FoundObject {
  bucket: BucketRecord
  record: ObjectRecord
}

/** Throws NoSuchBucket, NoSuchKey, or what the scope throws. */
export async function findObject(store: Store, scope: BucketScope, key: string): Promise<FoundObject> {
  const { bucket, current } = await readTarget(store, scope, key)
  if (current === undefined) throw new S3Error('NoSuchKey', { details: { Key: key } })
  return { bucket: bucket.record, record: current }
}

export interface OpenedObject<P> extends FoundObject {
  /** What `plan` made of the record. */
  planned: P
  body: ByteSource
}

const moveRetriesMax = 3

/**
 * Opens what `plan` asks for of the current version; `plan` throws to refuse (conditions, range). It may be asked again: when compaction moved the bytes
 * between looking up and opening them, the record is read afresh. Throws what `findObject` and `plan` throw.
 */
export async function openObject<P extends { range: ByteRange }>(
  store: Store,
  scope: BucketScope,
  key: string,
  plan: (record: ObjectRecord) => P,
): Promise<OpenedObject<P>> {
  for (let attempt = 1; ; attempt++) {
    const found = await findObject(store, scope, key)
    const planned = plan(found.record)
    try {
      return { ...found, planned, body: await openData(store, found.record, planned.range) }
    } catch (error) {
      if (!(error instanceof ShardMissing) || attempt === moveRetriesMax) throw error
    }
  }
}

async function openData(store: Store, record: ObjectRecord, range: ByteRange): Promise<ByteSource> {
  if (range.end === range.start) return bytesSource(Buffer.alloc(0))
  const { data } = record
  return data.kind === 'blob' ? store.blobs.read(data.manifest, range) : openParts(store, data, range)
}
