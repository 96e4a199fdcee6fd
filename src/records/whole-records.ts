/** Checks by its checksum alone whether a record is what was written under its key. */
import type { Key } from '../kv/kv.ts'
import { isIndexKey } from './keyspace.ts'
import { RecordDamaged, secondFormat, unseal } from './record-format.ts'

export function isWholeRecord(key: Key, value: Buffer): boolean {
  if (value.length === 0) return isIndexKey(key)
  try {
    unseal(key, value, secondFormat)
    return true
  } catch (error) {
    if (error instanceof RecordDamaged) return false
    throw error
  }
}
