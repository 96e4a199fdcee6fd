/** What a batch of commits does within one transaction of LMDB: checks, then writes, in order. Knows nothing of how the transaction is begun or ended. */
import { rangeBounds } from './bounds.ts'
import type { Check, Commit, Key } from './kv.ts'
import { iteratorOf } from './range-iterator.ts'

/** Of lmdb-js, within a write transaction. Each throws when LMDB does. */
export interface Transaction {
  doesExist(key: Key, version?: number): boolean
  getKeys(range: { start: Key; end: Key; limit: number }): Iterable<Key>
  put(key: Key, value: Buffer, version: number): unknown
  remove(key: Key): unknown
}

type VersionCheck = Extract<Check, { version: number }>

/**
 * Applies each commit whose checks hold, and says which did. Checks see the commits before. Values get versions from `firstVersion` on, one for each
 * commit. Throws only when LMDB does, and then LMDB has marked the transaction as failed: it refuses to commit any of it, although lmdb-js rolls nothing
 * back by itself.
 */
export function applyInOrder(transaction: Transaction, commits: readonly Commit[], firstVersion: number): boolean[] {
  // Most commits check the same bucket first: what was found to hold does so until it is written.
  let held: VersionCheck | undefined
  const stillHolds = (check: Check, place: number): boolean => {
    if (held !== undefined && isSameVersion(held, check)) return true
    if (!holds(transaction, check)) return false
    if (place === 0 && 'version' in check) held = check
    return true
  }
  const beforeWriting = (key: Key): void => {
    if (held?.key.equals(key)) held = undefined
  }
  return commits.map(({ checks = [], puts = [], deletes = [] }, i) => {
    if (!checks.every(stillHolds)) return false
    for (const { key, value } of puts) {
      beforeWriting(key)
      transaction.put(key, value, firstVersion + i)
    }
    for (const key of deletes) {
      beforeWriting(key)
      transaction.remove(key)
    }
    return true
  })
}

/** Keys by their memory, not their bytes. */
function isSameVersion(held: VersionCheck, check: Check): boolean {
  return 'version' in check && check.key === held.key && check.version === held.version
}

function holds(transaction: Transaction, check: Check): boolean {
  if ('version' in check) return transaction.doesExist(check.key, check.version)
  if ('absent' in check) return !transaction.doesExist(check.key)
  const bounds = rangeBounds({ start: check.emptyFrom, end: check.emptyTo })
  return bounds === undefined || isEmpty(transaction.getKeys({ ...bounds, limit: 1 }))
}

function isEmpty(keys: Iterable<Key>): boolean {
  const entries = iteratorOf(keys)
  try {
    return entries.next().done === true
  } finally {
    entries.return?.()
  }
}
