/**
 * A bucket, declared once: its fields, what they are where a record lacks them, and which of them shards tell. A new configuration is one optional field of
 * `BucketRecord`; it is then in the metadata's record and in its snapshots, and in no shard.
 */

import type { Grant } from './grant.ts'
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
import type { WebsiteConfiguration } from './website.ts'

export type VersioningState = 'unversioned' | 'enabled' | 'suspended'

/** Retention that new versions get when they ask for none. */
export interface DefaultRetention {
  mode: RetentionMode
  period: { days: number } | { years: number }
}

/** Its presence says that Object Lock is enabled; it can't be disabled again. */
export interface ObjectLock {
  defaultRetention: DefaultRetention | undefined
}

/** Encryption that new objects get when their request asks for none. */
export interface DefaultEncryption {
  by: 'store' | 'kms'
  /** Of SSE-KMS, as the client named it; absent: the default key. */
  kmsKeyId?: string | undefined
  bucketKeyEnabled?: boolean | undefined
}

/** What of a bucket stays closed to the public, whatever its policy and access control lists say. */
export interface PublicAccessBlock {
  blockPublicAcls: boolean
  ignorePublicAcls: boolean
  blockPublicPolicy: boolean
  restrictPublicBuckets: boolean
}

/**
 * Who owns objects that other accounts write, where the bucket has access control lists. `none`: the setting was removed, and S3 then goes by ObjectWriter.
 */
export type BucketOwnership = 'BucketOwnerPreferred' | 'ObjectWriter' | 'none'

/** Which pages of other origins may use a bucket. Patterns hold one `*` at most, which stands for any characters. */
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
  /** The text of its policy, as it was put. */
  policy?: string | undefined
  publicAccessBlock?: PublicAccessBlock | undefined
  /** Absent: BucketOwnerEnforced. The bucket's owner owns everything in it, and there are no access control lists. */
  ownership?: BucketOwnership | undefined
  /** Its access control list. Absent: the owner alone. */
  grants?: readonly Grant[] | undefined
  /** In the order in which they are tried. */
  cors?: readonly CorsRule[] | undefined
  website?: WebsiteConfiguration | undefined
  /** Set by a recovery that may lack what guarded the bucket: only its owner's own key is admitted, until an operator confirms what came back. */
  unconfirmed?: true | undefined
}

type Guards = Pick<BucketRecord, 'policy' | 'publicAccessBlock' | 'ownership' | 'grants' | 'unconfirmed'>

/** Whether the bucket has anything that decides who may use it, in addition to whose it is. */
export function isGuarded({ policy, publicAccessBlock, ownership, grants, unconfirmed }: Guards): boolean {
  if (policy !== undefined || ownership !== undefined || grants !== undefined || unconfirmed === true) return true
  return Object.values(publicAccessBlock ?? {}).includes(true)
}

/** What holds where nothing was said, be it by whoever made the bucket or by the version of this server that wrote the record. */
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

/** Twice the days, or twice the years and one. */
const retentionPeriod: Packed<DefaultRetention['period']> = {
  write: (writer, period) => writer.number('days' in period ? period.days * 2 : period.years * 2 + 1),
  read(reader) {
    const coded = reader.number()
    const count = Math.floor(coded / 2)
    return coded % 2 === 0 ? { days: count } : { years: count }
  },
}

/**
 * What the description of every blob tells of its bucket: what the bucket cannot be found again without. The list is this and no more, and append only: whatever is in it takes
 * room beside every object.
 */
const told = {
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

/** `guarded`: see `isGuarded`. What guards a bucket takes too much room beside every object, so shards tell only that there is something. */
export type BucketState = Pick<BucketRecord, keyof typeof told> & { guarded?: true | undefined }

const packedState = packedObject<BucketState>({ ...told, guarded: present })

export const packedBucketState: Packed<BucketState> = {
  ...packedState,
  write: (writer, state: BucketState & Guards) =>
    packedState.write(writer, isGuarded(state) ? { ...state, guarded: true } : state),
}

/** The bucket with all that `state` tells of it. What shards don't tell stays. */
export function withState(bucket: BucketRecord, { guarded, ...state }: BucketState): BucketRecord {
  const untold: Partial<BucketRecord> = Object.fromEntries(Object.entries(bucket).filter(([field]) => !(field in told)))
  return { ...unsetBucket, ...untold, ...state, name: bucket.name, id: bucket.id }
}
