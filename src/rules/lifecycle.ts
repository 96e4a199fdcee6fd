/** What lifecycle rules say about the versions of a key and about uploads, as in S3. Pure. */
import type { LifecycleFilter, LifecycleRule, TransitionMinimum } from '../records/lifecycle.ts'
import type { Tag } from '../records/object-attributes.ts'
import { type StorageClass, type TransitionClass, transitionRank } from '../storage-class.ts'

export const dayMs = 24 * 60 * 60 * 1000

/** What the conditions of rules look at. */
export interface Subject {
  key: string
  /** Absent: a delete marker, or an upload. */
  size?: number | undefined
  /** Absent: they have not been read, and may be any. */
  tags?: readonly Tag[] | undefined
}

/** When something expires, and by which rule. */
export interface Due {
  dueMs: number
  ruleId: string
}

type Rules = readonly LifecycleRule[]

/** When the current version of a key expires. `undefined`: never. */
export function expirationOf(rules: Rules, version: Subject & { modifiedMs: number }): Due | undefined {
  return earliest(rules, version, ({ expiration }) => {
    if (expiration === undefined || 'expiredDeleteMarkers' in expiration) return undefined
    return 'days' in expiration ? dueAfter(version.modifiedMs, expiration.days) : expiration.dateMs
  })
}

/** When a delete marker that is the only version of its key goes. */
export function markerExpirationOf(rules: Rules, marker: { key: string; modifiedMs: number }): Due | undefined {
  const atOnce = earliest(rules, { key: marker.key }, ({ expiration }) => {
    const isTold = expiration !== undefined && 'expiredDeleteMarkers' in expiration && expiration.expiredDeleteMarkers
    return isTold ? marker.modifiedMs : undefined
  })
  return atOnce ?? expirationOf(rules, { key: marker.key, modifiedMs: marker.modifiedMs })
}

/** When a noncurrent version, which may be a delete marker, goes. `newer`: how many noncurrent versions of its key are newer. */
export function noncurrentExpirationOf(
  rules: Rules,
  version: Subject & { noncurrentSinceMs: number; newer: number },
): Due | undefined {
  return earliest(rules, version, ({ noncurrent }) => {
    if (noncurrent === undefined || version.newer < (noncurrent.keeps ?? 0)) return undefined
    const { days } = noncurrent
    return days === undefined ? version.noncurrentSinceMs : dueAfter(version.noncurrentSinceMs, days)
  })
}

/** A version whose storage class can change. */
export interface Movable extends Subject {
  size: number
  storageClass: StorageClass | undefined
}

/** The storage class that the current version of a key is to have by now. `undefined`: the one that it has. */
export function transitionOf(
  rules: Rules,
  version: Movable & { modifiedMs: number },
  { nowMs, minimum }: TransitionTime,
): TransitionClass | undefined {
  const due = rulesFor(rules, version).flatMap(({ filter, transitions = [] }) =>
    transitions
      .filter((one) => ('days' in one ? dueAfter(version.modifiedMs, one.days) : one.dateMs) <= nowMs)
      .filter(({ storageClass }) => isLargeEnough(version, filter, storageClass, minimum)),
  )
  return lowest(version, due)
}

/** The same for a noncurrent version. `newer`: how many noncurrent versions of its key are newer. */
export function noncurrentTransitionOf(
  rules: Rules,
  version: Movable & { noncurrentSinceMs: number; newer: number },
  { nowMs, minimum }: TransitionTime,
): TransitionClass | undefined {
  const due = rulesFor(rules, version).flatMap(({ filter, noncurrentTransitions = [] }) =>
    noncurrentTransitions
      .filter(({ days, keeps = 0 }) => version.newer >= keeps && dueAfter(version.noncurrentSinceMs, days) <= nowMs)
      .filter(({ storageClass }) => isLargeEnough(version, filter, storageClass, minimum)),
  )
  return lowest(version, due)
}

export interface TransitionTime {
  nowMs: number
  minimum: TransitionMinimum | undefined
}

/** S3 leaves objects of less than 128 KiB where they are, unless the rule itself says which sizes it concerns. */
function isLargeEnough(
  { size }: Movable,
  { sizeGreaterThan, sizeLessThan }: LifecycleFilter,
  to: TransitionClass,
  minimum: TransitionMinimum | undefined,
): boolean {
  if (size >= transitionBytesMin || sizeGreaterThan !== undefined || sizeLessThan !== undefined) return true
  return minimum === 'varies_by_storage_class' && (to === 'GLACIER' || to === 'DEEP_ARCHIVE')
}

const transitionBytesMin = 128 * 1024

/** Of several classes S3 takes the lowest. No rule brings an object up again. */
function lowest(
  { storageClass }: Movable,
  due: readonly { storageClass: TransitionClass }[],
): TransitionClass | undefined {
  const [last] = due.map((one) => one.storageClass).sort((a, b) => transitionRank(b) - transitionRank(a))
  return transitionRank(last) > transitionRank(storageClass) ? last : undefined
}

/** When an open upload is aborted. */
export function uploadExpirationOf(rules: Rules, upload: { key: string; initiatedMs: number }): Due | undefined {
  return earliest(rules, { key: upload.key }, ({ abortUploadsDays: days }) => {
    return days === undefined ? undefined : dueAfter(upload.initiatedMs, days)
  })
}

/** The prefixes of all keys that enabled rules can concern; none begins with another. */
export function prefixesOf(rules: Rules): string[] {
  const all = rules.filter(({ enabled }) => enabled).map(({ filter }) => filter.prefix ?? '')
  const distinct = [...new Set(all)]
  return distinct.filter((prefix) => !distinct.some((other) => other !== prefix && prefix.startsWith(other)))
}

/** S3's header for a version that expires. */
export function expirationHeader({ dueMs, ruleId }: Due): string {
  return `expiry-date="${new Date(dueMs).toUTCString()}", rule-id="${encodeURIComponent(ruleId)}"`
}

/** The first midnight in UTC when so many days have passed. */
function dueAfter(sinceMs: number, days: number): number {
  return Math.min(Math.ceil((sinceMs + days * dayMs) / dayMs) * dayMs, latestDateMs)
}

/** The last time that a date can be. */
const latestDateMs = 8_640_000_000_000_000

function earliest(rules: Rules, subject: Subject, dueOf: (rule: LifecycleRule) => number | undefined): Due | undefined {
  let first: Due | undefined
  for (const rule of rulesFor(rules, subject)) {
    const dueMs = dueOf(rule)
    if (dueMs !== undefined && (first === undefined || dueMs < first.dueMs)) first = { dueMs, ruleId: rule.id }
  }
  return first
}

const rulesFor = (rules: Rules, subject: Subject): LifecycleRule[] =>
  rules.filter(({ enabled, filter }) => enabled && concerns(filter, subject))

function concerns({ prefix = '', tags, sizeGreaterThan, sizeLessThan }: LifecycleFilter, subject: Subject): boolean {
  if (!subject.key.startsWith(prefix)) return false
  const { size } = subject
  if (size === undefined) return tags.length === 0 && sizeGreaterThan === undefined && sizeLessThan === undefined
  if (sizeGreaterThan !== undefined && size <= sizeGreaterThan) return false
  if (sizeLessThan !== undefined && size >= sizeLessThan) return false
  const has = subject.tags
  return has === undefined || tags.every(({ key, value }) => has.some((tag) => tag.key === key && tag.value === value))
}
