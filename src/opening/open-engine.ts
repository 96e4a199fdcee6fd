/** Opens the metadata engine of a data directory, and tells it how to verify the records of each room. */
import { isSealed, systemPrefix } from '../instance/sealed-record.ts'
import type { Key, Kv } from '../kv/kv.ts'
import { type LmdbOptions, openLmdb } from '../kv/lmdb.ts'
import { isWholeRecord } from '../records/whole-records.ts'

/** Throws `MetadataDamaged`. */
export function openEngine(options: Omit<LmdbOptions, 'isWhole'>): Promise<Kv> {
  return openLmdb({ ...options, isWhole })
}

function isWhole(key: Key, value: Buffer): boolean {
  const isSystem = key.subarray(0, systemPrefix.length).equals(systemPrefix)
  return isSystem ? isSealed(key, value) : isWholeRecord(key, value)
}
