/** Every kind of long work that a server takes up. */
import type { Store } from '../store/store.ts'
import { hasSnapshotPlaces, snapshotTask } from './snapshots.ts'
import type { TaskKind } from './task-runner.ts'

export interface TaskSettings {
  /** 0: only when somebody asks. */
  snapshotIntervalMs: number
  snapshotsKept: number
}

export function taskKinds(store: Store, { snapshotIntervalMs, snapshotsKept }: TaskSettings): TaskKind[] {
  if (!hasSnapshotPlaces(store)) return []
  return [snapshotTask({ everyMs: snapshotIntervalMs === 0 ? undefined : snapshotIntervalMs, kept: snapshotsKept })]
}
