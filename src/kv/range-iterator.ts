/** Iterates over a range of lmdb-js in a way that makes everything a walk allocates garbage when it ends. */

interface Startable<T> {
  iterate(): Iterator<T>
}

/**
 * Returns an iterator over a range. The range's own `[Symbol.iterator]` does the same, but also stores the iterator in a field of the range. With a
 * thousand walks per page, minor collections then kept most of what earlier walks had allocated, until V8 marked its whole heap (ADR 0015).
 */
export function iteratorOf<T>(range: Iterable<T>): Iterator<T> {
  return isStartable(range) ? range.iterate() : range[Symbol.iterator]()
}

function isStartable<T>(range: Iterable<T>): range is Iterable<T> & Startable<T> {
  return 'iterate' in range && typeof range.iterate === 'function'
}
