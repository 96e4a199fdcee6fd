/** Queues versions that are older than the rule that copies them, and versions that could not be copied before. */
import type { Backend } from '../../commits/backend.ts'
import { inTurnOfKey } from '../../commits/commit.ts'
import { replicaPut, withReplication } from '../../commits/replica-queue.ts'
import { serverScope } from '../../commits/scope.ts'
import { eachOf } from '../../each-of.ts'
import type { Put } from '../../kv/kv.ts'
import { limits } from '../../limits.ts'
import { type ListedVersion, listVersions } from '../../objects/list-versions.ts'
import type { BucketRecord } from '../../records/bucket-record.ts'
import { versionCodec } from '../../records/record-codecs.ts'
import { replicationLimits } from '../../replication-limits.ts'
import { findVersionRecord } from '../version-record.ts'
import { copiesOf, ruleOf } from './queued-version.ts'

/** Resolves with false if it ended early because the signal was aborted. */
export async function queueExisting(
  backend: Backend,
  bucket: BucketRecord,
  arn: string,
  signal: AbortSignal,
): Promise<boolean> {
  await eachOf(keysOf(backend, bucket), replicationLimits.keysAtOnce, async (versions) => {
    for (const version of versions) {
      if (signal.aborted) return
      // The copy of an older version would hide that of this one.
      if ((await queueVersion(backend, bucket, arn, version)) === 'has a copy') return
    }
  })
  return !signal.aborted
}

/** The versions of each key, the newest first. */
async function* keysOf(backend: Backend, bucket: BucketRecord): AsyncGenerator<ListedVersion[]> {
  let versions: ListedVersion[] = []
  let next: { keyMarker: string | undefined; versionIdMarker: string | undefined } | undefined = {
    keyMarker: undefined,
    versionIdMarker: undefined,
  }
  while (next !== undefined) {
    const query = { prefix: '', delimiter: '', max: limits.listKeysMax, ...next }
    const { page } = await listVersions(backend, serverScope(bucket.name), query)
    for (const version of page.entries) {
      if (versions[0]?.key !== version.key && versions.length > 0) {
        yield versions
        versions = []
      }
      versions.push(version)
    }
    next = page.next
  }
  if (versions.length > 0) yield versions
}

function queueVersion(
  backend: Backend,
  bucket: BucketRecord,
  arn: string,
  { key, version: { sequence } }: ListedVersion,
): Promise<'has a copy' | 'done'> {
  return inTurnOfKey(backend, bucket.name, key, async () => {
    for (;;) {
      const found = await findVersionRecord(backend.kv, { bucket: bucket.name, key, sequence })
      if (found === undefined) return 'done'
      const { entry, record } = found
      if (copiesOf(record)?.[arn] !== undefined) return 'has a copy'
      const isReplica = record.kind === 'object' && record.attributes.replication?.status === 'REPLICA'
      if (isReplica || ruleOf(bucket, arn, key, record)?.existing !== true) return 'done'
      const puts: Put[] = [replicaPut(backend.clock, bucket, arn, { key, sequence })]
      if (record.kind === 'object') {
        const waiting = withReplication(record, { status: 'PENDING', copies: copiesOf(record) })
        puts.push({ key: entry.key, value: versionCodec.encode(entry.key, waiting) })
      }
      if (await backend.kv.commit({ grows: true, checks: [{ key: entry.key, version: entry.version }], puts })) {
        return 'done'
      }
    }
  })
}
