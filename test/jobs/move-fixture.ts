/** A bucket that can be moved: between one copy, two copies, and the shards of an erasure code, over disks of their own. */
import { setImmediate as turn } from 'node:timers/promises'
import { openBlobs } from '../../src/blobs/blobs.ts'
import { openErasureCode } from '../../src/blobs/erasure/code.ts'
import type { Location } from '../../src/blobs/location.ts'
import type { Manifest } from '../../src/blobs/manifest.ts'
import { everyBucket } from '../../src/jobs/blob-reference.ts'
import { type MoveSettings, moveKind, moveTask } from '../../src/jobs/moves/move-bucket.ts'
import { startTasks } from '../../src/jobs/tasks/task-runner.ts'
import { isEnded, readTask, requestTask, type TaskArguments, type TaskRecord } from '../../src/jobs/tasks/tasks.ts'
import { walkBlobs } from '../../src/jobs/walk-blobs.ts'
import { moves } from '../../src/records/keyspace.ts'
import type { ShardStore } from '../../src/stores/shard-store.ts'
import { type Disks, openDisks } from '../blobs/disks.ts'
import { makeBucket, memoryStore, storeOfBlobs, type TestStore } from '../objects/fixture.ts'
import { seededClock, seededRandom } from '../support/seeded.ts'

export interface MovableStore extends TestStore {
  disks: Disks
  /** The same stores and metadata, with locations as a changed configuration has them. */
  configured(locations: (stores: ShardStore[]) => Location[]): MovableStore
  /** Of every blob that is of a version or an open upload. */
  manifests(): Promise<Manifest[]>
  /** Entries of the queue of late blobs. */
  late(): Promise<number>
  dispose(): Promise<void>
}

const code = openErasureCode()

/** `default`: one copy on disk 0. `pair`: copies on disks 1 to 3. `striped`: 2 + 1 shards over disks 4 to 7, copies below 5,000 bytes. */
export const usualLocations = (stores: ShardStore[]): Location[] => [
  { name: 'default', version: 1, scheme: 'replica', stores: stores.slice(0, 1) },
  { name: 'pair', version: 1, scheme: 'replica', copies: 2, stores: stores.slice(1, 4) },
  {
    name: 'striped',
    version: 1,
    scheme: 'erasure',
    data: 2,
    parity: 1,
    replicateBelow: 5_000,
    stores: stores.slice(4, 8),
  },
]

export async function movableStore(seed = 1): Promise<MovableStore> {
  const clock = seededClock(seededRandom(seed))
  const disks = await openDisks(8, clock)
  const open = (locations: (stores: ShardStore[]) => Location[]) =>
    openBlobs(locations(disks.stores), { clock, erasureCode: () => code, otherStores: disks.stores })
  const made = { ...storeOfBlobs(open(usualLocations), clock), shards: memoryStore({ clock }).shards }
  await makeBucket(made)
  const withStore = (backend: TestStore['backend']): MovableStore => ({
    ...made,
    backend,
    disks,
    configured: (locations) => withStore({ ...backend, blobs: open(locations) }),
    manifests: async () => {
      const found: Manifest[] = []
      for await (const bucket of everyBucket(made.kv)) {
        for await (const { reference } of walkBlobs(made.kv, bucket)) found.push(reference.manifest)
      }
      return found
    },
    late: async () => (await made.kv.range({ ...moves, limit: 10_000 })).length,
    dispose: () => disks.dispose(),
  })
  return withStore(made.backend)
}

/** As the server does it that finds the request. Resolves with the task when it has ended; rejects when the process died, as it were. */
export async function moved(
  { backend }: MovableStore,
  to: string,
  more: TaskArguments = {},
  bucket = 'bucket',
  settings: MoveSettings = {},
): Promise<TaskRecord> {
  const name = { kind: moveKind, name: bucket }
  await requestTask(backend, { ...name, arguments: { to, ...more } })
  const failures: unknown[] = []
  const runner = startTasks({
    backend,
    kinds: [moveTask({ retryMs: 5, ...settings })],
    onError: (error) => failures.push(error),
    pollMs: 1,
  })
  const ended = async (): Promise<TaskRecord | undefined> => {
    const record = (await readTask(backend.kv, name))?.record
    return record !== undefined && isEnded(record) ? record : undefined
  }
  try {
    for (;;) {
      const record = await ended()
      if (record !== undefined) return record
      if (failures.length > 0) break
      await turn()
    }
  } finally {
    await runner.stop()
  }
  // What failed may have been to say so.
  const record = await ended()
  if (record === undefined) throw failures[0]
  return record
}
