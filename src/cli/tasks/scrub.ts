/** `holdfast scrub`: reads and verifies every shard, repairs what is damaged, and reports what is lost. */

import { quarantined } from '../../jobs/orphans/release-orphans.ts'
import { type FoundLost, lostBlobs } from '../../jobs/repairing/repair.ts'
import { scrubKind, scrubTask } from '../../jobs/repairing/scrub.ts'
import { cancelTask, type TaskRecord } from '../../jobs/tasks/tasks.ts'
import { type CheckReport, isClean } from '../../kv/kv.ts'
import type { Invocation } from '../command.ts'
import { counted } from '../counted.ts'
import { withMetadata } from '../stopped-data.ts'
import { askedRate } from './asked-rate.ts'
import { formatBytes } from './progress.ts'
import { runTask } from './run-task.ts'

const task = { kind: scrubKind, name: '' }

export async function scrub(invocation: Invocation): Promise<number> {
  const { extra, json, print } = invocation
  if (extra.cancel === true) return cancel(invocation)
  const rate = askedRate(invocation)
  // The metadata comes first, because the scrub reads only what it lists.
  const { metadata, tell } = await checkMetadata(invocation)
  if (metadata.damage !== undefined) {
    tell()
    return 1
  }
  const record = await runTask(
    invocation,
    { ...task, arguments: rate, restart: extra.restart === true },
    // No rate limit without a server, because no requests wait for the disks.
    scrubTask({ bytesPerSecond: undefined }),
  )
  const { state, reason, progress } = record
  tell()
  await printLost(invocation)
  const { done, counts } = progress
  if (json) print(JSON.stringify({ event: 'scrubbed', state, reason, bytes: done, ...counts }))
  else print(summaryOf(record))
  const isWhole = ['degraded', 'lost', 'unreachable'].every((name) => (counts[name] ?? 0) === 0)
  return state === 'done' && isWhole && isClean(metadata) ? 0 : 1
}

/** Checks in this process, even while a server runs. The server learns of any damage. */
function checkMetadata(invocation: Invocation): Promise<{ metadata: CheckReport; tell(): void }> {
  return withMetadata(invocation, async ({ kv }) => {
    const metadata = await kv.integrity.check()
    let orphans = 0
    for await (const _ of quarantined({ kv })) orphans++
    return { metadata, tell: () => reportMetadata(invocation, metadata, orphans) }
  })
}

function reportMetadata({ json, print }: Invocation, metadata: CheckReport, orphans: number): void {
  const { entries, damagedRecords, damagedKeys, damage } = metadata
  if (json) print(JSON.stringify({ event: 'metadata', entries, damagedRecords, damagedKeys, damage, orphans }))
  else if (damage !== undefined) print(`the metadata is damaged, and nothing is written to it any more: ${damage}`)
  else {
    print(
      `checked ${counted(entries, 'record')} of metadata: ${damagedRecords} damaged; ${counted(orphans, 'orphan')} in quarantine`,
    )
    for (const key of damagedKeys) print(`damaged record: ${key}`)
  }
}

function summaryOf({ state, reason, progress: { done, counts } }: TaskRecord): string {
  const count = (name: string): number => counts[name] ?? 0
  const end = { done: 'scrubbed', cancelled: 'cancelled; so far', failed: `failed: ${reason}; so far` }
  const unreachable = count('unreachable') === 0 ? '' : `; ${count('unreachable')} not verified: a store is out of use`
  const pieces = count('snapshotPieces') === 0 ? '' : `, ${count('snapshotPieces')} of metadata snapshots`
  return [
    `${end[state === 'failed' || state === 'cancelled' ? state : 'done']} ${formatBytes(done)} in ${counted(count('checked'), 'blob')}${pieces}:`,
    `${count('damaged')} damaged, ${count('repaired')} repaired, ${count('degraded')} to be repaired, ${count('lost')} lost${unreachable}`,
  ].join(' ')
}

/** Prints everything that is lost, including what an earlier scrub or a read found. */
function printLost(invocation: Invocation): Promise<void> {
  const { json, print } = invocation
  return withMetadata(invocation, async ({ kv }) => {
    for await (const found of lostBlobs(kv)) {
      print(json ? JSON.stringify({ event: 'lost', ...objectOf(found), sinceMs: found.lost.sinceMs }) : lineOf(found))
    }
  })
}

function objectOf({ owner, lost }: FoundLost): Record<string, string | number | undefined> {
  if (owner.kind === 'snapshot') return { snapshotId: owner.id, piece: owner.piece }
  const part = owner.kind === 'part' ? { uploadId: owner.uploadId, partNumber: owner.number } : {}
  return { ...lost.object, ...part }
}

function lineOf({ owner, lost }: FoundLost): string {
  if (owner.kind === 'snapshot') return `lost: piece ${owner.piece} of metadata snapshot ${owner.id}`
  const { bucket, key, versionId } = lost.object ?? {}
  const part = owner.kind === 'part' ? [`part ${owner.number} of upload ${owner.uploadId}`] : []
  const version = versionId === undefined || versionId === 'null' ? [] : [`version ${versionId}`]
  return ['lost:', ...(bucket === undefined ? [] : [`${bucket}/${key}`]), ...version, ...part].join(' ')
}

async function cancel(invocation: Invocation): Promise<number> {
  const cancelled = await withMetadata(invocation, (metadata) => cancelTask(metadata, task))
  if (invocation.json) invocation.print(JSON.stringify({ event: 'cancelled', cancelled }))
  else invocation.print(cancelled ? 'cancelled; the next scrub goes on from there' : 'no scrub is under way')
  return cancelled ? 0 : 1
}
