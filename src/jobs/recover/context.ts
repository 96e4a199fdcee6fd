/** What every step of a recovery works with, and what it counts. */

import type { Blobs, Manifest } from '../../blobs/blobs.ts'
import type { Clock } from '../../clock.ts'
import { garbagePut } from '../../commits/commit.ts'
import type { Key, Kv, Put } from '../../kv/kv.ts'
import type { ShardStore } from '../../stores/shard-store.ts'
import type { RecoveryLocation } from './found-blobs.ts'
import type { Staging } from './staging.ts'

export interface RecoverReport {
  /** Absent: no snapshot could be read. */
  snapshot: { id: string; createdMs: number; entries: number } | undefined
  /** Newer snapshots that could not be read. */
  damagedSnapshots: number
  shardsRead: number
  buckets: number
  bucketsFromShards: number
  /** Versions, delete markers included. */
  versions: number
  versionsFromShards: number
  openUploads: number
  /** Versions and parts that are listed, but whose data is missing. */
  unreadable: number
  /** Blobs that no record references and that have too few shards to be read. */
  incomplete: number
  /** Buckets that admit only their owner's own key until they are confirmed. */
  unconfirmed: string[]
  /** A few of them, each with what is missing. */
  notRecovered: string[]
}

export interface Recovery {
  /** The new metadata. */
  kv: Kv
  clock: Clock
  /** Reads from the stores that are there. */
  blobs: Pick<Blobs, 'read' | 'locations'>
  /** The stores that are there. */
  stores: readonly ShardStore[]
  staging: Staging
  locations: readonly RecoveryLocation[]
  /** Unreferenced data that is older than the snapshot by more than this was never committed. */
  graceMs: number
  /** When the loaded snapshot was taken. */
  takenMs: number | undefined
  report: RecoverReport
  /** The keys of the ring that wrap the keys of found objects, as `name id`. */
  wrappedBy: Set<string>
  advance(step: { done?: number; counts?: Record<string, number> }): void
}

const namedMax = 20

export function notRecovered(report: RecoverReport, what: string): void {
  if (report.notRecovered.length < namedMax) report.notRecovered.push(what)
}

const batchPuts = 500

/** Gathers writes to many keys. No two of them name the same key. */
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

  /** Reclaimed after the grace, like everything that a commit leaves unreferenced. */
  garbage(...manifests: readonly Manifest[]): void {
    for (const manifest of manifests) this.#puts.push(garbagePut(this.#recovery, { kind: 'blob', manifest }))
  }

  /** Call between keys. What was written can be read only after a flush. */
  async flushWhenMany(): Promise<void> {
    if (this.#puts.length + this.#deletes.length >= batchPuts) await this.flush()
  }

  async flush(): Promise<void> {
    const [puts, deletes] = [this.#puts, this.#deletes]
    this.#puts = []
    this.#deletes = []
    if (puts.length + deletes.length > 0) await this.#recovery.kv.commit({ puts, deletes })
  }
}
