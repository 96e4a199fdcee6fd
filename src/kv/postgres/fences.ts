/**
 * Which fences stand around a key. A commit that needs a range to be empty takes the fences of the range alone; one that may add a key shares the key's fence. So
 * no key comes into a range between the look at it and the commit, and commits of different buckets don't wait for each other. Pure.
 */
import { crc32 } from 'node:zlib'
import type { Key } from '../kv.ts'

/** Rows of the table of fences. More of them would make a commit that takes all slower, fewer would make strangers wait for each other. */
export const fenceCount = 128

/** A tuple's first two elements are a table and mostly a bucket: what ends with the second NUL that is not a count. `undefined`: the key has fewer. */
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

/** Of all keys k with start <= k < end. `all`: any fence may be one of them. */
export function fencesOf(start: Key, end: Key): number | 'all' {
  const part = partBytes(start)
  if (part === undefined) return 'all'
  return end.length >= part && start.compare(end, 0, part, 0, part) === 0 ? fenceOfPart(start.subarray(0, part)) : 'all'
}
