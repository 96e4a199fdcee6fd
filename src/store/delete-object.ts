/** Deletes: hides a key behind a delete marker, or removes a version for good. What goes for good is reclaimed later. */
import { S3Error } from '../errors.ts'
import { commitKeyDecision, type Decision } from './commit.ts'
import { historyCommit, type KeyHistory, lockClaim, readHistory, versionNamed } from './key-history.ts'
import { placeMarker } from './new-version.ts'
import { conditionally, etagListed } from './preconditions.ts'
import type { BucketScope } from './scope.ts'
import type { Store } from './store.ts'
import { removeCurrent, removeVersion } from './versions.ts'

export interface Deletion {
  key: string
  /** Removes this version for good. Absent: deletes the key, which in a versioned bucket removes nothing. */
  versionId?: string | undefined
  /** Entity tag that the current object must have. */
  ifMatch?: string | undefined
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
 * Deleting what is not there is no error. Throws NoSuchBucket, AccessDenied for a locked version; with `ifMatch`, PreconditionFailed
 * and NoSuchKey.
 */
export async function deleteObject(store: Store, scope: BucketScope, deletion: Deletion): Promise<DeletionResult> {
  const decide = async (): Promise<Decision<DeletionResult>> => {
    const history = await readHistory(store, scope, deletion.key)
    checkCondition(history, deletion)
    if (deletion.versionId !== undefined) return removeNamed(store, history, deletion.versionId, deletion)
    return history.bucket.record.versioning === 'unversioned' ? removeOnly(store, history) : hide(store, history)
  }
  return conditionally(deletion, () => commitKeyDecision(store, scope.name, deletion.key, decide))
}

function checkCondition({ key, versions }: KeyHistory, { ifMatch }: Deletion): void {
  if (ifMatch === undefined) return
  if (versions.current === undefined) throw new S3Error('NoSuchKey', { details: { Key: key } })
  if (!etagListed(ifMatch, versions.current.etag)) throw new S3Error('PreconditionFailed')
}

async function removeOnly(store: Store, history: KeyHistory): Promise<Decision<DeletionResult>> {
  const result = { versionId: undefined, deleteMarker: false }
  if (history.versions.current === undefined) return { result, commit: {} }
  const claim = await lockClaim(store, history.bucket, false)
  return { result, commit: historyCommit(store, history, removeCurrent(history.versions), claim) }
}

async function hide(store: Store, history: KeyHistory): Promise<Decision<DeletionResult>> {
  const { marker, commit } = await placeMarker(store, history)
  return { result: { versionId: marker.versionId, deleteMarker: true }, commit }
}

async function removeNamed(
  store: Store,
  history: KeyHistory,
  versionId: string,
  { bypassGovernance = false }: Deletion,
): Promise<Decision<DeletionResult>> {
  const named = await versionNamed(store, history, versionId)
  // In a bucket that was never versioned no answer names a version.
  const shown = history.bucket.record.versioning === 'unversioned' ? undefined : versionId
  // Checked all the same: between two reads a version may have moved out of the sight of both.
  if (named === undefined)
    return { result: { versionId: shown, deleteMarker: false }, commit: { checks: history.checks } }
  const claim = await lockClaim(store, history.bucket, bypassGovernance)
  const commit = historyCommit(store, history, removeVersion(history.versions, named.version), claim)
  return {
    result: { versionId: shown, deleteMarker: named.version.kind === 'marker' },
    commit: { ...commit, checks: [...(commit.checks ?? []), ...named.checks] },
  }
}
