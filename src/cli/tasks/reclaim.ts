/** `holdfast reclaim`: runs the background jobs once. A running server does it; if there is none, this process does. */

import { z } from 'zod'
import { ConfigurationError } from '../../config/configuration-error.ts'
import { InstanceInUse } from '../../instance/instance-lock.ts'
import { type JobsReport, startJobs } from '../../jobs/runner.ts'
import type { TaskProgress } from '../../jobs/tasks/tasks.ts'
import { AdminRefused } from '../admin/admin-client.ts'
import type { Invocation } from '../command.ts'
import { counted } from '../counted.ts'
import { MembersAtWork } from '../maintainer-post.ts'
import { withStoppedData } from '../stopped-data.ts'
import { formatBytes, openProgress } from './progress.ts'
import { runServerTask } from './server-task.ts'

export async function reclaim(invocation: Invocation): Promise<number> {
  const { json, print } = invocation
  const report = await reportOf(invocation)
  if (report === undefined) return 1
  print(json ? JSON.stringify({ event: 'reclaimed', ...report }) : reportLine(report))
  return report.metadataDamage === undefined ? 0 : 1
}

/** `undefined`: the server was asked and refused or failed. */
async function reportOf(invocation: Invocation): Promise<JobsReport | undefined> {
  if (invocation.extra.adminEndpoint !== undefined) return byServer(invocation)
  try {
    return await byThisProcess(invocation)
  } catch (error) {
    if (!(error instanceof InstanceInUse || error instanceof MembersAtWork)) throw error
    try {
      return await byServer(invocation)
    } catch (refusal) {
      if (!(refusal instanceof AdminRefused || refusal instanceof ConfigurationError)) throw refusal
      invocation.notice(`the running server could not be asked: ${refusal.message}`)
      throw error
    }
  }
}

const counts = z.object({
  repairedBlobs: z.number(),
  degradedBlobs: z.number(),
  lostBlobs: z.number(),
  removedByRules: z.number(),
  movedByRules: z.number(),
  expiredUploads: z.number(),
  lateBlobsMoved: z.number(),
  orphansFound: z.number(),
  orphansReleased: z.number(),
  blobsRemoved: z.number(),
  removedBatches: z.number(),
  movedShards: z.number(),
  freedBytes: z.number(),
})

/** The server never uses a shorter grace than its own, because clients may need younger data. */
async function byServer(invocation: Invocation): Promise<JobsReport | undefined> {
  const graceSeconds = Math.ceil(invocation.configuration.reclaimGraceMs / 1000)
  const { state, reason, progress } = await runServerTask(invocation, { kind: 'reclaim', graceSeconds })
  if (state === 'done') return counts.parse(progress.counts)
  invocation.notice(`the server did not reclaim: ${reason ?? state}`)
  return undefined
}

async function byThisProcess(invocation: Invocation): Promise<JobsReport> {
  const { configuration, json, print } = invocation
  const progress = openProgress({ label: 'reclaim', json, print })
  let at: TaskProgress = { done: 0, unit: 'blobs', counts: {} }
  const report = await withStoppedData(invocation, async ({ backend, isGone }) => {
    const jobs = startJobs({
      backend,
      isGone,
      intervalMs: configuration.reclaimIntervalMs,
      graceMs: configuration.reclaimGraceMs,
      quarantineMs: configuration.quarantineMs,
      abandonedUploadMs: configuration.abandonedUploadMs,
      repairBytesPerSecond: configuration.repairBytesPerSecond,
      onError: () => {},
      did: (step, count) => {
        at = { ...at, done: at.done + count, counts: { ...at.counts, [step]: (at.counts[step] ?? 0) + count } }
        progress.show(at)
      },
    })
    try {
      return await jobs.runOnce()
    } finally {
      await jobs.stop()
    }
  })
  progress.end(at)
  return report
}

function reportLine(report: JobsReport): string {
  const { metadataDamage } = report
  if (metadataDamage !== undefined) return `nothing was removed, because the metadata is damaged: ${metadataDamage}`
  return [
    `reclaimed ${formatBytes(report.freedBytes)}:`,
    `${counted(report.blobsRemoved, 'blob')} removed;`,
    `${counted(report.orphansFound, 'orphan')} found, ${report.orphansReleased} of those in quarantine given up;`,
    `${counted(report.removedByRules, 'version or upload', 'versions and uploads')} removed by lifecycle rules, ${report.movedByRules} given another storage class;`,
    `${counted(report.expiredUploads, 'abandoned upload')} ended;`,
    `${counted(report.repairedBlobs, 'blob')} repaired, ${counted(report.degradedBlobs + report.lostBlobs, 'still lacks copies', 'still lack copies')};`,
    `${counted(report.removedBatches, 'batch', 'batches')} removed, ${counted(report.movedShards, 'shard')} moved`,
  ].join(' ')
}
