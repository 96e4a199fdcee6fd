/**
 * Declares once what a client sets on an object. It travels as one value: from the request into the record and the descriptions of shards, and from there into
 * copies and completed uploads. A new attribute is one optional field of `ObjectAttributes`, and one of `laterAttributes`.
 */
import { namedStorageClasses, type StorageClass } from '../storage-class.ts'
import type { Grant } from './grant.ts'
import {
  flag,
  listOf,
  number,
  oneOf,
  type PackedFields,
  packedObject,
  perhapsEmpty,
  text,
  texts,
} from './packed-fields.ts'
import type { ReplicationState } from './replication-state.ts'

export interface Tag {
  key: string
  value: string
}

export type RetentionMode = 'GOVERNANCE' | 'COMPLIANCE'

export interface Retention {
  mode: RetentionMode
  untilMs: number
}

/** Headers that describe an object. Answers repeat them unchanged. */
export interface DescriptiveHeaders {
  contentType?: string | undefined
  contentEncoding?: string | undefined
  contentLanguage?: string | undefined
  contentDisposition?: string | undefined
  cacheControl?: string | undefined
  expires?: string | undefined
}

/** What a client set on an object when it began to write it. */
export interface ObjectAttributes {
  headers: DescriptiveHeaders
  metadata: Readonly<Record<string, string>>
  tags: readonly Tag[]
  retention?: Retention | undefined
  legalHold?: boolean | undefined
  /** Absent: STANDARD. */
  storageClass?: StorageClass | undefined
  /** Where a website redirects requests for the object. */
  websiteRedirectLocation?: string | undefined
  /** Account id. Absent: the owner of the bucket. It counts only while the bucket has access control lists. */
  owner?: string | undefined
  /** The access control list. Absent: the owner alone. */
  grants?: readonly Grant[] | undefined
  /** Absent: nothing copies it. */
  replication?: ReplicationState | undefined
  /** When the original was written, if this is a copy whose writer said so. */
  originalMs?: number | undefined
}

export const retentionMode = oneOf(['GOVERNANCE', 'COMPLIANCE'])

/** The attributes that descriptions pack before other fields. The list is closed: new attributes go into `laterAttributes`. */
export const firstAttributes = {
  headers: perhapsEmpty(
    packedObject<DescriptiveHeaders>({
      contentType: text,
      contentEncoding: text,
      contentLanguage: text,
      contentDisposition: text,
      cacheControl: text,
      expires: text,
    }),
    {},
  ),
  metadata: texts,
  tags: listOf(packedObject<Tag>({ key: text, value: text })),
  retention: packedObject<Retention>({ mode: retentionMode, untilMs: number }),
  legalHold: flag,
  storageClass: oneOf(namedStorageClasses),
  websiteRedirectLocation: text,
} satisfies Partial<PackedFields<ObjectAttributes>>

/**
 * Grants change, but shards keep what was first written. An object restored from its shards must not be open to those whom its owner has shut out since. What is
 * said of copies would be out of date as well.
 */
type NotInShards = 'grants' | 'replication'

/** The attributes that were added later. Descriptions pack them after all other fields. Append only. */
export const laterAttributes = { owner: text, originalMs: number } satisfies PackedFields<
  Omit<ObjectAttributes, keyof typeof firstAttributes | NotInShards>
>
