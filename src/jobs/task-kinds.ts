/** Every kind of long work that a server does on request. */
import type { Backend } from '../commits/backend.ts'
import { moveTask } from './moves/move-bucket.ts'
import { repairTask } from './repairing/repair-task.ts'
import { scrubTask } from './repairing/scrub.ts'
import { keepsSnapshots, snapshotTask } from './snapshots.ts'
import type { TaskKind } from './tasks/task-runner.ts'

export interface TaskSettings {
  /** Absent: only on request. */
  scrubIntervalMs: number | undefined
  /** Absent: no limit. */
  scrubBytesPerSecond: number | undefined
  repairBytesPerSecond: number | undefined
  /** Absent: only on request. */
  snapshotIntervalMs: number | undefined
  snapshotsKept: number
}

export function taskKinds(backend: Backend, settings: TaskSettings): TaskKind[] {
  const { snapshotIntervalMs: everyMs, snapshotsKept: kept } = settings
  return [
    scrubTask({ everyMs: settings.scrubIntervalMs, bytesPerSecond: settings.scrubBytesPerSecond }),
    repairTask({ bytesPerSecond: settings.repairBytesPerSecond }),
    moveTask(),
    ...(keepsSnapshots(backend) ? [snapshotTask({ everyMs, kept })] : []),
  ]
}
