/** Applies a batch of commits within one LMDB transaction: checks, then writes, in order. Does not begin or end the transaction. */
import { rangeBounds } from './bounds.ts'
import { numberOfVersion } from './entry-version.ts'
import type { DigestTally } from './integrity/tree-digest.ts'
import type { Check, Commit, Key, Put, Version } from './kv.ts'
import { iteratorOf } from './range-iterator.ts'

/** The part of lmdb-js that works within a write transaction. Each method throws when LMDB fails. */
export interface Transaction {
  getEntry(key: Key): { version?: number } | undefined
  doesExist(key: Key, version?: number): boolean
  getKeys(range: { start: Key; end: Key; limit: number }): Iterable<Key>
  put(key: Key, value: Buffer, version: number): unknown
  remove(key: Key): unknown
}

type VersionCheck = Extract<Check, { version: Version }>

/**
 * Applies each commit whose checks hold, and returns which did. Checks see the commits before them. Each commit gets its own version, counted from
 * `firstVersion`. Throws only when LMDB fails; LMDB has then marked the transaction as failed and refuses to commit any of it, although lmdb-js itself
 * rolls nothing back. `tally` records which version each write replaces.
 */
export function applyInOrder(
  transaction: Transaction,
  commits: readonly Commit[],
  firstVersion: number,
  tally: DigestTally,
): boolean[] {
  // Most commits check the same bucket first. A check that held still holds until its key is written.
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

/** The version that a write replaces: from a check of the same commit, which holds until the commit itself writes the key; otherwise looked up. */
function versionFound(transaction: Transaction, checks: readonly Check[], key: Key): number | undefined {
  if (checks.length > fewChecks) return versionOf(transaction, key)
  for (const check of checks) {
    if (!('key' in check) || !isSameKey(check.key, key)) continue
    return 'version' in check ? numberOfVersion(check.version) : undefined
  }
  return versionOf(transaction, key)
}

/** Searching more puts than this costs as much as looking the key up. */
const fewPuts = 8
const fewChecks = 8

/** Whether one of the first `count` puts writes the key. True, too, when there are too many to search. */
function mayBeAmong(puts: readonly Put[], count: number, key: Key): boolean {
  if (count >= fewPuts) return true
  for (let i = 0; i < count; i++) {
    const put = puts[i]
    if (put !== undefined && isSameKey(put.key, key)) return true
  }
  return false
}

/** Compares lengths first, because most keys differ there and comparing bytes is a native call. */
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
