/** What every step of a recovery works with, and what it counts. */

import type { Blobs, Manifest } from '../../blobs/blobs.ts'
import type { Clock } from '../../clock.ts'
import { garbagePut } from '../../commits/commit.ts'
import type { Key, Kv, Put } from '../../kv/kv.ts'
import type { ShardStore } from '../../stores/shard-store.ts'
import type { RecoveryLocation } from './found-blobs.ts'
import type { Staging } from './staging.ts'

export interface RecoverReport {
  /** Absent: there was none that could be read. */
  snapshot: { id: string; createdMs: number; entries: number } | undefined
  /** Newer snapshots that could not be read. */
  damagedSnapshots: number
  shardsRead: number
  buckets: number
  bucketsFromShards: number
  /** Versions, delete markers too. */
  versions: number
  versionsFromShards: number
  openUploads: number
  /** Versions and parts that are listed, and whose data is not there. */
  unreadable: number
  /** Blobs of which there are too few shards to read them, and that no record references. */
  incomplete: number
  /** A few of them, with what is missing. */
  notRecovered: string[]
}

export interface Recovery {
  /** The new metadata. */
  kv: Kv
  clock: Clock
  /** Over the stores that are there. */
  blobs: Pick<Blobs, 'read' | 'locations'>
  /** Those that are there. */
  stores: readonly ShardStore[]
  staging: Staging
  locations: readonly RecoveryLocation[]
  graceMs: number
  /** When the snapshot that was loaded was taken. */
  takenMs: number | undefined
  report: RecoverReport
  /** Which keys of the ring wrap those of objects that were found, as `name id`. */
  wrappedBy: Set<string>
  advance(step: { done?: number; counts?: Record<string, number> }): void
}

const namedMax = 20

export function notRecovered(report: RecoverReport, what: string): void {
  if (report.notRecovered.length < namedMax) report.notRecovered.push(what)
}

const batchPuts = 500

/** Gathers writes of many keys, of which no two name the same. */
export class Writes {
  readonly #recovery: Pick<Recovery, 'kv' | 'clock'>
  #puts: Put[] = []
  #deletes: Key[] = []

  constructor(recovery: Pick<Recovery, 'kv' | 'clock'>) {
    this.#recovery = recovery
  }

  put(...puts: readonly Put[]): void {
    this.#puts.push(...puts)
  }

  delete(...keys: readonly Key[]): void {
    this.#deletes.push(...keys)
  }

  /** Reclaimed after the grace, like what a commit leaves unreferenced. */
  garbage(...manifests: readonly Manifest[]): void {
    for (const manifest of manifests) this.#puts.push(garbagePut(this.#recovery, { kind: 'blob', manifest }))
  }

  /** Call between keys: what was written is read by none before. */
  async whenMany(): Promise<void> {
    if (this.#puts.length + this.#deletes.length >= batchPuts) await this.flush()
  }

  async flush(): Promise<void> {
    const [puts, deletes] = [this.#puts, this.#deletes]
    this.#puts = []
    this.#deletes = []
    if (puts.length + deletes.length > 0) await this.#recovery.kv.commit({ puts, deletes })
  }
}
