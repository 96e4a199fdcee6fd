/**
 * Maps keys and ranges to fences, which are rows to lock. A commit that needs a range to be empty locks the range's fence exclusively; a commit that can add a key
 * shares the key's fences. So no key enters a range between its check and the commit. There are two levels: groups (a table and a bucket) and, in tables that have
 * one, the next element (an object's key), so that a commit that needs one key's history to be empty stops nobody else in the bucket. Pure.
 */
import { crc32 } from 'node:zlib'
import type { Key } from '../kv.ts'
import { endOfPrefix } from '../ordered-key.ts'

/** Fences of groups. More would slow down a commit that locks all of them; fewer would make more unrelated commits wait for each other. */
export const groupFences = 128
/** Fences within groups. Nothing ever locks all of them, and a batch can lock hundreds exclusively, so there are many. */
const innerFences = 16_384
export const fenceCount = groupFences + innerFences

export interface Fences {
  shared: readonly number[]
  exclusive: readonly number[]
}

interface Prefixes {
  /** The first two elements, or the whole key if it has fewer. */
  group: Buffer
  isWholeGroup: boolean
  /** The first three elements. */
  inner: Buffer | undefined
}

/** An element ends with a NUL that is not a count. What matters is only that the prefixes of a key are those of every longer key. */
function prefixesOf(key: Key): Prefixes {
  const first = key.indexOf(0)
  const second = first < 0 ? -1 : key.indexOf(0, first + 2)
  if (second < 0) return { group: key, isWholeGroup: false, inner: undefined }
  const third = key.indexOf(0, second + 2)
  return {
    group: key.subarray(0, second + 1),
    isWholeGroup: true,
    inner: third < 0 ? undefined : key.subarray(0, third + 1),
  }
}

const fenceOfGroup = (group: Buffer): number => crc32(group) % groupFences
const fenceWithin = (inner: Buffer): number => groupFences + (crc32(inner) % innerFences)

/** The fences that a commit shares when it can add the key. */
export function fencesOfKey(key: Key): number[] {
  const { group, inner } = prefixesOf(key)
  return inner === undefined ? [fenceOfGroup(group)] : [fenceOfGroup(group), fenceWithin(inner)]
}

/** The fences that a commit locks when it needs that no key k with start <= k < end exists. */
export function fencesOfRange(start: Key, end: Key): Fences {
  const { group, isWholeGroup, inner } = prefixesOf(start)
  const isWithin = (prefix: Buffer): boolean => end.compare(endOfPrefix(prefix)) <= 0
  if (inner !== undefined && isWithin(inner)) return { shared: [fenceOfGroup(group)], exclusive: [fenceWithin(inner)] }
  if (isWholeGroup && isWithin(group)) return { shared: [], exclusive: [fenceOfGroup(group)] }
  return { shared: [], exclusive: allGroups }
}

const allGroups = Array.from({ length: groupFences }, (_, number) => number)
