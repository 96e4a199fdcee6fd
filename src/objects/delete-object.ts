/** Deletes: hides a key behind a delete marker, or removes a version for good. What goes for good is reclaimed later. */
import { commitKeyDecision, type Decision } from '../commits/commit.ts'
import { historyCommit, type KeyHistory, lockClaim, readHistory, versionNamed } from '../commits/key-history.ts'
import { lockNow } from '../commits/lock-clock.ts'
import { placeMarker } from '../commits/new-version.ts'
import type { BucketScope } from '../commits/scope.ts'
import type { Store } from '../commits/store.ts'
import { checkDelete, conditionally, type DeleteConditions } from '../rules/preconditions.ts'
import { removeCurrent, removeVersion } from '../rules/versions.ts'

/** Its conditions are of the current object, also where a version is named. */
export interface Deletion extends DeleteConditions {
  key: string
  /** Removes this version for good. Absent: deletes the key, which in a versioned bucket removes nothing. */
  versionId?: string | undefined
  /** The request asks to bypass governance, and may. */
  bypassGovernance?: boolean
}

export interface DeletionResult {
  /** Of the version removed, or of the delete marker made. */
  versionId: string | undefined
  /** A delete marker was made, or removed. */
  deleteMarker: boolean
}

/**
 * Deleting what is not there is no error. Throws NoSuchBucket, AccessDenied for a locked version; with conditions, PreconditionFailed and, with
 * `ifMatch`, NoSuchKey.
 */
export async function deleteObject(store: Store, scope: BucketScope, deletion: Deletion): Promise<DeletionResult> {
  return conditionally(deletion, () =>
    commitKeyDecision(store, scope.name, deletion.key, async () =>
      decideDeletion(store, await readHistory(store, scope, deletion), deletion, () => lockNow(store)),
    ),
  )
}

/** `now`: the time that locks are judged by. */
export async function decideDeletion(
  store: Store,
  history: KeyHistory,
  deletion: Deletion,
  now: () => Promise<number>,
): Promise<Decision<DeletionResult>> {
  const { versions, bucket } = history
  checkDelete(deletion, versions.current, deletion.key)
  if (deletion.versionId !== undefined) return removeNamed(store, history, deletion.versionId, deletion, now)
  if (bucket.record.versioning === 'unversioned') return removeOnly(store, history)
  const { marker, commit } = await placeMarker(store, history, now)
  return { result: { versionId: marker.versionId, deleteMarker: true }, commit }
}

async function removeOnly(store: Store, history: KeyHistory): Promise<Decision<DeletionResult>> {
  const result = { versionId: undefined, deleteMarker: false }
  if (history.versions.current === undefined) return { result, commit: {} }
  const change = removeCurrent(history.versions)
  const claim = await lockClaim(store, history.bucket, false, change.removed)
  return { result, commit: historyCommit(store, history, change, claim) }
}

async function removeNamed(
  store: Store,
  history: KeyHistory,
  versionId: string,
  { bypassGovernance = false }: Deletion,
  now: () => Promise<number>,
): Promise<Decision<DeletionResult>> {
  const named = versionNamed(history, versionId)
  // In a bucket that was never versioned no answer names a version.
  const shown = history.bucket.record.versioning === 'unversioned' ? undefined : versionId
  // Checked all the same: others may have put the version there since.
  if (named === undefined)
    return { result: { versionId: shown, deleteMarker: false }, commit: { checks: history.checks } }
  const change = removeVersion(history.versions, named.version)
  const claim = await lockClaim(store, history.bucket, bypassGovernance, change.removed, now)
  const commit = historyCommit(store, history, change, claim)
  return {
    result: { versionId: shown, deleteMarker: named.version.kind === 'marker' },
    commit: { ...commit, checks: [...(commit.checks ?? []), ...named.checks] },
  }
}
