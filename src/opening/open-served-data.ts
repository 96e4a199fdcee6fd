/** Opens data for a server, with background jobs that run until it is closed. */
import { opening } from '../closing-stack.ts'
import { startEventDelivery } from '../jobs/events/event-delivery.ts'
import type { CopyRights } from '../jobs/replication/copy-rights.ts'
import { startReplication } from '../jobs/replication/replication.ts'
import { startJobs } from '../jobs/runner.ts'
import { type TaskSettings, taskKinds } from '../jobs/task-kinds.ts'
import { KvUnavailable } from '../kv/kv.ts'
import type { Maintenance } from '../members/membership.ts'
import type { SiteSettings } from '../replication-site.ts'
import type { IsGone } from '../stores/shard-store.ts'
import type { Webhook } from '../webhook.ts'
import { type Maintaining, maintainAlone, type OpenData, type OpenDataOptions, type OpenStore } from './open-backend.ts'
import { openMemoryData } from './open-memory.ts'
import { openSites } from './sites.ts'

export interface ServedSettings extends TaskSettings {
  reclaimIntervalMs: number
  reclaimGraceMs: number
  quarantineMs: number
  abandonedUploadMs: number
  /** Said in events. */
  region: string
  /** Absent: none. */
  webhooks?: readonly Webhook[]
  /** Absent: none. */
  sites?: readonly SiteSettings[]
  /** Absent: everybody may copy everything. */
  copyRights?: CopyRights
}

export interface ServedLog {
  info(message: string): void
  warn(message: string): void
  error(fields: { err: unknown }, message: string): void
}

/** Throws what `openData` throws. */
export function openServedData(
  options: Omit<OpenDataOptions, 'warn' | 'inform'>,
  settings: ServedSettings,
  log: ServedLog,
): Promise<OpenData> {
  return opening(async (opened) => {
    // Loaded only here, because a server in memory needs no engine.
    const { openData } = await import('./open.ts')
    const data = await openData({
      ...options,
      warn: (message) => log.warn(message),
      inform: (message) => log.info(message),
    })
    opened.add(data.close)
    opened.add(data.maintain(async (maintaining) => startJobsOf(maintaining, data.isGone, settings, log)))
    return { ...data, close: opened.close }
  })
}

/** The same for data in memory, which ends with the process. */
export function openServedMemory(
  kmsKeys: readonly string[],
  settings: ServedSettings,
  log: ServedLog,
): Promise<OpenStore> {
  return opening(async (opened) => {
    const memory = openMemoryData(kmsKeys)
    opened.add(memory.close)
    opened.add(maintainAlone(memory.backend, async (maintaining) => startJobsOf(maintaining, undefined, settings, log)))
    return { backend: memory.backend, close: opened.close }
  })
}

async function startJobsOf(
  { backend, post }: Maintaining,
  isGone: IsGone | undefined,
  settings: ServedSettings,
  log: ServedLog,
): Promise<Maintenance> {
  // Shared metadata will answer again. The watch over it reports this once.
  const isTransient = (error: unknown): boolean => post !== undefined && error instanceof KvUnavailable
  const onError = (error: unknown): void => {
    if (!isTransient(error)) log.error({ err: error }, 'a background job failed')
  }
  const warn = (message: string): void => log.warn(message)
  const inform = (message: string): void => log.info(message)
  const { region, webhooks = [], sites = [], copyRights: rights } = settings
  const openedSites = await openSites(sites, backend.clock)
  const delivery = startEventDelivery({ backend, region, webhooks, onError, warn, inform })
  const replication = startReplication({ backend, sites: openedSites, rights, onError, warn, inform })
  const jobs = startJobs({
    backend,
    isLockClockFollowed: post !== undefined,
    isGone,
    intervalMs: settings.reclaimIntervalMs,
    graceMs: settings.reclaimGraceMs,
    quarantineMs: settings.quarantineMs,
    abandonedUploadMs: settings.abandonedUploadMs,
    repairBytesPerSecond: settings.repairBytesPerSecond,
    scrubBytesPerSecond: settings.scrubBytesPerSecond,
    tasks: taskKinds(backend, settings),
    isTransient,
    onError,
    warn,
    inform,
  })
  return {
    stop: async () => {
      await Promise.all([delivery.stop(), replication.stop(), jobs.stop()])
    },
  }
}
