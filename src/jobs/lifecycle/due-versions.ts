/** Finds what lifecycle rules remove, and what they give another storage class, among the versions of a bucket's keys. Pure: the caller passes the versions in the order of their list. */
import type { ListedVersion } from '../../objects/list-versions.ts'
import type { LifecycleRule, TransitionMinimum } from '../../records/lifecycle.ts'
import {
  type Due,
  expirationOf,
  markerExpirationOf,
  noncurrentExpirationOf,
  noncurrentTransitionOf,
  type TransitionTime,
  transitionOf,
} from '../../rules/lifecycle.ts'

/** A version that is due as far as a list shows it: not its tags, and not what has changed since. */
export type DueVersion = { key: string; sequence: number } & (
  | { kind: 'current' }
  /** A delete marker that is the only version of its key. */
  | { kind: 'marker'; versionId: string }
  | { kind: 'noncurrent'; versionId: string; noncurrentSinceMs: number; newer: number }
)

/** A version that is to have another storage class, as far as a list shows it. */
export interface DueTransition {
  kind: 'transition'
  key: string
  sequence: number
  versionId: string
  /** Absent: the version is the current one. */
  noncurrent?: { noncurrentSinceMs: number; newer: number }
}

/** What `DueVersions` looks at. */
export interface RulesNow {
  rules: readonly LifecycleRule[]
  /** Of the bucket: see `BucketRecord`. */
  transitionMinimum?: TransitionMinimum | undefined
  nowMs: number
}

export class DueVersions {
  readonly #rules: readonly LifecycleRule[]
  readonly #time: TransitionTime
  #key: string | undefined
  /** When the version was written that comes before in the list, and so took the place of the next one of the same key. */
  #replacedMs = 0
  /** How many noncurrent versions of the key were seen. */
  #noncurrent = 0
  /** A due delete marker, as long as no other version of its key was seen. */
  #alone: DueVersion | undefined

  constructor({ rules, nowMs, transitionMinimum: minimum }: RulesNow) {
    this.#rules = rules
    this.#time = { nowMs, minimum }
  }

  /** Takes the next version of the list, newest first of each key. Returns what is due for sure by now. */
  see({ key, latest, version }: ListedVersion): (DueVersion | DueTransition)[] {
    const { sequence, versionId, modifiedMs } = version
    const before = key === this.#key ? [] : this.end()
    this.#alone = undefined
    if (latest) {
      this.#key = key
      this.#replacedMs = modifiedMs
      this.#noncurrent = 0
      if (version.kind === 'object') {
        const subject = { key, size: version.size, modifiedMs, storageClass: version.storageClass }
        if (this.#isDue(expirationOf(this.#rules, subject))) return [...before, { kind: 'current', key, sequence }]
        if (transitionOf(this.#rules, subject, this.#time) === undefined) return before
        return [...before, { kind: 'transition', key, sequence, versionId }]
      }
      if (this.#isDue(markerExpirationOf(this.#rules, { key, modifiedMs })))
        this.#alone = { kind: 'marker', key, sequence, versionId }
      return before
    }
    const newer = this.#noncurrent++
    // A copy has the time of its original, which can be older than what it replaced here.
    const noncurrentSinceMs = Math.max(this.#replacedMs, modifiedMs)
    this.#replacedMs = modifiedMs
    const size = version.kind === 'object' ? version.size : undefined
    const place = { noncurrentSinceMs, newer }
    if (this.#isDue(noncurrentExpirationOf(this.#rules, { key, size, ...place }))) {
      return [...before, { kind: 'noncurrent', key, sequence, versionId, ...place }]
    }
    if (version.kind !== 'object') return before
    const subject = { key, size: version.size, storageClass: version.storageClass, ...place }
    if (noncurrentTransitionOf(this.#rules, subject, this.#time) === undefined) return before
    return [...before, { kind: 'transition', key, sequence, versionId, noncurrent: place }]
  }

  /** What is due when nothing follows. */
  end(): DueVersion[] {
    const alone = this.#alone
    this.#alone = undefined
    return alone === undefined ? [] : [alone]
  }

  #isDue(due: Due | undefined): boolean {
    return due !== undefined && due.dueMs <= this.#time.nowMs
  }
}
