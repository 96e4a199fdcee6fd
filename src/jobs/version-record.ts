/** Finds the record of a version by its sequence, wherever it lies: the current version under its key, older ones in the history. */
import type { Entry, Kv } from '../kv/kv.ts'
import { historyKey, objectKey } from '../records/keyspace.ts'
import { versionCodec } from '../records/record-codecs.ts'
import type { VersionRecord } from '../records/records.ts'

export interface FoundVersion {
  entry: Entry
  record: VersionRecord
}

/** `undefined`: the version has been removed. */
export async function findVersionRecord(
  kv: Kv,
  { bucket, key, sequence }: { bucket: string; key: string; sequence: number },
): Promise<FoundVersion | undefined> {
  // Both places in one snapshot, because a version moves from one to the other.
  const entries = await kv.get([objectKey(bucket, key), historyKey(bucket, key, sequence)])
  for (const entry of entries) {
    const record = entry && versionCodec.decode(entry.key, entry.value)
    if (entry !== undefined && record?.sequence === sequence) return { entry, record }
  }
  return undefined
}
