/** Deletes: hides a key behind a delete marker, or removes a version for good. The bytes of removed versions are reclaimed later. */

import type { Backend } from '../commits/backend.ts'
import { commitKeyDecision, type Decision } from '../commits/commit.ts'
import { findCopy } from '../commits/existing-copy.ts'
import { historyCommit, lockClaim } from '../commits/history-commit.ts'
import { type KeyHistory, readHistory, versionNamed } from '../commits/key-history.ts'
import { lockNow } from '../commits/lock-clock.ts'
import { placeMarker } from '../commits/new-version.ts'
import type { BucketScope } from '../commits/scope.ts'
import { checkDelete, conditionally, type DeleteConditions } from '../rules/preconditions.ts'
import { removeCurrent, removeVersion } from '../rules/versions.ts'

/** The conditions concern the current object, even when the deletion names a version. */
export interface Deletion extends DeleteConditions {
  key: string
  /** Removes this version for good. Absent: deletes the key, which in a versioned bucket removes nothing. */
  versionId?: string | undefined
  /** The request asks to bypass governance, and has the permission. */
  bypassGovernance?: boolean
  /** Another bucket's replication asks for it: the id of the delete marker there. Asked for again, it makes no second one. */
  replicaOf?: string | undefined
  /** When the delete marker was made of which this one is a copy. */
  originalMs?: number | undefined
}

export interface DeletionResult {
  /** The id of the removed version, or of the new delete marker. */
  versionId: string | undefined
  /** Whether a delete marker was made or removed. */
  deleteMarker: boolean
}

/**
 * Deleting a missing key or version is not an error. Throws NoSuchBucket, AccessDenied for a locked version; with conditions, PreconditionFailed; with
 * `ifMatch`, NoSuchKey.
 */
export async function deleteObject(backend: Backend, scope: BucketScope, deletion: Deletion): Promise<DeletionResult> {
  return conditionally(deletion, () =>
    commitKeyDecision(backend, scope.name, deletion.key, async () =>
      decideDeletion(backend, await readHistory(backend, scope, deletion), deletion, () => lockNow(backend)),
    ),
  )
}

/** `now`: the time that decides about locks. */
export async function decideDeletion(
  backend: Backend,
  history: KeyHistory,
  deletion: Deletion,
  now: () => Promise<number>,
): Promise<Decision<DeletionResult>> {
  const { versions, bucket } = history
  checkDelete(deletion, versions.current, deletion.key)
  if (deletion.versionId !== undefined) return removeNamed(backend, history, deletion.versionId, deletion, now)
  if (bucket.record.versioning === 'unversioned') return removeOnly(backend, history)
  const { replicaOf, originalMs } = deletion
  const made = replicaOf === undefined ? undefined : await findCopy(backend.kv, history, replicaOf)
  if (made?.kind === 'marker') {
    return { result: { versionId: made.versionId, deleteMarker: true }, commit: { checks: history.checks } }
  }
  const { marker, commit } = await placeMarker(backend, history, { now, replicaOf, originalMs })
  return { result: { versionId: marker.versionId, deleteMarker: true }, commit }
}

async function removeOnly(backend: Backend, history: KeyHistory): Promise<Decision<DeletionResult>> {
  const result = { versionId: undefined, deleteMarker: false }
  const { current } = history.versions
  if (current === undefined) return { result, commit: {} }
  const change = removeCurrent(history.versions)
  const claim = await lockClaim(backend, history.bucket, false, change.removed)
  const event = { name: 'ObjectRemoved:Delete', version: current } as const
  return { result, commit: historyCommit(backend, history, change, claim, event) }
}

async function removeNamed(
  backend: Backend,
  history: KeyHistory,
  versionId: string,
  { bypassGovernance = false }: Deletion,
  now: () => Promise<number>,
): Promise<Decision<DeletionResult>> {
  const named = versionNamed(history, versionId)
  // In a bucket that was never versioned, no answer names a version.
  const shown = history.bucket.record.versioning === 'unversioned' ? undefined : versionId
  if (named === undefined) {
    // The reads still need their checks, because a null version may have moved between two of them.
    const checks = history.checks.filter((check) => 'version' in check)
    return { result: { versionId: shown, deleteMarker: false }, commit: { checks } }
  }
  const change = removeVersion(history.versions, named)
  const claim = await lockClaim(backend, history.bucket, bypassGovernance, change.removed, now)
  return {
    result: { versionId: shown, deleteMarker: named.kind === 'marker' },
    commit: historyCommit(backend, history, change, claim, { name: 'ObjectRemoved:Delete', version: named }),
  }
}
