/** What a person is told when a command fails. */
import { ListenFailed } from '../assembly/endpoint.ts'
import { ConfigurationError } from '../config/configuration-error.ts'
import { DataDirectoryRefused } from '../instance/data-directory.ts'
import { InstanceInUse } from '../instance/instance-lock.ts'
import { KeyRingRefused } from '../instance/key-ring-file.ts'
import { PlacementRefused } from '../instance/known-placement.ts'
import { SnapshotDamaged } from '../store/snapshot-pieces.ts'
import { WorkerFailed } from './crew.ts'

const foreseen = [
  ConfigurationError,
  DataDirectoryRefused,
  InstanceInUse,
  KeyRingRefused,
  ListenFailed,
  PlacementRefused,
  SnapshotDamaged,
  WorkerFailed,
]

/** One line for what was foreseen; a stack for what was not, so that it can be reported. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const isForeseen = foreseen.some((kind) => error instanceof kind) || isSystemError(error)
  return isForeseen ? error.message : (error.stack ?? error.message)
}

/** Of the operating system, such as ENOSPC: its message names the call and the path. */
function isSystemError(error: Error): boolean {
  return 'code' in error && 'syscall' in error
}
