/** Whether a record still references what a garbage record names. Always reads the metadata, because reclaiming can't be undone. */

import type { Manifest } from '../../blobs/blobs.ts'
import type { Kv } from '../../kv/kv.ts'
import { historyKey, objectKey, uploadKey } from '../../records/keyspace.ts'
import { versionCodec } from '../../records/record-codecs.ts'
import type { GarbageRecord } from '../../records/records.ts'
import { findReference } from '../blob-reference.ts'

export async function isStillReferenced(kv: Kv, garbage: GarbageRecord): Promise<boolean> {
  if (garbage.kind === 'blob') {
    if (garbage.owner === undefined) return false
    const reference = await findReference(kv, garbage.owner)
    return reference !== undefined && shareShards(reference.manifest, garbage.manifest)
  }
  return garbage.kind === 'parts' && arePartsReferenced(kv, garbage)
}

function shareShards(one: Manifest, other: Manifest): boolean {
  return one.shards.some(({ storeId, id }) =>
    other.shards.some((shard) => shard.storeId === storeId && shard.id === id),
  )
}

async function arePartsReferenced(
  kv: Kv,
  { uploadId, owner }: Extract<GarbageRecord, { kind: 'parts' }>,
): Promise<boolean> {
  // Ending an upload deletes its record too.
  if (owner === undefined) return (await kv.get([uploadKey(uploadId)])).some((entry) => entry !== undefined)
  if (owner.kind !== 'version') return false
  const { bucket, key, sequence } = owner
  const places = await kv.get([objectKey(bucket, key), historyKey(bucket, key, sequence)])
  return places.some((entry) => {
    if (entry === undefined) return false
    const version = versionCodec.decode(entry.key, entry.value)
    return version.kind === 'object' && version.data.kind === 'parts' && version.data.uploadId === uploadId
  })
}
