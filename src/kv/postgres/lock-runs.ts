/** The rows that a batch locks, in the one order in which all batches lock rows, cut into runs that one statement each can lock. Pure. */
import type { Key } from '../kv.ts'

export interface Lock<T> {
  of: T
  /** Whether the lock is exclusive. Others can share a row otherwise. */
  alone: boolean
}

/** The items from `ends[i - 1]` to `ends[i]`, without the latter, have the same kind of lock. */
export interface LockRuns<T> {
  items: T[]
  ends: number[]
  alone: boolean[]
}

/** `locks`: in order. */
export function runsOf<T>(locks: readonly Lock<T>[]): LockRuns<T> {
  const ends: number[] = []
  const alone: boolean[] = []
  for (const [number, lock] of locks.entries()) {
    if (number === 0 || lock.alone !== alone.at(-1)) {
      ends.push(number + 1)
      alone.push(lock.alone)
    } else ends[ends.length - 1] = number + 1
  }
  return { items: locks.map((lock) => lock.of), ends, alone }
}

export const byKey = (a: Lock<Key>, b: Lock<Key>): number => Buffer.compare(a.of, b.of)
export const byNumber = (a: Lock<number>, b: Lock<number>): number => a.of - b.of
