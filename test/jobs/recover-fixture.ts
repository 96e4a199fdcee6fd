/** A store over several disks whose metadata is snapshotted, lost and recovered, in this process. */

import { type Blobs, openBlobs } from '../../src/blobs/blobs.ts'
import { openErasureCode } from '../../src/blobs/erasure/code.ts'
import type { Location } from '../../src/blobs/location.ts'
import type { ShardPlace } from '../../src/blobs/manifest.ts'
import type { RecoverReport } from '../../src/jobs/recover/context.ts'
import { recoveryLocation } from '../../src/jobs/recover/found-blobs.ts'
import { emptyReport, recover } from '../../src/jobs/recover/recover.ts'
import { Staging } from '../../src/jobs/recover/staging.ts'
import { snapshotTask } from '../../src/jobs/snapshots.ts'
import type { RunningTask } from '../../src/jobs/tasks/task-runner.ts'
import { memoryKv } from '../../src/kv/memory.ts'
import { packKey, rangeOf } from '../../src/kv/ordered-key.ts'
import { createBucket } from '../../src/objects/buckets.ts'
import { bucketCodec } from '../../src/records/bucket-record.ts'
import { partCodec, uploadCodec, versionCodec } from '../../src/records/record-codecs.ts'
import { memoryShardStore } from '../../src/stores/memory.ts'
import type { ShardStore } from '../../src/stores/shard-store.ts'
import { type Disks, openDisks } from '../blobs/disks.ts'
import { storeOfBlobs, type TestStore } from '../objects/fixture.ts'
import { seededClock, seededRandom } from '../support/seeded.ts'

const code = openErasureCode()

export const layouts = {
  'two copies': { scheme: 'replica', copies: 2 },
  '2 + 1 shards': { scheme: 'erasure', data: 2, parity: 1, replicateBelow: 0 },
} as const

export const graceMs = 60_000

export interface RecoverableStore extends TestStore {
  disks: Disks
  /** Onto the stores of the location. */
  snapshot(kept?: number, advance?: RunningTask['advance']): Promise<void>
  /** The same stores with metadata that was rebuilt from them. `without`: disks that are not there. */
  recovered(without?: readonly string[]): Promise<RecoverableStore & { report: RecoverReport }>
  dispose(): Promise<void>
}

/** A bucket named `bucket` lies in a location over three disks. */
export async function recoverableStore(layout: (typeof layouts)[keyof typeof layouts]): Promise<RecoverableStore> {
  const clock = seededClock(seededRandom(1))
  const disks = await openDisks(3, clock)
  const shards = memoryShardStore({ clock })
  const blobsOver = (stores: readonly ShardStore[]): Blobs => {
    const safe: Location = { ...layout, name: 'safe', version: 1, stores }
    const inMemory: Location = { name: 'default', version: 1, scheme: 'replica', stores: [shards] }
    return openBlobs([inMemory, safe], { clock, erasureCode: () => code })
  }
  const over = (stores: readonly ShardStore[]): RecoverableStore => {
    const made = storeOfBlobs(blobsOver(stores), clock)
    return {
      ...made,
      shards,
      disks,
      snapshot: (kept = 3, advance = async () => {}) =>
        snapshotTask({ everyMs: undefined, kept }).run(made.backend, { ...task, advance }),
      recovered: async (without = []) => {
        const there = disks.stores.filter(({ name }) => !without.includes(name))
        const next = over(there)
        const report = emptyReport()
        const { blobs, kv } = next.backend
        await recover(
          {
            kv,
            clock,
            blobs,
            stores: [shards, ...there],
            staging: new Staging(memoryKv()),
            locations: blobs.locations.map(recoveryLocation),
            graceMs,
            takenMs: undefined,
            report,
            wrappedBy: new Set(),
            advance: () => {},
          },
          { isWanted: () => true, owner: 'main' },
        )
        return { ...next, report }
      },
      dispose: () => disks.dispose(),
    }
  }
  const made = over(disks.stores)
  await makeSafeBucket(made)
  return made
}

export const makeSafeBucket = ({ backend }: TestStore, name = 'bucket') =>
  createBucket(backend, { name, owner: 'main', locationConstraint: 'safe', location: 'safe', objectLock: undefined })

const task: RunningTask = {
  name: 'now',
  arguments: {},
  cursor: undefined,
  progress: { done: 0, unit: 'bytes', counts: {} },
  signal: new AbortController().signal,
  advance: async () => {},
}

const codecs = {
  b: bucketCodec,
  o: undefined,
  c: versionCodec,
  v: versionCodec,
  n: undefined,
  u: undefined,
  i: uploadCodec,
  p: partCodec,
} as const

/** All records of what clients see and of where it lies, by table and key. The clock stands still while a test writes, so that even times are the same. */
export async function recordsOf({ kv }: TestStore): Promise<Record<string, unknown>> {
  const records: Record<string, unknown> = {}
  for (const [table, codec] of Object.entries(codecs)) {
    for (const { key, value } of await kv.range({ ...rangeOf(table), limit: 10_000 })) {
      const name = key.subarray(packKey(table).length).toString('latin1')
      records[`${table} ${name}`] = codec === undefined ? value.toString('latin1') : sorted(codec.decode(key, value))
    }
  }
  return records
}

/** The order of places means nothing. */
function sorted(record: unknown): unknown {
  return JSON.parse(JSON.stringify(record), (name, value) =>
    name === 'shards' ? value.toSorted((a: ShardPlace, b: ShardPlace) => (a.storeId < b.storeId ? -1 : 1)) : value,
  )
}
