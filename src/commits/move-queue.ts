/**
 * The queue of blobs that a move of their bucket can miss: blobs whose write began before the bucket got its new location, and versions whose records move
 * while the move walks over them. The commit that places such a blob also queues it (ADR 0020). It leaves the queue when it lies where it belongs.
 */

import type { Manifest } from '../blobs/blobs.ts'
import type { Put } from '../kv/kv.ts'
import type { BucketRecord } from '../records/bucket-record.ts'
import { type MovableOwner, moveKey } from '../records/keyspace.ts'
import { moveCodec } from '../records/record-codecs.ts'
import type { VersionRecord } from '../records/records.ts'
import { ownBlob } from '../rules/versions.ts'

/** Puts for the commit that writes a new version of `key`, or moves an existing version's record. */
export function movePutsOfVersion(bucket: BucketRecord, key: string, version: VersionRecord, isNew: boolean): Put[] {
  if (version.kind === 'marker') return []
  const { data, sequence } = version
  const blob = ownBlob(data)
  const isElsewhere = blob !== undefined && blob.location !== bucket.location
  if (!isElsewhere && (isNew || bucket.moving === undefined)) return []
  return [movePut(bucket, { kind: 'version', bucket: bucket.name, key, sequence })]
}

/** Puts for the commit of a part. */
export function movePutsOfPart(bucket: BucketRecord, owner: MovableOwner, { location }: Manifest): Put[] {
  return location === bucket.location ? [] : [movePut(bucket, owner)]
}

function movePut({ name }: BucketRecord, owner: MovableOwner): Put {
  const key = moveKey(owner)
  return { key, value: moveCodec.encode(key, { bucket: name }) }
}
