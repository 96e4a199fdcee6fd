/** `holdfast reclaim`: one run of the background jobs over the data directory of a stopped server. */
import { type JobsReport, startJobs } from '../jobs/runner.ts'
import type { Invocation } from './command.ts'
import { withStoppedData } from './stopped-data.ts'

export async function reclaim(invocation: Invocation): Promise<number> {
  const { configuration, json, print } = invocation
  const report = await withStoppedData(invocation, async ({ store }) => {
    const jobs = startJobs({
      store,
      intervalMs: configuration.reclaimIntervalMs,
      graceMs: configuration.reclaimGraceMs,
      abandonedUploadMs: configuration.abandonedUploadMs,
      repairBytesPerSecond: configuration.repairBytesPerSecond,
      onError: () => {},
    })
    try {
      return await jobs.runOnce()
    } finally {
      await jobs.stop()
    }
  })
  print(json ? JSON.stringify({ event: 'reclaimed', ...report }) : reportLine(report))
  return 0
}

function reportLine(report: JobsReport): string {
  return [
    `reclaimed ${report.freedBytes} bytes:`,
    `${report.blobsRemoved} blobs removed;`,
    `${report.orphansFound} orphans found;`,
    `${report.expiredUploads} abandoned uploads ended;`,
    `${report.repairedBlobs} blobs repaired, ${report.degradedBlobs + report.lostBlobs} still lack copies;`,
    `${report.removedBatches} batches removed, ${report.movedShards} shards moved`,
  ].join(' ')
}
