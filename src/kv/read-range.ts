/** Reads a range by an engine's own walk over its entries, and steps over what a fold leaves out. Knows no engine. */
import type { Key, RangeQuery } from './kv.ts'
import { behindGroup } from './ordered-key.ts'

/**
 * The entries of a range, each as `read` makes it while the walk stands at it. `walk` gives those from a key on, at most so many, each when it is asked
 * for; it is left where a group begins, and started again behind it. So nothing is read that is not given.
 */
export function readRange<E extends { key: Key }, T>(
  { limit, fold }: Pick<RangeQuery, 'limit' | 'fold'>,
  start: Key,
  walk: (start: Key, limit: number) => Iterator<E>,
  read: (entry: E) => T,
): T[] {
  const found: T[] = []
  let next: Key | undefined = start
  while (next !== undefined && found.length < limit) {
    const entries = walk(next, limit - found.length)
    next = undefined
    try {
      for (let step = entries.next(); step.done !== true; step = entries.next()) {
        found.push(read(step.value))
        // Before the next one is asked for: a walk would have to read it.
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
