/** `holdfast recover`: rebuilds lost metadata from what the stores hold. */

import { rootAccount } from '../../config/accounts.ts'
import { type RecoveredMetadata, type RecoveryOptions, recoverMetadata } from '../../opening/filling/open-recovery.ts'
import type { TaskProgress } from '../../records/records.ts'
import { audited } from '../audited-command.ts'
import type { Invocation } from '../command.ts'
import { counted } from '../counted.ts'
import { exitOnFatal, openCommandLog } from '../log.ts'
import { openProgress } from '../tasks/progress.ts'

export async function recover(invocation: Invocation): Promise<number> {
  const { configuration, json, print } = invocation
  const log = openCommandLog(configuration, { json })
  const progress = openProgress({ label: 'recover', json, print })
  let at: TaskProgress = { done: 0, unit: 'blobs', counts: {} }
  const filling: RecoveryOptions = {
    path: configuration.data,
    metadata: configuration.metadata,
    placement: configuration.placement,
    owner: configuration.accounts[0]?.id ?? rootAccount.id,
    graceMs: configuration.reclaimGraceMs,
    onFatal: (error) => exitOnFatal(log, error),
    warn: (message) => log.warn(message),
    advance: ({ done = at.done, counts }) => {
      at = { ...at, done, counts: { ...at.counts, ...counts } }
      progress.show(at)
    },
  }
  const entry = { operation: 'RecoverMetadata', target: {} }
  const report = await audited(invocation, entry, () => recoverMetadata(filling))
  progress.end(at)
  if (json) print(JSON.stringify({ event: 'recovered', ...report }))
  else for (const line of linesOf(report)) print(line)
  return 0
}

function linesOf(report: RecoveredMetadata): string[] {
  const { snapshot, damagedSnapshots, storesMissing, unreadable, incomplete, notRecovered, unconfirmed } = report
  return [
    snapshot === undefined
      ? 'no snapshot of the metadata was found: all comes from shards'
      : `snapshot of ${new Date(snapshot.createdMs).toISOString()}: ${counted(snapshot.entries, 'record')}`,
    ...(damagedSnapshots > 0 ? [`${counted(damagedSnapshots, 'newer snapshot')} could not be read`] : []),
    `${counted(report.shardsRead, 'shard')} read in ${report.storesRead.join(', ')}`,
    ...storesMissing.map(({ name, reason }) => `store ${name} was not read: ${reason}`),
    `${counted(report.buckets, 'bucket')}, ${report.bucketsFromShards} of them known from shards alone`,
    `${counted(report.versions, 'version')}, ${report.versionsFromShards} of them newer than the snapshot`,
    `${counted(report.openUploads, 'upload')} open again`,
    `${unreadable} listed whose data is not there; ${counted(incomplete, 'blob')} with too few shards`,
    ...notRecovered.map((what) => `  ${what}`),
    ...unconfirmed.map(
      (bucket) => `bucket ${bucket} admits only its owner's own key until \`holdfast access confirm ${bucket}\``,
    ),
  ]
}
