/** Reads a range by an engine's own walk over its entries, and steps over what a fold leaves out. Knows no engine. */
import type { Key, RangeQuery } from './kv.ts'
import { behindGroup } from './ordered-key.ts'

/**
 * The entries of a range. `walk` gives those from a key on, at most so many, one when asked for one; it is left in the middle where a group begins, and
 * started again behind it. So nothing is read that is not given.
 */
export function readRange<E extends { key: Key }>(
  { limit, fold }: Pick<RangeQuery, 'limit' | 'fold'>,
  start: Key,
  walk: (start: Key, limit: number) => Iterable<E>,
): E[] {
  const entries: E[] = []
  let next: Key | undefined = start
  while (next !== undefined && entries.length < limit) {
    const from: Key = next
    next = undefined
    for (const entry of walk(from, limit - entries.length)) {
      entries.push(entry)
      // Before the next one is asked for: a walk would have to read it.
      if (entries.length === limit) break
      next = fold && behindGroup(entry.key, fold)
      if (next !== undefined) break
    }
  }
  return entries
}
