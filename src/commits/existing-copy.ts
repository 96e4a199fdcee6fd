/** Finds the copy of a version of another bucket that a key has already. A replica is sent again when its answer got lost, and the first request can still be under way. */
import type { Kv } from '../kv/kv.ts'
import { historyOf } from '../records/keyspace.ts'
import { versionCodec } from '../records/record-codecs.ts'
import type { VersionRecord } from '../records/records.ts'
import { isCopyOf } from '../records/version-id.ts'
import { replicationLimits } from '../replication-limits.ts'
import type { KeyHistory } from './key-history.ts'

/**
 * `original`: the id that the copy names. Versions that were copied later can lie on top of it: a request that was held up, for instance in a process that stood still, would
 * bring an old version back as the newest. Looks no further down than a few. The caller's commit must check `history`.
 */
export async function findCopy(
  kv: Pick<Kv, 'range'>,
  { bucket, key, versions: { current } }: KeyHistory,
  original: string,
): Promise<VersionRecord | undefined> {
  if (current !== undefined && copies(current, original)) return current
  const below = await kv.range({ ...historyOf(bucket.record.name, key), limit: replicationLimits.copiesLookedAt })
  return below.map((entry) => versionCodec.decode(entry.key, entry.value)).find((version) => copies(version, original))
}

function copies(version: VersionRecord, original: string): boolean {
  if (version.kind === 'marker') return isCopyOf(version, original)
  const { replication } = version.attributes
  return replication?.status === 'REPLICA' && replication.of === original
}
