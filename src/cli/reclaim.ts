/** `holdfast reclaim`: runs the background jobs once on the data directory of a stopped server. */
import { type JobsReport, startJobs } from '../jobs/runner.ts'
import type { TaskProgress } from '../jobs/tasks.ts'
import type { Invocation } from './command.ts'
import { formatBytes, openProgress } from './progress.ts'
import { withStoppedData } from './stopped-data.ts'

export async function reclaim(invocation: Invocation): Promise<number> {
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
  print(json ? JSON.stringify({ event: 'reclaimed', ...report }) : reportLine(report))
  return report.metadataDamage === undefined ? 0 : 1
}

function reportLine(report: JobsReport): string {
  const { metadataDamage } = report
  if (metadataDamage !== undefined) return `nothing was removed, because the metadata is damaged: ${metadataDamage}`
  return [
    `reclaimed ${formatBytes(report.freedBytes)}:`,
    `${report.blobsRemoved} blobs removed;`,
    `${report.orphansFound} orphans found, ${report.orphansReleased} of those in quarantine given up;`,
    `${report.expiredUploads} abandoned uploads ended;`,
    `${report.repairedBlobs} blobs repaired, ${report.degradedBlobs + report.lostBlobs} still lack copies;`,
    `${report.removedBatches} batches removed, ${report.movedShards} shards moved`,
  ].join(' ')
}
