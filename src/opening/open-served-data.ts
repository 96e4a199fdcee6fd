/** Opens data for a server, with background jobs that run until it is closed. */
import { opening } from '../closing-stack.ts'
import type { Backend } from '../commits/backend.ts'
import { startJobs } from '../jobs/runner.ts'
import { type TaskSettings, taskKinds } from '../jobs/task-kinds.ts'
import { openData } from './open.ts'
import type { OpenData, OpenDataOptions, OpenStore } from './open-backend.ts'
import { openMemoryData } from './open-data.ts'

export interface ServedSettings extends TaskSettings {
  reclaimIntervalMs: number
  reclaimGraceMs: number
  quarantineMs: number
  abandonedUploadMs: number
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
    const data = await openData({
      ...options,
      warn: (message) => log.warn(message),
      inform: (message) => log.info(message),
    })
    opened.add(data.close)
    if (options.metadata === undefined) opened.add(startJobsOf(data.backend, settings, log))
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
    opened.add(startJobsOf(memory.backend, settings, log))
    return { backend: memory.backend, close: opened.close }
  })
}

/** Returns a function that stops the jobs. */
function startJobsOf(backend: Backend, settings: ServedSettings, log: ServedLog): () => Promise<void> {
  const jobs = startJobs({
    backend,
    intervalMs: settings.reclaimIntervalMs,
    graceMs: settings.reclaimGraceMs,
    quarantineMs: settings.quarantineMs,
    abandonedUploadMs: settings.abandonedUploadMs,
    repairBytesPerSecond: settings.repairBytesPerSecond,
    scrubBytesPerSecond: settings.scrubBytesPerSecond,
    tasks: taskKinds(backend, settings),
    onError: (error) => log.error({ err: error }, 'a background job failed'),
    warn: (message) => log.warn(message),
  })
  return () => jobs.stop()
}
