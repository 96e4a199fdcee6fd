/**
 * The quarantine of orphans: shards for which no referencing record was found. Finding no record proves nothing, because a flipped bit in the metadata hides
 * records. So orphans wait here, where an operator can list them, and are given up only after a check of all metadata that began later and found no damage.
 */
import { timeOfId, timeOrderedId } from '../clock.ts'
import type { Entry, Key, Put, Version } from '../kv/kv.ts'
import { orphanIdOf, orphanKey } from '../records/keyspace.ts'
import { orphanCodec } from '../records/record-codecs.ts'
import type { OrphanRecord } from '../records/records.ts'
import type { Backend } from './backend.ts'

export function orphanPut(backend: Pick<Backend, 'clock'>, record: OrphanRecord): Put {
  const key = orphanKey(timeOrderedId(backend.clock))
  return { key, value: orphanCodec.encode(key, record) }
}

export interface FoundOrphan extends OrphanRecord {
  dbKey: Key
  version: Version
  sinceMs: number
}

export function readOrphan({ key, value, version }: Entry): FoundOrphan {
  return { ...orphanCodec.decode(key, value), dbKey: key, version, sinceMs: timeOfId(orphanIdOf(key)) }
}
