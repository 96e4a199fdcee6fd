/** Every kind of long work that a server takes up. */
import { moveTask } from './move-bucket.ts'
import { repairTask } from './repair-task.ts'
import { scrubTask } from './scrub.ts'
import type { TaskKind } from './task-runner.ts'

export interface TaskSettings {
  /** Absent: only when somebody asks. */
  scrubIntervalMs: number | undefined
  /** Absent: no limit. */
  scrubBytesPerSecond: number | undefined
  repairBytesPerSecond: number | undefined
}

export function taskKinds(settings: TaskSettings): TaskKind[] {
  return [
    scrubTask({ everyMs: settings.scrubIntervalMs, bytesPerSecond: settings.scrubBytesPerSecond }),
    repairTask({ bytesPerSecond: settings.repairBytesPerSecond }),
    moveTask(),
  ]
}
