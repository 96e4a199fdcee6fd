/** How a range of lmdb-js is walked: so that what one walk made is garbage when it ends. */

interface Startable<T> {
  iterate(): Iterator<T>
}

/**
 * An iterator over a range. The range's own `[Symbol.iterator]` is the same, and also keeps it in a field of the range: with a thousand walks a page,
 * cheap collections then kept most of what earlier walks had made, until V8 marked all of its heap (ADR 0015).
 */
export function iteratorOf<T>(range: Iterable<T>): Iterator<T> {
  return isStartable(range) ? range.iterate() : range[Symbol.iterator]()
}

function isStartable<T>(range: Iterable<T>): range is Iterable<T> & Startable<T> {
  return 'iterate' in range && typeof range.iterate === 'function'
}
