/** Memory that an engine lends with what it read, and takes back with the next read. */

/** Longer ones are few. */
const lentBytesKept = 4096

/**
 * lmdb-js shows keys and values in memory that it reuses, and that is longer than its `length` says. Gives views of just what it shows, which the next
 * entry will have changed, and keeps them by their length: to make a view takes as long as to read the entry.
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

/** Through Node's buffer pool. */
export function ownCopy(lent: Buffer): Buffer {
  const own = Buffer.allocUnsafe(lent.length)
  own.set(lent)
  return own
}
