/**
 * The quarantine of orphans: shards that no record was found to reference. To find nothing proves nothing (a flipped bit in the metadata hides records), so
 * they wait, can be listed, and are only given up after a check of all metadata that began once they were here and found nothing wrong.
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
