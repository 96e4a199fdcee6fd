/**
 * The queue of blobs that may lie elsewhere than they belong: those that a move of their bucket can miss, because their write began before the bucket got its
 * new location, or because their records move while the move walks over them (ADR 0020); and those whose object got another storage class (ADR 0069). The
 * commit that makes it so also queues the blob. It leaves the queue when it lies where it belongs.
 */

import type { Manifest } from '../blobs/blobs.ts'
import type { Put } from '../kv/kv.ts'
import type { BucketRecord } from '../records/bucket-record.ts'
import { type MovableOwner, moveKey } from '../records/keyspace.ts'
import type { ObjectAttributes } from '../records/object-attributes.ts'
import { moveCodec } from '../records/record-codecs.ts'
import type { ObjectRecord, VersionRecord } from '../records/records.ts'
import { ownBlob } from '../rules/versions.ts'
import type { StorageClass } from '../storage-class.ts'
import type { Backend } from './backend.ts'

type Places = Pick<Backend, 'blobs'>

/** Puts for the commit that writes a new version of `key`, or moves an existing version's record. */
export function movePutsOfVersion(
  { blobs }: Places,
  bucket: BucketRecord,
  key: string,
  version: VersionRecord,
  isNew: boolean,
): Put[] {
  if (version.kind === 'marker') return []
  const blob = ownBlob(version.data)
  const isElsewhere =
    blob !== undefined && blob.location !== blobs.locationFor(bucket.location, version.attributes.storageClass)
  if (!isElsewhere && (isNew || bucket.moving === undefined)) return []
  return [movePutOfVersion(bucket, key, version)]
}

/** Queues a version whose data may lie elsewhere than it belongs. */
export function movePutOfVersion(bucket: BucketRecord, key: string, { sequence }: ObjectRecord): Put {
  return movePut(bucket, { kind: 'version', bucket: bucket.name, key, sequence })
}

/** Puts for the commit of a part. `attributes`: those of its upload. */
export function movePutsOfPart(
  { blobs }: Places,
  bucket: BucketRecord,
  owner: MovableOwner,
  { location }: Manifest,
  { storageClass }: ObjectAttributes,
): Put[] {
  return location === blobs.locationFor(bucket.location, storageClass) ? [] : [movePut(bucket, owner, storageClass)]
}

function movePut({ name }: BucketRecord, owner: MovableOwner, storageClass?: StorageClass): Put {
  const key = moveKey(owner)
  return { key, value: moveCodec.encode(key, { bucket: name, storageClass }) }
}
