/** The entries below a prefix that are loaded so far. Pages of 1,000 load as the reader scrolls towards them. */
import { signal } from '@preact/signals'
import { type ListedObject, type ListedVersion, listObjects, listVersions, type ObjectPage } from '../api/objects.ts'
import { compareUtf8 } from './utf8-order.ts'

export type Row = { is: 'folder'; key: string } | ({ is: 'object' } & (ListedObject | ListedVersion))

/** One version of an object, or the object if the listing has no versions. */
export const rowId = (row: Row): string => ('versionId' in row ? `${row.key}\u0000${row.versionId}` : row.key)

export interface ListingOf {
  bucket: string
  prefix: string
  versions: boolean
  /** The listing includes the keys below folders. */
  flat: boolean
}

export class Listing {
  readonly of: ListingOf
  /** Counts changes. A component that reads it renders again after each. */
  readonly changed = signal(0)
  readonly loading = signal(false)
  readonly failure = signal<unknown>(undefined)
  #rows: Row[] = []
  #next: Readonly<Record<string, string>> | undefined = {}
  readonly #stopped = new AbortController()

  constructor(of: ListingOf) {
    this.of = of
  }

  get loaded(): number {
    return this.#rows.length
  }

  /** Whether every entry is loaded. */
  get isWhole(): boolean {
    return this.#next === undefined
  }

  row(index: number): Row | undefined {
    return this.#rows[index]
  }

  rows(): readonly Row[] {
    return this.#rows
  }

  /** Loads the next page, unless one is already loading. Never rejects. */
  async more(): Promise<void> {
    if (this.loading.value || this.#next === undefined) return
    this.loading.value = true
    this.failure.value = undefined
    try {
      const { versions, flat, ...of } = this.of
      const asked = { ...of, next: this.#next, signal: this.#stopped.signal, ...(flat ? {} : { delimiter: '/' }) }
      const page: ObjectPage<ListedObject | ListedVersion> = await (versions ? listVersions(asked) : listObjects(asked))
      if (this.#stopped.signal.aborted) return
      for (const row of merged(page)) this.#rows.push(row)
      this.#next = page.next
    } catch (error) {
      if (!this.#stopped.signal.aborted) this.failure.value = error
    } finally {
      this.loading.value = false
      this.changed.value += 1
    }
  }

  /** Drops a page that is still loading. */
  stop(): void {
    this.#stopped.abort()
  }
}

/** Folders and objects of a page in the order of their keys. Both come sorted by UTF-8, which differs from the order of JavaScript's strings. */
function merged({ entries, prefixes }: ObjectPage<ListedObject | ListedVersion>): Row[] {
  const folders = prefixes.map((key): Row => ({ is: 'folder', key }))
  const objects = entries.map((entry): Row => ({ is: 'object', ...entry }))
  if (folders.length === 0) return objects
  return [...folders, ...objects].sort((a, b) => compareUtf8(a.key, b.key))
}
