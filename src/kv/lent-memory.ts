/** Views of memory that an engine lends with each read and overwrites with the next. */

/** Longer values are rare, so their views are not kept. */
const lentBytesKept = 4096

/**
 * lmdb-js returns keys and values in memory that it reuses and that is longer than its `length` says. Returns a view of exactly the bytes read, which
 * the next entry overwrites. Views are kept by length, because making one takes as long as reading the entry.
 */
export function lending(): (shared: Buffer, start: number, end: number) => Buffer {
  let memory: Buffer | undefined
  let memoryStart = 0
  let views: (Buffer | undefined)[] = []
  return (shared, start, end) => {
    const length = end - start
    if (length > lentBytesKept) return shared.subarray(start, end)
    if (shared !== memory || start !== memoryStart) {
      memory = shared
      memoryStart = start
      views = new Array(lentBytesKept + 1)
    }
    const known = views[length]
    if (known !== undefined) return known
    const view = shared.subarray(start, end)
    views[length] = view
    return view
  }
}

/** Uses Node's buffer pool. */
export function ownCopy(lent: Buffer): Buffer {
  const own = Buffer.allocUnsafe(lent.length)
  own.set(lent)
  return own
}
