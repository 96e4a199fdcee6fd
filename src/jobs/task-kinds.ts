/** Every kind of long work that a server takes up. */
import type { TaskKind } from './task-runner.ts'

export function taskKinds(): TaskKind[] {
  return []
}
