/** Entries in order of their keys, in memory: a list of short sorted chunks, so that no operation moves more than a chunk. */
import type { Entry, Key } from './kv.ts'

const chunkEntriesMax = 512

/** A position between entries: before the entry at `index` of a chunk, or at the chunk's end. */
interface Position {
  chunk: number
  index: number
}

export class SortedEntries {
  // No chunk is empty, except the only one of an empty list.
  readonly #chunks: Entry[][] = [[]]

  get(key: Key): Entry | undefined {
    const { chunk, index } = this.#positionOf(key)
    const found = this.#chunks[chunk]?.[index]
    return found?.key.equals(key) ? found : undefined
  }

  /** Replaces the entry with the same key. */
  put(entry: Entry): void {
    const { chunk, index } = this.#positionOf(entry.key)
    const entries = this.#chunkAt(chunk)
    const replaced = entries[index]?.key.equals(entry.key) ? 1 : 0
    entries.splice(index, replaced, entry)
    if (entries.length > chunkEntriesMax) this.#chunks.splice(chunk + 1, 0, entries.splice(chunkEntriesMax / 2))
  }

  delete(key: Key): void {
    const { chunk, index } = this.#positionOf(key)
    const entries = this.#chunkAt(chunk)
    if (!entries[index]?.key.equals(key)) return
    entries.splice(index, 1)
    if (entries.length === 0 && this.#chunks.length > 1) this.#chunks.splice(chunk, 1)
  }

  *all(): Generator<Entry> {
    for (const entries of this.#chunks) yield* entries
  }

  /** The entries with start <= key < end, from the end when `reverse`. The list must not change during the walk. */
  *walk(start: Key, end: Key, reverse: boolean): Generator<Entry> {
    for (const entry of reverse ? this.#backwardFrom(end) : this.#forwardFrom(start)) {
      if (reverse ? Buffer.compare(entry.key, start) < 0 : Buffer.compare(entry.key, end) >= 0) return
      yield entry
    }
  }

  *#forwardFrom(start: Key): Generator<Entry> {
    const { chunk, index } = this.#positionOf(start)
    const first = this.#chunkAt(chunk)
    for (let i = index; i < first.length; i++) {
      const entry = first[i]
      if (entry !== undefined) yield entry
    }
    for (let c = chunk + 1; c < this.#chunks.length; c++) yield* this.#chunkAt(c)
  }

  *#backwardFrom(end: Key): Generator<Entry> {
    const { chunk, index } = this.#positionOf(end)
    yield* this.#chunkAt(chunk).slice(0, index).reverse()
    for (let c = chunk - 1; c >= 0; c--) yield* this.#chunkAt(c).toReversed()
  }

  #chunkAt(chunk: number): Entry[] {
    const entries = this.#chunks[chunk]
    if (entries === undefined) throw new Error(`no chunk ${chunk} of ${this.#chunks.length}`)
    return entries
  }

  /** The position before the first entry whose key is at least `key`, in the last chunk whose first key is at most `key`. */
  #positionOf(key: Key): Position {
    const behind = firstIndex(this.#chunks.length, (chunk) => {
      const first = this.#chunks[chunk]?.[0]
      return first !== undefined && Buffer.compare(first.key, key) > 0
    })
    const chunk = Math.max(0, behind - 1)
    const entries = this.#chunkAt(chunk)
    const index = firstIndex(entries.length, (i) => {
      const entry = entries[i]
      return entry !== undefined && Buffer.compare(entry.key, key) >= 0
    })
    return { chunk, index }
  }
}

/** The first of `length` indexes for which `holds` is true; `length` when there is none. If it holds for one index, it must hold for all after it. */
function firstIndex(length: number, holds: (index: number) => boolean): number {
  let low = 0
  let high = length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (holds(middle)) high = middle
    else low = middle + 1
  }
  return low
}
