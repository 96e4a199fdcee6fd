/** What a batch of commits does within one transaction of LMDB: checks, then writes, in order. Knows nothing of how the transaction is begun or ended. */
import { rangeBounds } from './bounds.ts'
import { numberOfVersion } from './entry-version.ts'
import type { DigestTally } from './integrity/tree-digest.ts'
import type { Check, Commit, Key, Put, Version } from './kv.ts'
import { iteratorOf } from './range-iterator.ts'

/** Of lmdb-js, within a write transaction. Each throws when LMDB does. */
export interface Transaction {
  getEntry(key: Key): { version?: number } | undefined
  doesExist(key: Key, version?: number): boolean
  getKeys(range: { start: Key; end: Key; limit: number }): Iterable<Key>
  put(key: Key, value: Buffer, version: number): unknown
  remove(key: Key): unknown
}

type VersionCheck = Extract<Check, { version: Version }>

/**
 * Applies each commit whose checks hold, and says which did. Checks see the commits before. Values get versions from `firstVersion` on, one for each
 * commit. Throws only when LMDB does, and then LMDB has marked the transaction as failed: it refuses to commit any of it, although lmdb-js rolls nothing
 * back by itself. `tally` learns what was written in place of what.
 */
export function applyInOrder(
  transaction: Transaction,
  commits: readonly Commit[],
  firstVersion: number,
  tally: DigestTally,
): boolean[] {
  // Most commits check the same bucket first: what was found to hold does so until it is written.
  let held: VersionCheck | undefined
  const stillHolds = (check: Check, place: number): boolean => {
    if (held !== undefined && isSameVersion(held, check)) return true
    if (!holds(transaction, check)) return false
    if (place === 0 && 'version' in check) held = check
    return true
  }
  const beforeWriting = (key: Key): void => {
    if (held !== undefined && isSameKey(held.key, key)) held = undefined
  }
  return commits.map(({ checks = [], puts = [], deletes = [] }, i) => {
    if (!checks.every(stillHolds)) return false
    for (const [place, { key, value }] of puts.entries()) {
      beforeWriting(key)
      const version = mayBeAmong(puts, place, key)
        ? versionOf(transaction, key)
        : versionFound(transaction, checks, key)
      tally.replace(key, version, firstVersion + i)
      transaction.put(key, value, firstVersion + i)
    }
    for (const [place, key] of deletes.entries()) {
      beforeWriting(key)
      const isFirst = place === 0 && !mayBeAmong(puts, puts.length, key)
      const version = isFirst ? versionFound(transaction, checks, key) : versionOf(transaction, key)
      if (version === undefined) continue
      tally.replace(key, version, undefined)
      transaction.remove(key)
    }
    return true
  })
}

/** The version that a write replaces: as a check of the same commit has found it, which holds until the commit itself writes the key, or by a look. */
function versionFound(transaction: Transaction, checks: readonly Check[], key: Key): number | undefined {
  if (checks.length > fewChecks) return versionOf(transaction, key)
  for (const check of checks) {
    if (!('key' in check) || !isSameKey(check.key, key)) continue
    return 'version' in check ? numberOfVersion(check.version) : undefined
  }
  return versionOf(transaction, key)
}

/** To look through more than a few costs as much as to look the key up. */
const fewPuts = 8
const fewChecks = 8

/** Whether one of the first `count` puts writes the key; also when that is not known. */
function mayBeAmong(puts: readonly Put[], count: number, key: Key): boolean {
  if (count >= fewPuts) return true
  for (let i = 0; i < count; i++) {
    const put = puts[i]
    if (put !== undefined && isSameKey(put.key, key)) return true
  }
  return false
}

/** Most keys differ in length: to compare their bytes is a native call. */
function isSameKey(one: Key, other: Key): boolean {
  return one === other || (one.length === other.length && one.equals(other))
}

function versionOf(transaction: Transaction, key: Key): number | undefined {
  return transaction.getEntry(key)?.version
}

function isSameVersion(held: VersionCheck, check: Check): boolean {
  return 'version' in check && check.version === held.version && isSameKey(check.key, held.key)
}

function holds(transaction: Transaction, check: Check): boolean {
  if ('version' in check) return transaction.doesExist(check.key, numberOfVersion(check.version))
  if ('absent' in check) return !transaction.doesExist(check.key)
  const bounds = rangeBounds({ start: check.emptyFrom, end: check.emptyTo })
  return bounds === undefined || isEmpty(transaction.getKeys({ ...bounds, limit: 1 }))
}

export function isEmpty(keys: Iterable<Key>): boolean {
  const entries = iteratorOf(keys)
  try {
    return entries.next().done === true
  } finally {
    entries.return?.()
  }
}
