/** Decides what a listing page shows: groups by delimiter, the page's bound, where the next one starts. Pure: the caller passes what was found, in order. */

export interface ListingQuery {
  prefix: string
  /** Empty: no grouping. */
  delimiter: string
  /** Entries and groups a page may hold; at least one. */
  max: number
}

/** Where a page starts: behind a key, or behind all keys of a group that an earlier page showed. */
export type PageStart = { afterKey: string } | { afterGroup: string }

export interface Page<T> {
  entries: T[]
  groups: string[]
  /** Where the next page starts; `undefined` when this is the last. */
  next: PageStart | undefined
}

/** The group that `key` falls into: up to and with the first delimiter behind the prefix. */
export function groupOf(key: string, prefix: string, delimiter: string): string | undefined {
  if (delimiter === '') return undefined
  const at = key.indexOf(delimiter, prefix.length)
  return at < 0 ? undefined : key.slice(0, at + delimiter.length)
}

/** A marker is a key, or a group that the page before showed: then all keys in it have been shown. */
export function startBehind(marker: string, { prefix, delimiter }: Omit<ListingQuery, 'max'>): PageStart {
  const isGroup = marker.startsWith(prefix) && groupOf(marker, prefix, delimiter) === marker
  return isGroup ? { afterGroup: marker } : { afterKey: marker }
}

/** How much a reader must find for `pageOf` to fill a page: one more than it shows proves that it is not the last. */
export const findsMax = ({ max }: Pick<ListingQuery, 'max'>): number => max + 1

/** What was found for a key: what a page shows of it, or the group that it stands for. */
export type Line<T> = T | string

/** The page made of what was found, in order of keys: `findsMax` lines or more, or all there are. A group may have any number of lines, one after the other. */
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
