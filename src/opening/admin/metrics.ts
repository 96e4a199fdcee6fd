/** Gathers the metrics of a server: its state, and what its processes have counted. */
import type { MetricsSource } from '../../admin/services.ts'
import { sumTraffic } from '../../http/telemetry/traffic.ts'
import type { Measured } from '../../metrics/exposition.ts'
import type { ProcessLoad } from '../../metrics/process-load.ts'
import type { S3Processes } from './s3-processes.ts'
import { type MeasuredServer, ServerStateReader } from './server-state.ts'

export interface MetricsOptions extends MeasuredServer {
  processes: S3Processes
  /** The load of this process. */
  load: { report(): ProcessLoad }
}

/** Loads the code for the first scrape. */
const exposition = () => import('../../metrics/exposition.ts')

export function openMetrics(options: MetricsOptions): MetricsSource {
  const { processes, load } = options
  const state = new ServerStateReader(options)
  /** Accounts that have labels of their own. They keep them as long as this process runs, because a count must never move between labels. */
  const shown = new Set<string>()
  const measure = async (): Promise<Measured> => {
    const [reports, measured] = await Promise.all([processes.reports(), state.measure()])
    return {
      traffic: sumTraffic(
        reports.map(({ traffic }) => traffic),
        shown,
      ),
      loads: [load.report(), ...reports.flatMap((report) => report.load ?? [])],
      state: measured,
    }
  }
  return {
    expose: async (accept) => (await exposition()).expose(await measure(), accept),
    families: async () => (await exposition()).metricFamilies(await measure()),
  }
}
