/** The message that a person reads when a command fails. */

import { ConfigurationError } from '../config/configuration-error.ts'
import { TransferFailed } from '../endpoint/failures.ts'
import { S3Error } from '../errors.ts'
import { fileFailure } from '../file-failure.ts'
import { DataDirectoryRefused } from '../instance/data-directory.ts'
import { InstanceInUse } from '../instance/instance-lock.ts'
import { KeyRingBusy } from '../instance/key-ring-change.ts'
import { KeyRingRefused } from '../instance/key-ring-file.ts'
import { PlacementRefused } from '../instance/known-placement.ts'
import { MetadataDamaged } from '../kv/integrity/metadata-damaged.ts'
import { ConfigurationRefused } from '../kv/postgres/session-rules.ts'
import { ListenFailed } from '../opening/listen-address.ts'
import {
  MetadataMoveRefused,
  MetadataUnreachable,
  SharedMetadataRefused,
} from '../opening/metadata/metadata-failures.ts'
import { SnapshotDamaged } from '../records/snapshot-pieces.ts'
import { AdminRefused } from './admin/admin-client.ts'
import { MembersAtWork } from './maintainer-post.ts'
import { WorkerFailed } from './serving/crew.ts'

const expected = [
  AdminRefused,
  ConfigurationError,
  ConfigurationRefused,
  DataDirectoryRefused,
  TransferFailed,
  InstanceInUse,
  KeyRingBusy,
  KeyRingRefused,
  ListenFailed,
  MembersAtWork,
  MetadataDamaged,
  MetadataMoveRefused,
  MetadataUnreachable,
  PlacementRefused,
  // The metadata engine throws it when nothing may be written.
  S3Error,
  SharedMetadataRefused,
  SnapshotDamaged,
  WorkerFailed,
]

/** One line for an expected error; a stack for any other, so that it can be reported. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const ofFile = fileFailure(error)
  if (ofFile !== undefined) return ofFile
  const isExpected = expected.some((kind) => error instanceof kind) || isSystemError(error)
  return isExpected ? error.message : (error.stack ?? error.message)
}

/** Whether the error is the operating system's, such as ENOSPC. Its message names the call and the path. */
function isSystemError(error: Error): boolean {
  return 'code' in error && 'syscall' in error
}
