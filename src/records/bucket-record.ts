/**
 * Declares a bucket once: its fields, their values when a record lacks them, and which of them the descriptions of shards state. A new configuration is one
 * optional field of `BucketRecord`; the metadata and its snapshots then hold it, and shards do not.
 */

import type { BucketLogging } from './bucket-logging.ts'
import type { Grant } from './grant.ts'
import type { LifecycleRule, TransitionMinimum } from './lifecycle.ts'
import type { NotificationRule } from './notifications.ts'
import { type RetentionMode, retentionMode, type Tag } from './object-attributes.ts'
import {
  flag,
  number,
  oneOf,
  type Packed,
  type PackedFields,
  packedObject,
  present,
  text,
  usually,
} from './packed-fields.ts'
import { type Codec, jsonCodec } from './record-format.ts'
import type { ReplicationConfiguration } from './replication.ts'
import type { BucketQuota } from './usage.ts'
import type { WebsiteConfiguration } from './website.ts'

export type VersioningState = 'unversioned' | 'enabled' | 'suspended'

/** Retention that new versions get when they ask for none. */
export interface DefaultRetention {
  mode: RetentionMode
  period: { days: number } | { years: number }
}

/** Present when Object Lock is enabled. It can't be disabled again. */
export interface ObjectLock {
  defaultRetention: DefaultRetention | undefined
}

/** Encryption that new objects get when their request asks for none. */
export interface DefaultEncryption {
  by: 'store' | 'kms'
  /** For SSE-KMS, as the client named it. Absent: the default key. */
  kmsKeyId?: string | undefined
  bucketKeyEnabled?: boolean | undefined
}

/** What stays closed to the public, whatever the bucket's policy and access control lists say. */
export interface PublicAccessBlock {
  blockPublicAcls: boolean
  ignorePublicAcls: boolean
  blockPublicPolicy: boolean
  restrictPublicBuckets: boolean
}

/**
 * Who owns objects that other accounts write, in a bucket with access control lists. `none`: the setting was removed, which S3 treats as ObjectWriter.
 */
export type BucketOwnership = 'BucketOwnerPreferred' | 'ObjectWriter' | 'none'

/** Which pages of other origins may use a bucket. A pattern contains at most one `*`, which stands for any characters. */
export interface CorsRule {
  id?: string | undefined
  allowedOrigins: readonly string[]
  allowedMethods: readonly string[]
  allowedHeaders: readonly string[]
  exposeHeaders: readonly string[]
  maxAgeSeconds?: number | undefined
}

export interface BucketRecord {
  name: string
  /** Distinguishes this bucket from earlier and later ones of the same name. */
  id: string
  /** Account id. */
  owner: string
  createdMs: number
  /** As CreateBucket gave it, or the location that the bucket was moved to; GetBucketLocation answers it verbatim. */
  locationConstraint: string | undefined
  /** Name of the location that new blobs are written to. */
  location: string
  /** Set while blobs that were written before are moved there. */
  moving?: true | undefined
  tags: readonly Tag[]
  versioning: VersioningState
  objectLock: ObjectLock | undefined
  encryption?: DefaultEncryption | undefined
  /** The text of its policy, exactly as the client sent it. */
  policy?: string | undefined
  publicAccessBlock?: PublicAccessBlock | undefined
  /** Absent: BucketOwnerEnforced. The bucket's owner owns everything in it, and there are no access control lists. */
  ownership?: BucketOwnership | undefined
  /** Its access control list. Absent: the owner alone. */
  grants?: readonly Grant[] | undefined
  /** In the order in which they are tried. */
  cors?: readonly CorsRule[] | undefined
  website?: WebsiteConfiguration | undefined
  lifecycle?: readonly LifecycleRule[] | undefined
  /** Never empty. */
  notifications?: readonly NotificationRule[] | undefined
  replication?: ReplicationConfiguration | undefined
  /** Absent: the bucket has no access log. */
  logging?: BucketLogging | undefined
  /** What the operator lets it hold. Absent: as much as there is room for, and nobody counts. */
  quota?: BucketQuota | undefined
  /** From which size on its lifecycle rules give objects another storage class. Absent: the first. */
  transitionMinimum?: TransitionMinimum | undefined
  /** Set by a recovery that may have lost what guarded the bucket. Only the owner's own key is then admitted, until an operator confirms the bucket. */
  unconfirmed?: true | undefined
}

type Guards = Pick<BucketRecord, 'policy' | 'publicAccessBlock' | 'ownership' | 'grants' | 'unconfirmed'>

/** Whether anything besides the bucket's ownership decides who may use it. */
export function isGuarded({ policy, publicAccessBlock, ownership, grants, unconfirmed }: Guards): boolean {
  if (policy !== undefined || ownership !== undefined || grants !== undefined || unconfirmed === true) return true
  return Object.values(publicAccessBlock ?? {}).includes(true)
}

/** Defaults for fields that a record or a shard lacks. They mean this for ever, whatever the default location of a server is. */
export const unsetBucket = {
  tags: [],
  locationConstraint: undefined,
  location: 'default',
  versioning: 'unversioned',
  objectLock: undefined,
} satisfies Partial<BucketRecord>

const stored = jsonCodec<BucketRecord>()

export const bucketCodec: Codec<BucketRecord> = {
  encode: stored.encode,
  decode: (key, bytes) => ({ ...unsetBucket, ...stored.decode(key, bytes) }),
}

/** One number: twice the days, or twice the years plus one. */
const retentionPeriod: Packed<DefaultRetention['period']> = {
  write: (writer, period) => writer.number('days' in period ? period.days * 2 : period.years * 2 + 1),
  read(reader) {
    const coded = reader.number()
    const count = Math.floor(coded / 2)
    return coded % 2 === 0 ? { days: count } : { years: count }
  },
}

/**
 * What the description of every blob states about its bucket: only what recovery needs to restore the bucket, because each field takes room in every shard.
 * Append only.
 */
const toldByShards = {
  owner: text,
  createdMs: number,
  location: usually(text, unsetBucket.location),
  versioning: usually(oneOf(['unversioned', 'enabled', 'suspended']), unsetBucket.versioning),
  locationConstraint: text,
  objectLock: packedObject<ObjectLock>({
    defaultRetention: packedObject<DefaultRetention>({ mode: retentionMode, period: retentionPeriod }),
  }),
  encryption: packedObject<DefaultEncryption>({ by: oneOf(['store', 'kms']), kmsKeyId: text, bucketKeyEnabled: flag }),
  moving: present,
} satisfies Partial<PackedFields<BucketRecord>>

/** `guarded`: see `isGuarded`. A policy or list takes too much room to repeat in every shard, so shards state only that something guards the bucket. */
export type BucketState = Pick<BucketRecord, keyof typeof toldByShards> & { guarded?: true | undefined }

const packedState = packedObject<BucketState>({ ...toldByShards, guarded: present })

export const packedBucketState: Packed<BucketState> = {
  ...packedState,
  write: (writer, state: BucketState & Guards) =>
    packedState.write(writer, isGuarded(state) ? { ...state, guarded: true } : state),
}

/** The bucket with all fields that shards state taken from `state`. The other fields stay as they are. */
export function withState(bucket: BucketRecord, { guarded, ...state }: BucketState): BucketRecord {
  const kept: Partial<BucketRecord> = Object.fromEntries(
    Object.entries(bucket).filter(([field]) => !(field in toldByShards)),
  )
  return { ...unsetBucket, ...kept, ...state, name: bucket.name, id: bucket.id }
}
