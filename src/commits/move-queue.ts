/**
 * Blobs that a move of their bucket may miss, remembered until they lie where they belong: those whose write began before the bucket got its location, and
 * versions that change places while the move walks over them. Who commits them queues them in the same commit (ADR 0020).
 */

import type { Manifest } from '../blobs/blobs.ts'
import type { Put } from '../kv/kv.ts'
import type { BucketRecord } from '../records/bucket-record.ts'
import { type MovableOwner, moveKey } from '../records/keyspace.ts'
import { moveCodec } from '../records/record-codecs.ts'
import type { VersionRecord } from '../records/records.ts'
import { ownBlob } from '../rules/versions.ts'

/** What belongs into a commit that puts a version of `key` into its place, or into another place than it had. */
export function movePutsOfVersion(bucket: BucketRecord, key: string, version: VersionRecord, isNew: boolean): Put[] {
  if (version.kind === 'marker') return []
  const { data, sequence } = version
  const blob = ownBlob(data)
  const isElsewhere = blob !== undefined && blob.location !== bucket.location
  if (!isElsewhere && (isNew || bucket.moving === undefined)) return []
  return [movePut(bucket, { kind: 'version', bucket: bucket.name, key, sequence })]
}

/** What belongs into the commit of a part. */
export function movePutsOfPart(bucket: BucketRecord, owner: MovableOwner, { location }: Manifest): Put[] {
  return location === bucket.location ? [] : [movePut(bucket, owner)]
}

function movePut({ name }: BucketRecord, owner: MovableOwner): Put {
  const key = moveKey(owner)
  return { key, value: moveCodec.encode(key, { bucket: name }) }
}
