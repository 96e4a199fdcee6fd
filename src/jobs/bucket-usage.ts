/**
 * Counts what each bucket holds, by walking its records in the background. Writes keep no totals, because a total is one record that all writers of a bucket would
 * contend for. Each process that is asked counts for itself.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Backend } from '../commits/backend.ts'
import type { KeyRange } from '../kv/ordered-key.ts'
import { limits } from '../limits.ts'
import type { BucketRecord } from '../records/bucket-record.ts'
import { historyOfBucket, ObjectKeys } from '../records/keyspace.ts'
import { versionCodec } from '../records/record-codecs.ts'
import { RecordDamaged } from '../records/record-format.ts'
import { everyBucket } from './blob-reference.ts'
import { everyEntry } from './every-entry.ts'
import { unhurried } from './unhurried.ts'

/** The content of one bucket, counted at some time. */
export interface BucketUsage {
  /** The number of current objects. */
  objects: number
  /** The number of versions, without delete markers. */
  versions: number
  deleteMarkers: number
  /** Bytes of all versions. Parts of open uploads do not count. */
  bytes: number
  currentBytes: number
  measuredMs: number
}

export interface ListedBucket {
  record: BucketRecord
  /** Absent: not counted yet. */
  usage: BucketUsage | undefined
}

interface Counted {
  bucketId: string
  usage: BucketUsage
}

export class BucketUsages {
  readonly #backend: Pick<Backend, 'kv' | 'clock'>
  /** By name. A bucket that was removed and made again has another id, so its count is not confused with the old one. */
  #counted = new Map<string, Counted>()
  #counting: Promise<void> | undefined
  readonly #stopping = new AbortController()

  constructor(backend: Pick<Backend, 'kv' | 'clock'>) {
    this.#backend = backend
  }

  /** All buckets in order of name. Begins to count those whose usage is old, and waits a moment for those that were never counted. */
  async list(): Promise<ListedBucket[]> {
    const records: BucketRecord[] = []
    for await (const record of everyBucket(this.#backend.kv)) records.push(record)
    const counting = this.#refresh(records)
    const isMissing = records.some(({ name, id }) => this.#counted.get(name)?.bucketId !== id)
    if (isMissing) await Promise.race([counting, delay(limits.usageWaitMs, undefined, { ref: false })])
    return records.map((record) => {
      const counted = this.#counted.get(record.name)
      return { record, usage: counted?.bucketId === record.id ? counted.usage : undefined }
    })
  }

  /** What is known already, without counting. */
  known(): BucketUsage[] {
    return [...this.#counted.values()].map(({ usage }) => usage)
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#counting
  }

  /** Never rejects. Calls during a count share it. */
  #refresh(records: readonly BucketRecord[]): Promise<void> {
    this.#counting ??= this.#countOld(records)
      .catch(() => {
        // The next list tries again. An engine that fails for good ends the process by itself.
      })
      .finally(() => {
        this.#counting = undefined
      })
    return this.#counting
  }

  async #countOld(records: readonly BucketRecord[]): Promise<void> {
    const names = new Set(records.map(({ name }) => name))
    for (const name of this.#counted.keys()) if (!names.has(name)) this.#counted.delete(name)
    for (const { name, id } of records) {
      if (this.#stopping.signal.aborted) return
      const known = this.#counted.get(name)
      const isFresh = known?.bucketId === id && this.#backend.clock.now() - known.usage.measuredMs < limits.usageAgeMs
      if (!isFresh) this.#counted.set(name, { bucketId: id, usage: await this.#count(name) })
    }
  }

  async #count(name: string): Promise<BucketUsage> {
    const found: BucketUsage = { objects: 0, versions: 0, deleteMarkers: 0, bytes: 0, currentBytes: 0, measuredMs: 0 }
    await this.#walk(new ObjectKeys(name).startingWith(''), (size) => {
      found.objects++
      found.currentBytes += size ?? 0
    })
    found.versions = found.objects
    found.bytes = found.currentBytes
    await this.#walk(historyOfBucket(name), (size) => {
      if (size === undefined) found.deleteMarkers++
      else {
        found.versions++
        found.bytes += size
      }
    })
    return { ...found, measuredMs: this.#backend.clock.now() }
  }

  /** `see`: gets a version's size; `undefined` for a delete marker. */
  async #walk(range: KeyRange, see: (size: number | undefined) => void): Promise<void> {
    for await (const { key, value } of everyEntry(unhurried(this.#backend.kv, this.#stopping.signal), range)) {
      try {
        const record = versionCodec.decodeListed(key, value)
        see(record.kind === 'marker' ? undefined : record.size)
      } catch (error) {
        // A scrub reports damaged records.
        if (!(error instanceof RecordDamaged)) throw error
      }
    }
  }
}
