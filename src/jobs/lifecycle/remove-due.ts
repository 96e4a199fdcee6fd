/** Removes a version that lifecycle rules say is due, if that is still so when the removal commits. Locks hold against it. */
import type { Backend } from '../../commits/backend.ts'
import { commitKeyDecision } from '../../commits/commit.ts'
import { type KeyHistory, readHistory, versionNamed } from '../../commits/key-history.ts'
import { lockNow } from '../../commits/lock-clock.ts'
import { serverScope } from '../../commits/scope.ts'
import { type ErrorCode, S3Error } from '../../errors.ts'
import { decideDeletion } from '../../objects/delete-object.ts'
import { type Due, expirationOf, markerExpirationOf, noncurrentExpirationOf } from '../../rules/lifecycle.ts'
import { latestOf } from '../../rules/versions.ts'
import type { DueVersion } from './due-versions.ts'

/** A lock protects the version, the bucket is gone, or clients change the key all the time. */
const kept: ReadonlySet<ErrorCode> = new Set(['AccessDenied', 'NoSuchBucket', 'OperationAborted'])

/** Resolves with whether something was removed, or hidden behind a delete marker. Throws only what keeps all removals from going on. */
export async function removeDue(backend: Backend, bucket: string, due: DueVersion, nowMs: number): Promise<boolean> {
  const scope = serverScope(bucket)
  const { key } = due
  const versionId = due.kind === 'current' ? undefined : due.versionId
  try {
    return await commitKeyDecision(backend, bucket, key, async () => {
      const history = await readHistory(backend, scope, { key, versionId })
      const dueNow = dueOf(history, due)
      if (dueNow === undefined || dueNow.dueMs > nowMs) return { result: false, commit: {} }
      const { commit } = await decideDeletion(backend, history, { key, versionId }, () => lockNow(backend))
      return { result: true, commit }
    })
  } catch (error) {
    if (error instanceof S3Error && kept.has(error.code)) return false
    throw error
  }
}

/** By the rules and the version as they are now. `undefined`: it is another version, or has another place among those of its key. */
function dueOf(history: KeyHistory, seen: DueVersion): Due | undefined {
  const { versions, bucket } = history
  const rules = bucket.record.lifecycle ?? []
  const version = seen.kind === 'current' ? versions.current : versionNamed(history, seen.versionId)
  if (version === undefined || version.sequence !== seen.sequence) return undefined
  const { modifiedMs } = version
  const subject =
    version.kind === 'object'
      ? { key: seen.key, size: version.size, tags: version.attributes.tags, modifiedMs }
      : { key: seen.key, modifiedMs }
  const isLatest = latestOf(versions)?.sequence === version.sequence
  if (seen.kind === 'noncurrent') {
    const { noncurrentSinceMs, newer } = seen
    return isLatest ? undefined : noncurrentExpirationOf(rules, { ...subject, noncurrentSinceMs, newer })
  }
  if (!isLatest) return undefined
  if (version.kind === 'object') return expirationOf(rules, subject)
  return versions.newest.length === 1 ? markerExpirationOf(rules, subject) : undefined
}
