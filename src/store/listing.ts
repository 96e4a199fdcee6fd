/** Decides what a listing page shows, key by key: prefix, delimiter groups, the page's bound. Pure: it is told keys and says where to look next. */

export interface ListingQuery {
  prefix: string
  /** Empty: no grouping. */
  delimiter: string
  /** Entries and groups a page may hold. */
  max: number
  /** A group that an earlier page showed already. */
  shownGroup?: string | undefined
}

export type Verdict =
  /** Belongs on the page by itself. */
  | { kind: 'entry' }
  /** Stands for a group: show it if it is `fresh`, and go on behind all of its keys. */
  | { kind: 'group'; group: string; fresh: boolean }
  /** The page is full, and this key proves that there is more. */
  | { kind: 'full' }

/** The group that `key` falls into: up to and with the first delimiter behind the prefix. */
export function groupOf(key: string, prefix: string, delimiter: string): string | undefined {
  if (delimiter === '') return undefined
  const at = key.indexOf(delimiter, prefix.length)
  return at < 0 ? undefined : key.slice(0, at + delimiter.length)
}

/** Judges the keys of one page. Keys come in order, each starting with the prefix. */
export class ListingPage {
  readonly #query: ListingQuery
  #count = 0
  #lastGroup: string | undefined

  constructor(query: ListingQuery) {
    this.#query = query
    this.#lastGroup = query.shownGroup
  }

  /** Entries and groups the page can still take. */
  get room(): number {
    return this.#query.max - this.#count
  }

  judge(key: string): Verdict {
    const group = groupOf(key, this.#query.prefix, this.#query.delimiter)
    if (group !== undefined && group === this.#lastGroup) return { kind: 'group', group, fresh: false }
    if (this.room <= 0) return { kind: 'full' }
    this.#count += 1
    if (group === undefined) return { kind: 'entry' }
    this.#lastGroup = group
    return { kind: 'group', group, fresh: true }
  }
}

/**
 * How many entries to read next: never more than the page can use, and with grouping little at first, because everything read behind a group's first
 * key is wasted. Doubling keeps what is wasted below what was used.
 */
export class ReadAhead {
  readonly #grouping: boolean
  #next = 1

  constructor(grouping: boolean) {
    this.#grouping = grouping
  }

  take(room: number): number {
    // One more than the page can show, to know whether it is the last.
    const useful = room + 1
    if (!this.#grouping) return useful
    const take = Math.min(useful, this.#next)
    this.#next *= 2
    return take
  }

  /** A group was met: start small again. */
  reset(): void {
    this.#next = 1
  }
}
