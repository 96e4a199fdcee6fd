/** Entries in memory that lmdb-js reuses, and copies of them that callers own. */
import { versionOfNumber } from './entry-version.ts'
import type { Entry, Key, Version } from './kv.ts'
import { ownCopy } from './lent-memory.ts'

export interface Lent {
  key: Key
  value: Buffer
  version?: number
}

export const lentEntry = (found: Lent): Entry => ({ key: found.key, value: found.value, version: versionOf(found) })

export const ownEntry = (found: Lent): Entry => ({
  key: ownCopy(found.key),
  value: ownCopy(found.value),
  version: versionOf(found),
})

export function versionOf(found: { version?: number }): Version {
  if (found.version === undefined) throw new Error('an entry without version: the environment is not ours')
  return versionOfNumber(found.version)
}
