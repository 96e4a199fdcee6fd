/**
 * Removes what the lifecycle rules of buckets say, once after each midnight in UTC, and again when a bucket's rules have changed. It goes by the clock of
 * Object Lock: a machine's clock that is set ahead by mistake removes nothing.
 */
import type { Backend } from '../../commits/backend.ts'
import { lockNow } from '../../commits/lock-clock.ts'
import { serverScope } from '../../commits/scope.ts'
import { type ErrorCode, S3Error } from '../../errors.ts'
import { limits } from '../../limits.ts'
import { abortUpload } from '../../objects/abort-upload.ts'
import { listVersions } from '../../objects/list-versions.ts'
import { type ListedUpload, listUploads } from '../../objects/uploads.ts'
import { type BucketRecord, bucketCodec } from '../../records/bucket-record.ts'
import { buckets } from '../../records/keyspace.ts'
import type { LifecycleRule } from '../../records/lifecycle.ts'
import { dayMs, prefixesOf, uploadExpirationOf } from '../../rules/lifecycle.ts'
import { everyEntry } from '../every-entry.ts'
import { type DueVersion, DueVersions } from './due-versions.ts'
import { removeDue } from './remove-due.ts'

export interface LifecycleOptions {
  backend: Backend
  /** Called when the rules of one bucket could not be followed. Those of others are. */
  onError(error: unknown): void
  /** Called with a number of versions and uploads that were removed. */
  did?(count: number): void
}

interface Walk {
  bucket: BucketRecord
  rules: readonly LifecycleRule[]
  nowMs: number
}

export class Lifecycle {
  readonly #options: LifecycleOptions
  /** By the id of each bucket: the day and the settings of the last walk that came to its end. */
  #walked = new Map<string, string>()
  #isStopped = false

  constructor(options: LifecycleOptions) {
    this.#options = options
  }

  /** Resolves with the number of versions and uploads that were removed. */
  async run(): Promise<number> {
    const { backend, onError } = this.#options
    const nowMs = await lockNow(backend)
    const walked = new Map<string, string>()
    let removed = 0
    for await (const { key, value } of everyEntry(backend.kv, buckets)) {
      if (this.#isStopped) break
      try {
        const bucket = bucketCodec.decode(key, value)
        const rules = bucket.lifecycle?.filter(({ enabled }) => enabled) ?? []
        if (rules.length === 0) continue
        const state = JSON.stringify([Math.floor(nowMs / dayMs), bucket.versioning, rules])
        if (this.#walked.get(bucket.id) !== state) removed += await this.#walk({ bucket, rules, nowMs })
        walked.set(bucket.id, state)
      } catch (error) {
        // Of a bucket that has been removed meanwhile, there is nothing to say.
        if (!isOneOf(error, 'NoSuchBucket')) onError(error)
      }
    }
    this.#walked = walked
    return removed
  }

  /** A run under way ends soon. */
  stop(): void {
    this.#isStopped = true
  }

  async #walk(walk: Walk): Promise<number> {
    const { backend, did = () => {} } = this.#options
    let removed = 0
    const each = async <T>(all: readonly T[], remove: (one: T) => Promise<boolean>): Promise<void> => {
      for (let at = 0; at < all.length && !this.#isStopped; at += limits.lifecycleRemovalsAtOnce) {
        const outcomes = await Promise.all(all.slice(at, at + limits.lifecycleRemovalsAtOnce).map(remove))
        const count = outcomes.filter(Boolean).length
        removed += count
        if (count > 0) did(count)
      }
    }
    for (const prefix of prefixesOf(walk.rules)) {
      for await (const page of dueVersions(backend, walk, prefix)) {
        await each(page, (due) => removeDue(backend, walk.bucket.name, due, walk.nowMs))
        if (this.#isStopped) return removed
      }
      for await (const page of dueUploads(backend, walk, prefix)) {
        await each(page, (upload) => abortDue(backend, walk.bucket.name, upload))
        if (this.#isStopped) return removed
      }
    }
    return removed
  }
}

async function* dueVersions(
  backend: Backend,
  { bucket, rules, nowMs }: Walk,
  prefix: string,
): AsyncGenerator<DueVersion[]> {
  if (rules.every(({ expiration, noncurrent }) => expiration === undefined && noncurrent === undefined)) return
  const due = new DueVersions(rules, nowMs)
  let next: { keyMarker: string | undefined; versionIdMarker: string | undefined } | undefined = {
    keyMarker: undefined,
    versionIdMarker: undefined,
  }
  while (next !== undefined) {
    const query = { prefix, delimiter: '', max: limits.listKeysMax, ...next }
    const { page } = await listVersions(backend, serverScope(bucket.name), query)
    yield page.entries.flatMap((entry) => due.see(entry))
    next = page.next
  }
  yield due.end()
}

async function* dueUploads(
  backend: Backend,
  { bucket, rules, nowMs }: Walk,
  prefix: string,
): AsyncGenerator<ListedUpload[]> {
  if (rules.every(({ abortUploadsDays }) => abortUploadsDays === undefined)) return
  let next: { keyMarker: string | undefined; uploadIdMarker: string | undefined } | undefined = {
    keyMarker: undefined,
    uploadIdMarker: undefined,
  }
  while (next !== undefined) {
    const query = { prefix, delimiter: '', max: limits.listUploadsMax, ...next }
    const { page } = await listUploads(backend, serverScope(bucket.name), query)
    yield page.entries.filter(({ upload }) => {
      const due = upload && uploadExpirationOf(rules, upload)
      return due !== undefined && due.dueMs <= nowMs
    })
    const last = page.entries.at(-1)
    next = page.next && last && { keyMarker: last.key, uploadIdMarker: last.uploadId }
  }
}

/** Resolves with false when it has been completed or aborted meanwhile. */
async function abortDue(backend: Backend, bucket: string, { key, uploadId }: ListedUpload): Promise<boolean> {
  try {
    await abortUpload(backend, serverScope(bucket), { key, uploadId })
    return true
  } catch (error) {
    if (isOneOf(error, 'NoSuchUpload', 'NoSuchBucket', 'OperationAborted')) return false
    throw error
  }
}

function isOneOf(error: unknown, ...codes: ErrorCode[]): boolean {
  return error instanceof S3Error && codes.includes(error.code)
}
