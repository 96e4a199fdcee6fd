/** Every kind of long work that a server takes up. */
import type { Store } from '../store/store.ts'
import { hasSnapshotPlaces, snapshotTask } from './snapshots.ts'
import type { TaskKind } from './task-runner.ts'

export interface TaskSettings {
  /** 0: none are made. */
  snapshotIntervalMs: number
  snapshotsKept: number
}

export function taskKinds(store: Store, { snapshotIntervalMs, snapshotsKept }: TaskSettings): TaskKind[] {
  const makesSnapshots = snapshotIntervalMs > 0 && hasSnapshotPlaces(store)
  return makesSnapshots ? [snapshotTask({ everyMs: snapshotIntervalMs, kept: snapshotsKept })] : []
}
