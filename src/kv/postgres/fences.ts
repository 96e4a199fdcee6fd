/**
 * Maps keys and ranges to fences, which are rows to lock. A commit that needs a range to be empty locks the range's fences exclusively; a commit that can add a key
 * shares the key's fence. So no key enters a range between its check and the commit, and commits of different buckets rarely wait for each other. Pure.
 */
import { crc32 } from 'node:zlib'
import type { Key } from '../kv.ts'

/** Rows in the table of fences. More would slow down a commit that locks all of them; fewer would make more unrelated commits wait for each other. */
export const fenceCount = 128

/** The length of a tuple's first two elements, a table and usually a bucket: up to the second NUL that is not a count. `undefined`: the key has fewer elements. */
function partBytes(key: Key): number | undefined {
  const first = key.indexOf(0)
  if (first < 0) return undefined
  const second = key.indexOf(0, first + 2)
  return second < 0 ? undefined : second + 1
}

const fenceOfPart = (part: Buffer): number => crc32(part) % fenceCount

export function fenceOf(key: Key): number {
  return fenceOfPart(key.subarray(0, partBytes(key) ?? key.length))
}

/** The fence of all keys k with start <= k < end. `all`: the keys can have any fence. */
export function fencesOf(start: Key, end: Key): number | 'all' {
  const part = partBytes(start)
  if (part === undefined) return 'all'
  return end.length >= part && start.compare(end, 0, part, 0, part) === 0 ? fenceOfPart(start.subarray(0, part)) : 'all'
}
