/** What a page of a listing must show, and must not, while keys come and go: whoever was there all the time, and whoever was not. Pure. */

/** A change of one key. Changes of a key follow each other: none begins before the one before has ended. */
export interface KeyChange {
  beganMs: number
  /** Infinity: nobody knows whether it happened. */
  endedMs: number
  /** Afterwards. */
  exists: boolean
}

export interface ListedPage {
  beganMs: number
  endedMs: number
  /** The keys are those behind this one. */
  after: string
  /** Up to this one, inclusive. Absent: to the end. */
  upTo: string | undefined
  /** In the order in which they were listed. */
  keys: readonly string[]
}

type Presence = 'there' | 'absent' | 'open'

/** Whether a key was there from the beginning to the end of a time. Without any change it never was. */
function presenceOf(changes: readonly KeyChange[], beganMs: number, endedMs: number): Presence {
  if (changes.some((change) => change.beganMs <= endedMs && change.endedMs >= beganMs)) return 'open'
  const before = changes.filter((change) => change.endedMs < beganMs).at(-1)
  return before?.exists === true ? 'there' : 'absent'
}

/** Keys are ASCII, so that text sorts as bytes do. */
export function pageViolations(timeline: ReadonlyMap<string, readonly KeyChange[]>, page: ListedPage): string[] {
  const { keys, after, upTo, beganMs, endedMs } = page
  const violations: string[] = []
  for (const [i, key] of keys.entries()) {
    const before = keys[i - 1] ?? after
    if (key <= before) violations.push(`${key} comes behind ${before}`)
    if (!timeline.has(key)) violations.push(`${key} was never written`)
  }
  const listed = new Set(keys)
  for (const [key, changes] of timeline) {
    if (key <= after || (upTo !== undefined && key > upTo)) continue
    const presence = presenceOf(changes, beganMs, endedMs)
    if (presence === 'there' && !listed.has(key)) violations.push(`${key} was there and is not listed`)
    if (presence === 'absent' && listed.has(key)) violations.push(`${key} was not there and is listed`)
  }
  return violations
}

/** The same for the groups that a delimiter makes, listed in one page. */
export function groupViolations(
  timeline: ReadonlyMap<string, readonly KeyChange[]>,
  groups: readonly string[],
  { beganMs, endedMs }: Pick<ListedPage, 'beganMs' | 'endedMs'>,
): string[] {
  const presences = new Map<string, Presence[]>()
  for (const [key, changes] of timeline) {
    const group = key.slice(0, key.indexOf('/') + 1)
    presences.set(group, [...(presences.get(group) ?? []), presenceOf(changes, beganMs, endedMs)])
  }
  const violations = groups
    .filter((group, i) => group <= (groups[i - 1] ?? ''))
    .map((group) => `${group} is out of order`)
  for (const [group, ofKeys] of presences) {
    const isListed = groups.includes(group)
    if (ofKeys.includes('there') && !isListed) violations.push(`${group} had a key and is not listed`)
    if (ofKeys.every((presence) => presence === 'absent') && isListed)
      violations.push(`${group} was empty and is listed`)
  }
  return violations
}
