/**
 * Removes what the lifecycle rules of buckets say, and gives versions another storage class, once after each midnight in UTC, and again when a bucket's rules
 * have changed. It goes by the clock of Object Lock: a machine's clock that is set ahead by mistake removes nothing.
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
import { unkeptClass } from '../../rules/transition-rules.ts'
import { everyEntry } from '../every-entry.ts'
import { type DueTransition, type DueVersion, DueVersions, type RulesNow } from './due-versions.ts'
import { removeDue } from './remove-due.ts'
import { transitionDue } from './transition-due.ts'

export interface LifecycleOptions {
  backend: Backend
  /** Called when the rules of one bucket could not be followed. Those of others are. */
  onError(error: unknown): void
  /** Called with a number of versions and uploads that were removed, or of versions that got another storage class. */
  did?(count: number): void
}

export interface LifecycleReport {
  /** Versions and uploads. */
  removed: number
  /** Versions that got another storage class. */
  moved: number
}

interface Walk extends RulesNow {
  bucket: BucketRecord
}

export class Lifecycle {
  readonly #options: LifecycleOptions
  /** By the id of each bucket: the day and the settings of the last walk that came to its end. */
  #walked = new Map<string, string>()
  #isStopped = false

  constructor(options: LifecycleOptions) {
    this.#options = options
  }

  async run(): Promise<LifecycleReport> {
    const { backend, onError } = this.#options
    const nowMs = await lockNow(backend)
    const walked = new Map<string, string>()
    const report: LifecycleReport = { removed: 0, moved: 0 }
    for await (const { key, value } of everyEntry(backend.kv, buckets)) {
      if (this.#isStopped) break
      try {
        const bucket = bucketCodec.decode(key, value)
        const rules = bucket.lifecycle?.filter(({ enabled }) => enabled) ?? []
        if (rules.length === 0) continue
        const { transitionMinimum } = bucket
        const state = JSON.stringify([Math.floor(nowMs / dayMs), bucket.versioning, rules, transitionMinimum])
        if (this.#walked.get(bucket.id) !== state) {
          const missing = unkeptClass(rules, backend.blobs.keptClasses)
          if (missing !== undefined)
            onError(new Error(`no location keeps ${missing}, to which rules of bucket ${bucket.name} move objects`))
          await this.#walk({ bucket, rules, nowMs, transitionMinimum }, report)
        }
        walked.set(bucket.id, state)
      } catch (error) {
        // Of a bucket that has been removed meanwhile, there is nothing to say.
        if (!isOneOf(error, 'NoSuchBucket')) onError(error)
      }
    }
    this.#walked = walked
    return report
  }

  /** A run under way ends soon. */
  stop(): void {
    this.#isStopped = true
  }

  async #walk(walk: Walk, report: LifecycleReport): Promise<void> {
    const { backend, did = () => {} } = this.#options
    const { nowMs, bucket } = walk
    const each = async <T>(
      all: readonly T[],
      act: (one: T) => Promise<keyof LifecycleReport | undefined>,
    ): Promise<void> => {
      for (let at = 0; at < all.length && !this.#isStopped; at += limits.lifecycleRemovalsAtOnce) {
        const outcomes = await Promise.all(all.slice(at, at + limits.lifecycleRemovalsAtOnce).map(act))
        const done = outcomes.filter((outcome) => outcome !== undefined)
        for (const outcome of done) report[outcome]++
        if (done.length > 0) did(done.length)
      }
    }
    for (const prefix of prefixesOf(walk.rules)) {
      for await (const page of dueVersions(backend, walk, prefix)) {
        await each(page, async (due) => {
          if (due.kind === 'transition')
            return (await transitionDue(backend, bucket.name, due, nowMs)) ? 'moved' : undefined
          return (await removeDue(backend, bucket.name, due, nowMs)) ? 'removed' : undefined
        })
        if (this.#isStopped) return
      }
      for await (const page of dueUploads(backend, walk, prefix)) {
        await each(page, async (upload) => ((await abortDue(backend, bucket.name, upload)) ? 'removed' : undefined))
        if (this.#isStopped) return
      }
    }
  }
}

async function* dueVersions(
  backend: Backend,
  { bucket, ...now }: Walk,
  prefix: string,
): AsyncGenerator<(DueVersion | DueTransition)[]> {
  if (!now.rules.some(concernsVersions)) return
  const due = new DueVersions(now)
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

function concernsVersions({
  expiration,
  noncurrent,
  transitions = [],
  noncurrentTransitions = [],
}: LifecycleRule): boolean {
  return expiration !== undefined || noncurrent !== undefined || transitions.length + noncurrentTransitions.length > 0
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
