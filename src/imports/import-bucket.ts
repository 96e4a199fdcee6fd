/** Imports a bucket of another S3 server: copies what is missing, key by key, while both are in use. */

import { eachOf } from '../each-of.ts'
import { endpointLimits } from '../endpoint/endpoint-limits.ts'
import { isTransient, TransferFailed } from '../endpoint/failures.ts'
import { pauseAfterFailure } from '../endpoint/retries.ts'
import { type BucketRoute, finishBucket, hasBucket, prepareBucket, versioningOf } from './bucket-settings.ts'
import { type Comparing, type KeyPair, type KeyPlan, pairedKeys, planCurrent, planHistory } from './compare.ts'
import { copyVersion } from './copy-version.ts'
import { ImportRefused } from './failures.ts'
import { type ListedBucket, type ListedVersion, listedKeys, versionsOf } from './listing.ts'
import type { Route } from './route.ts'

export interface ImportOptions extends Omit<Route, 'ignoreEtags'>, Comparing {
  /** Only keys that start with it. Empty: all. */
  prefix: string
  versions: 'all' | 'current'
  /** Keys that the source does not have are deleted here. */
  deleteMissing: boolean
  /** Nothing is written. */
  dryRun: boolean
  /** How many keys are copied at a time. */
  parallel: number
}

export interface ImportCounts {
  /** Versions, with their delete markers. */
  copied: number
  bytes: number
  /** Keys that need no copy. */
  same: number
  newerHere: number
  deleted: number
  failed: number
}

export interface ImportListener {
  counted(counts: ImportCounts): void
  /** A key could not be copied, or not all of it. */
  failed(key: string, reason: string): void
  newerHere(key: string): void
  settingSkipped(setting: string, reason: string): void
}

/** Can be repeated: each run copies what has changed since. Rejects with `TransferFailed`. */
export async function importBucket(options: ImportOptions, listener: ImportListener): Promise<ImportCounts> {
  const { source, target, from, to, dryRun } = options
  const versioning = await versioningOf(source, from)
  const versions = versioning === undefined ? 'current' : options.versions
  const route: BucketRoute = { source, target, from, to, skipped: listener.settingSkipped }
  const kept = versions === 'all' ? versioning : undefined
  if (!dryRun) await prepareBucket(route, kept)
  const theirs: ListedBucket = { endpoint: source, bucket: from, versions }
  const ours: ListedBucket = { endpoint: target, bucket: to, versions }
  const isHere = !dryRun || (await hasBucket(target, to))
  const importer = new KeyImporter(options, theirs, ours, listener)
  const pairs = pairedKeys(listedKeys(theirs, options.prefix), isHere ? listedKeys(ours, options.prefix) : nothing())
  await eachOf(pairs, options.parallel, (pair) => importer.importKey(pair))
  if (!dryRun) await finishBucket(route, kept)
  return importer.counts
}

async function* nothing(): AsyncGenerator<never> {}

class KeyImporter {
  readonly counts: ImportCounts = { copied: 0, bytes: 0, same: 0, newerHere: 0, deleted: 0, failed: 0 }
  readonly #options: ImportOptions
  readonly #theirs: ListedBucket
  readonly #ours: ListedBucket
  readonly #listener: ImportListener

  constructor(options: ImportOptions, theirs: ListedBucket, ours: ListedBucket, listener: ImportListener) {
    this.#options = options
    this.#theirs = theirs
    this.#ours = ours
    this.#listener = listener
  }

  /** Imports one key. Failures that concern only this key are reported and counted. */
  async importKey(pair: KeyPair): Promise<void> {
    let current = pair
    for (let failures = 1; ; failures++) {
      try {
        await this.#importOnce(current)
        break
      } catch (error) {
        if (!(error instanceof TransferFailed)) throw error
        if (!isTransient(error) || failures === endpointLimits.attempts) {
          this.#fail(pair.key, error.message)
          break
        }
        await pauseAfterFailure(failures)
        // A write without an answer may have taken effect, and the source may have changed.
        current = await this.#readAgain(pair.key)
      }
    }
    this.#listener.counted(this.counts)
  }

  async #importOnce(pair: KeyPair): Promise<void> {
    const { counts } = this
    if (pair.source === undefined) return this.#deleteMissing(pair)
    const plan = this.#planOf(pair)
    if (plan.kind === 'same') counts.same++
    else if (plan.kind === 'newer here') {
      counts.newerHere++
      this.#listener.newerHere(pair.key)
    } else if (plan.kind === 'diverged') {
      throw new ImportRefused(
        'its versions here do not come from the source, so the missing ones have no place among them',
      )
    } else for (const version of plan.versions) await this.#copy(pair.key, version)
  }

  #planOf({ source, target }: KeyPair): KeyPlan {
    const [theirs, ours] = [source?.versions ?? [], target?.versions ?? []]
    return this.#theirs.versions === 'all'
      ? planHistory(theirs.toReversed(), ours.toReversed(), this.#options)
      : planCurrent(theirs[0], ours[0], this.#options)
  }

  async #copy(key: string, version: ListedVersion): Promise<void> {
    if (!this.#options.dryRun) await copyVersion(this.#options, key, version)
    this.counts.copied++
    this.counts.bytes += version.size
  }

  /** Leaves keys that a delete marker hides already. */
  async #deleteMissing({ key, target }: KeyPair): Promise<void> {
    const { target: endpoint, to, deleteMissing, dryRun } = this.#options
    if (!deleteMissing || target?.versions[0]?.isMarker === true) return
    if (!dryRun) await endpoint.read({ method: 'DELETE', bucket: to, key })
    this.counts.deleted++
  }

  async #readAgain(key: string): Promise<KeyPair> {
    const [source, target] = await Promise.all([versionsOf(this.#theirs, key), versionsOf(this.#ours, key)])
    const some = (listed: typeof source) => (listed.versions.length === 0 ? undefined : listed)
    return { key, source: some(source), target: some(target) }
  }

  #fail(key: string, reason: string): void {
    this.counts.failed++
    this.#listener.failed(key, reason)
  }
}
