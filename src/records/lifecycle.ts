/** The lifecycle rules of a bucket, as its record keeps them: what a client said, so that it gets the same back. */
import type { TransitionClass } from '../storage-class.ts'
import type { Tag } from './object-attributes.ts'

/** Which objects a rule concerns: those of which all conditions hold. */
export interface LifecycleFilter {
  /** Where the document says it: in the rule's own Prefix, in a Filter of at most one condition, or in its And. */
  form: 'prefix' | 'filter' | 'and'
  prefix?: string | undefined
  tags: readonly Tag[]
  /** Bytes; neither includes the bound. */
  sizeGreaterThan?: number | undefined
  sizeLessThan?: number | undefined
}

/** When the current version of a key expires; or whether a delete marker goes once it is the only version of its key. */
export type LifecycleExpiration = { days: number } | { dateMs: number } | { expiredDeleteMarkers: boolean }

export interface NoncurrentExpiration {
  /** Since another version took its place. Absent: 0. */
  days?: number | undefined
  /** How many of the newest noncurrent versions stay, whatever their age. */
  keeps?: number | undefined
}

/** When the current version of a key gets another storage class. */
export type Transition = { storageClass: TransitionClass } & ({ days: number } | { dateMs: number })

/** When noncurrent versions get another storage class. */
export interface NoncurrentTransition {
  storageClass: TransitionClass
  /** Since another version took its place. */
  days: number
  /** How many of the newest noncurrent versions keep their class, whatever their age. */
  keeps?: number | undefined
}

/** S3's names for what rules leave where it is: all small objects, or those that would go to another class than GLACIER or DEEP_ARCHIVE. */
export const transitionMinimums = ['all_storage_classes_128K', 'varies_by_storage_class'] as const
export type TransitionMinimum = (typeof transitionMinimums)[number]

export interface LifecycleRule {
  id: string
  enabled: boolean
  filter: LifecycleFilter
  expiration?: LifecycleExpiration | undefined
  noncurrent?: NoncurrentExpiration | undefined
  transitions?: readonly Transition[] | undefined
  noncurrentTransitions?: readonly NoncurrentTransition[] | undefined
  /** Days after which an upload that is not complete is aborted. */
  abortUploadsDays?: number | undefined
}
