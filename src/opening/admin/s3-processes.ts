/** The processes that serve S3, as the admin port sees them: either this one, or its workers. */
import type { LogLevel } from '../../admin/services.ts'
import type { LocalRequests, SeenRequest } from '../../http/telemetry/request-feed.ts'
import type { Traffic, TrafficSnapshot } from '../../http/telemetry/traffic.ts'
import type { ProcessLoad } from '../../metrics/process-load.ts'

export interface S3Processes {
  /** The latest requests of all processes, unordered. */
  recentRequests(): Promise<SeenRequest[]>
  /** The returned function ends the watch. */
  watchRequests(see: (line: SeenRequest) => void): () => void
  /** What each process has counted since it started. */
  reports(): Promise<ProcessReport[]>
  setLogLevel(level: LogLevel): void
}

export interface ProcessReport {
  traffic: TrafficSnapshot
  /** Absent: the process has ended or does not answer. Its counts are still included. */
  load?: ProcessLoad | undefined
}

/** This process alone. The caller sets the level of the log. */
export function onlyThisProcess(requests: LocalRequests, traffic: Traffic): S3Processes {
  return {
    recentRequests: async () => requests.recent(),
    watchRequests: (see) => requests.watch(see),
    reports: async () => [{ traffic: traffic.snapshot() }],
    setLogLevel: () => {},
  }
}

/** For an admin port that opens before the S3 port. Each call goes to the processes that exist then. */
export function laterProcesses(find: () => S3Processes | undefined): S3Processes {
  return {
    recentRequests: async () => (await find()?.recentRequests()) ?? [],
    watchRequests: (see) => find()?.watchRequests(see) ?? (() => {}),
    reports: async () => (await find()?.reports()) ?? [],
    setLogLevel: (level) => find()?.setLogLevel(level),
  }
}
