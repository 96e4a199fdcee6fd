/** Decides what a listing page shows: groups by delimiter, where the page ends, where the next one starts. Pure: the caller passes what it found, in order. */

export interface ListingQuery {
  prefix: string
  /** Empty: no grouping. */
  delimiter: string
  /** The most entries and groups on a page; at least one. */
  max: number
}

/** Where a page starts: after a key, or after all keys of a group that an earlier page showed. */
export type PageStart = { afterKey: string } | { afterGroup: string }

export interface Page<T> {
  entries: T[]
  groups: string[]
  /** Where the next page starts; `undefined` when this is the last. */
  next: PageStart | undefined
}

/** The group that `key` falls into: the key up to and including the first delimiter after the prefix. */
export function groupOf(key: string, prefix: string, delimiter: string): string | undefined {
  if (delimiter === '') return undefined
  const at = key.indexOf(delimiter, prefix.length)
  return at < 0 ? undefined : key.slice(0, at + delimiter.length)
}

/** A marker is a key, or a group that the previous page showed. A group stands for all its keys, so the page starts after them. */
export function startBehind(marker: string, { prefix, delimiter }: Omit<ListingQuery, 'max'>): PageStart {
  const isGroup = marker.startsWith(prefix) && groupOf(marker, prefix, delimiter) === marker
  return isGroup ? { afterGroup: marker } : { afterKey: marker }
}

/** Like `startBehind`, but without the group that the marker lies in, even if more of its keys follow: S3 lists versions like this, because a group sorts before its keys. */
export function startBehindGroup(marker: string, query: Omit<ListingQuery, 'max'>): PageStart {
  const group = marker.startsWith(query.prefix) ? groupOf(marker, query.prefix, query.delimiter) : undefined
  return group === undefined ? { afterKey: marker } : { afterGroup: group }
}

/** How many lines `pageOf` needs: one more than the page shows, to prove that it is not the last page. */
export const findsMax = ({ max }: Pick<ListingQuery, 'max'>): number => max + 1

/** What was found for a key: its entry on the page, or the name of the group that it falls into. */
export type Line<T> = T | string

/** Makes a page from lines in order of keys: at least `findsMax` entries and groups, or all that exist. A group can have any number of consecutive lines. */
export function pageOf<T extends { key: string }>(
  { max }: Pick<ListingQuery, 'max'>,
  found: Iterable<Line<T>>,
): Page<T> {
  const entries: T[] = []
  const groups: string[] = []
  let last: Line<T> | undefined
  for (const line of found) {
    const isGroup = typeof line === 'string'
    if (isGroup && line === last) continue
    if (entries.length + groups.length === max)
      return { entries, groups, next: last === undefined ? undefined : startBehindLine(last) }
    if (isGroup) groups.push(line)
    else entries.push(line)
    last = line
  }
  return { entries, groups, next: undefined }
}

function startBehindLine(line: Line<{ key: string }>): PageStart {
  return typeof line === 'string' ? { afterGroup: line } : { afterKey: line.key }
}
