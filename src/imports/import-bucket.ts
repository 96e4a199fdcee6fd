/** Brings a bucket of another S3 server here: what is missing, key by key, while both are in use. */

import { eachOf } from '../each-of.ts'
import { endpointLimits } from '../endpoint/endpoint-limits.ts'
import { isTransient, TransferFailed } from '../endpoint/failures.ts'
import { pauseAfterFailure } from '../endpoint/retries.ts'
import { type BucketRoute, finishBucket, hasBucket, prepareBucket, versioningOf } from './bucket-settings.ts'
import { type Comparing, type KeyPair, type KeyPlan, pairedKeys, planCurrent, planHistory } from './compare.ts'
import { copyVersion } from './copy-version.ts'
import { ImportRefused } from './failures.ts'
import { type ListedBucket, listedKeys, type SeenVersion, versionsOf } from './listing.ts'
import type { Route } from './route.ts'

export interface ImportAsked extends Omit<Route, 'ignoreEtags'>, Comparing {
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
  /** Keys that are as they should be. */
  same: number
  newerHere: number
  deleted: number
  failed: number
}

/** Is told what happens. */
export interface ImportListener {
  counted(counts: ImportCounts): void
  /** A key could not be copied, or not all of it. */
  failed(key: string, reason: string): void
  newerHere(key: string): void
  settingLeft(setting: string, reason: string): void
}

/** May run again and again. Rejects with `TransferFailed`. */
export async function importBucket(asked: ImportAsked, listener: ImportListener): Promise<ImportCounts> {
  const { source, target, from, to, dryRun } = asked
  const versioning = await versioningOf(source, from)
  const versions = versioning === undefined ? 'current' : asked.versions
  const route: BucketRoute = { source, target, from, to, tell: listener.settingLeft }
  const kept = versions === 'all' ? versioning : undefined
  if (!dryRun) await prepareBucket(route, kept)
  const theirs: ListedBucket = { endpoint: source, bucket: from, versions }
  const ours: ListedBucket = { endpoint: target, bucket: to, versions }
  const isHere = !dryRun || (await hasBucket(target, to))
  const work = new KeyWork(asked, theirs, ours, listener)
  const pairs = pairedKeys(listedKeys(theirs, asked.prefix), isHere ? listedKeys(ours, asked.prefix) : nothing())
  await eachOf(pairs, asked.parallel, (pair) => work.do(pair))
  if (!dryRun) await finishBucket(route, kept)
  return work.counts
}

async function* nothing(): AsyncGenerator<never> {}

class KeyWork {
  readonly counts: ImportCounts = { copied: 0, bytes: 0, same: 0, newerHere: 0, deleted: 0, failed: 0 }
  readonly #asked: ImportAsked
  readonly #theirs: ListedBucket
  readonly #ours: ListedBucket
  readonly #listener: ImportListener

  constructor(asked: ImportAsked, theirs: ListedBucket, ours: ListedBucket, listener: ImportListener) {
    this.#asked = asked
    this.#theirs = theirs
    this.#ours = ours
    this.#listener = listener
  }

  /** Brings one key here. Whatever goes wrong with it alone is told, and counted. */
  async do(pair: KeyPair): Promise<void> {
    let now = pair
    for (let failed = 1; ; failed++) {
      try {
        await this.#bring(now)
        break
      } catch (error) {
        if (!(error instanceof TransferFailed)) throw error
        if (!isTransient(error) || failed === endpointLimits.attempts) {
          this.#fail(pair.key, error.message)
          break
        }
        await pauseAfterFailure(failed)
        // A write that was not answered may have been made, and the source may have changed.
        now = await this.#readAgain(pair.key)
      }
    }
    this.#listener.counted(this.counts)
  }

  async #bring(pair: KeyPair): Promise<void> {
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
      ? planHistory(theirs.toReversed(), ours.toReversed(), this.#asked)
      : planCurrent(theirs[0], ours[0], this.#asked)
  }

  async #copy(key: string, version: SeenVersion): Promise<void> {
    if (!this.#asked.dryRun) await copyVersion(this.#asked, key, version)
    this.counts.copied++
    this.counts.bytes += version.size
  }

  /** A delete marker hides the key already. */
  async #deleteMissing({ key, target }: KeyPair): Promise<void> {
    const { target: endpoint, to, deleteMissing, dryRun } = this.#asked
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
