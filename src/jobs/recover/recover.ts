/** Rebuilds the metadata from the stores: from their newest snapshot, and from shards that the snapshot does not know (ADR 0021). */
import type { Key } from '../../kv/kv.ts'
import { rangeOf } from '../../kv/ordered-key.ts'
import type { BucketRecord } from '../../records/bucket-record.ts'
import { isUsage } from '../../records/keyspace.ts'
import { everyEntry } from '../every-entry.ts'
import { checkReferences } from './check-references.ts'
import type { RecoverReport, Recovery } from './context.ts'
import { findSnapshots, keepFound, loadNewest, markKnownGarbage } from './load-snapshot.ts'
import { recoverBuckets } from './recover-buckets.ts'
import { recoverParts } from './recover-parts.ts'
import { recoverVersions } from './recover-versions.ts'

export const emptyReport = (): RecoverReport => ({
  snapshot: undefined,
  damagedSnapshots: 0,
  shardsRead: 0,
  buckets: 0,
  bucketsFromShards: 0,
  versions: 0,
  versionsFromShards: 0,
  openUploads: 0,
  unreadable: 0,
  incomplete: 0,
  unconfirmed: [],
  notRecovered: [],
})

/** Fills empty metadata. `owner`: the owner of buckets whose owner is unknown. */
export async function recover(
  recovery: Recovery,
  { isWanted, owner }: { isWanted(key: Key): boolean; owner: string },
): Promise<Map<string, BucketRecord>> {
  const { kv, stores, staging, report, advance } = recovery
  for (const store of stores) {
    await staging.readStore(store, async () => {
      report.shardsRead += 1
      advance({ done: report.shardsRead })
    })
  }
  const found = await findSnapshots(recovery)
  // What buckets hold is counted again, because versions and parts are added to those of the snapshot.
  await loadNewest(recovery, found, (key) => isWanted(key) && !isUsage(key))
  await markKnownGarbage(recovery)
  const buckets = await recoverBuckets(recovery, owner)
  await recoverVersions(recovery, buckets)
  await recoverParts(recovery, buckets)
  await keepFound(recovery, found)
  await checkReferences(recovery)
  for (const table of ['c', 'v']) {
    for await (const _ of everyEntry(kv, rangeOf(table))) report.versions += 1
  }
  return buckets
}
