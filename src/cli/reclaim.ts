/** `holdfast reclaim`: one run of the background jobs over the data directory of a stopped server. */
import { type JobsReport, startJobs } from '../jobs/runner.ts'
import { openDataStore } from '../open.ts'
import type { Invocation } from './command.ts'
import { exitOnFatal } from './instance.ts'
import { openLog } from './log.ts'

export async function reclaim({ configuration, json, print }: Invocation): Promise<number> {
  const log = openLog(configuration.logLevel)
  const data = await openDataStore({
    path: configuration.data,
    create: false,
    onFatal: (error) => exitOnFatal(log, error),
    warn: (message) => log.warn(message),
  })
  try {
    const jobs = startJobs({
      store: data.store,
      intervalMs: configuration.reclaimIntervalMs,
      graceMs: configuration.reclaimGraceMs,
      abandonedUploadMs: configuration.abandonedUploadMs,
      onError: () => {},
    })
    try {
      const report = await jobs.runOnce()
      print(json ? JSON.stringify({ event: 'reclaimed', ...report }) : reportLine(report))
    } finally {
      await jobs.stop()
    }
  } finally {
    await data.close()
  }
  return 0
}

function reportLine(report: JobsReport): string {
  return [
    `reclaimed ${report.freedBytes} bytes:`,
    `${report.blobsRemoved} blobs removed;`,
    `${report.orphansFound} orphans found;`,
    `${report.expiredUploads} abandoned uploads ended;`,
    `${report.removedBatches} batches removed, ${report.movedShards} shards moved`,
  ].join(' ')
}
