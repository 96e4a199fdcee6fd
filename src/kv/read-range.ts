/** Reads a range by an engine's own walk over its entries, and skips the entries that a fold leaves out. Knows no engine. */
import type { Key, RangeQuery } from './kv.ts'
import { behindGroup } from './ordered-key.ts'

/**
 * The entries of a range, each mapped by `read` while the walk is at it. `walk` yields the entries from a key on, lazily. After the first
 * entry of a group, a new walk starts after the group, so only entries that are returned are read.
 */
export function readRange<E extends { key: Key }, T>(
  { limit, fold }: Pick<RangeQuery, 'limit' | 'fold'>,
  start: Key,
  walk: (start: Key) => Iterator<E>,
  read: (entry: E) => T,
): T[] {
  const found: T[] = []
  let next: Key | undefined = start
  while (next !== undefined && found.length < limit) {
    const entries = walk(next)
    next = undefined
    try {
      for (let step = entries.next(); step.done !== true; step = entries.next()) {
        found.push(read(step.value))
        // Stop before the walk reads an entry that is not wanted.
        if (found.length === limit) break
        next = fold && behindGroup(step.value.key, fold)
        if (next !== undefined) break
      }
    } finally {
      entries.return?.()
    }
  }
  return found
}
