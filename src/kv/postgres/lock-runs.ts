/** The rows that a batch locks, in the one order in which all batches lock rows, cut into runs that one statement each can lock. Pure. */
import type { Key } from '../kv.ts'

export interface Lock<T> {
  of: T
  /** Exclusive. Otherwise others can share the row. */
  alone: boolean
}

/** `items[ends[i - 1]]` up to, and without, `items[ends[i]]` are locked alike. */
export interface LockRuns<T> {
  items: T[]
  ends: number[]
  alone: boolean[]
}

/** Of locks in order. */
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
