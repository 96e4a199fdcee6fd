/** Reads a version of a key: its record, and a verified range of its bytes. */
import { type ByteSource, bytesSource } from '../byte-source.ts'
import { ShardMissing } from '../shards/shard-store.ts'
import type { ByteRange } from './byte-range.ts'
import type { VersionAddress } from './change-version.ts'
import { findVersion } from './find-version.ts'
import { openParts } from './object-parts.ts'
import type { ObjectRecord } from './records.ts'
import type { BucketScope } from './scope.ts'
import type { Store } from './store.ts'
import type { VersionInBucket } from './versions.ts'

export interface OpenedObject<P> extends VersionInBucket {
  /** What `plan` made of the record. */
  planned: P
  body: ByteSource
}

const moveRetriesMax = 3

/**
 * Opens what `plan` asks for of a version; `plan` throws to refuse (conditions, range). It may be asked again: when compaction moved the bytes
 * between looking up and opening them, the record is read afresh. Throws what `findVersion` and `plan` throw.
 */
export async function openObject<P extends { range: ByteRange }>(
  store: Store,
  scope: BucketScope,
  { key, versionId }: VersionAddress,
  plan: (record: ObjectRecord) => P,
): Promise<OpenedObject<P>> {
  for (let attempt = 1; ; attempt++) {
    const { bucket, record } = await findVersion(store, scope, key, versionId)
    const planned = plan(record)
    try {
      return { bucket: bucket.record, record, planned, body: await openData(store, record, planned.range) }
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
