/** Assertions that every engine makes about its arguments before it touches data. A failure is a bug of ours, never a client's fault. */
import { limits } from '../limits.ts'
import { digestKey } from './integrity/tree-digest.ts'
import type { Commit, Key, RangeQuery } from './kv.ts'
import { endOfPrefix } from './ordered-key.ts'

export function assertKey(key: Key): void {
  if (key.length === 0 || key.length > limits.kvKeyBytesMax) throw new Error(`a key of ${key.length} bytes`)
  if (isBehindAll(key)) throw new Error('a key behind all that there may be')
}

/** Whether the key is the engine's own record, or sorts after it. */
function isBehindAll(key: Key): boolean {
  return key[0] === 0xff && Buffer.compare(key, digestKey) >= 0
}

/** Engines call this before the first write of a commit, because a later error could leave half of it. */
export function assertCommit({ checks = [], puts = [], deletes = [] }: Commit): void {
  for (const check of checks) if ('key' in check) assertKey(check.key)
  for (const key of deletes) assertKey(key)
  for (const { key, value } of puts) {
    assertKey(key)
    if (value.length > limits.kvValueBytesMax) throw new Error(`a value of ${value.length} bytes`)
  }
}

/**
 * Clients choose markers, so a bound can be longer than a key, which an engine may not accept. Cuts such a bound to a key at the same position among
 * all keys. `undefined` when the range can hold nothing.
 */
export function rangeBounds({
  start,
  end,
  reverse,
  fold,
}: Pick<RangeQuery, 'start' | 'end' | 'reverse' | 'fold'>): { start: Key; end: Key } | undefined {
  if (fold !== undefined && reverse === true) throw new Error('a range that folds goes forward')
  if (fold?.delimiter.length === 0) throw new Error('a range folded at nothing')
  const bounds = { start: asKeyBound(start), end: asKeyBound(end) }
  return Buffer.compare(bounds.start, bounds.end) < 0 ? bounds : undefined
}

function asKeyBound(bound: Buffer): Buffer {
  // The cut bound has the greatest length of a key, so it is a prefix of no other key, and it sorts before the long bound.
  if (isBehindAll(bound)) return digestKey
  return bound.length > limits.kvKeyBytesMax ? endOfPrefix(bound.subarray(0, limits.kvKeyBytesMax)) : bound
}
