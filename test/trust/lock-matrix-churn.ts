/** Objects that come and go around a locked version in a directory, so that compaction has a reason to move it. */
import { reclaimGarbage } from '../../src/jobs/reclaim.ts'
import type { Kv } from '../../src/kv/kv.ts'
import { findAndRelease } from '../jobs/orphans-fixture.ts'
import { openStore, tinySizes } from '../stores/directory/opened-store.ts'
import { SimulatedFs } from '../stores/simulated-fs.ts'
import { patternBytes, seededClock, seededRandom } from '../support/seeded.ts'
import { putInputs } from './direct-client.ts'
import { World } from './lock-matrix-world.ts'

const fillers = 60
/** Some twenty of them fill a segment. */
const filler = patternBytes(1, 2900)

export interface DirectoryWorld {
  world: World
  close(): Promise<void>
}

/** A world over a directory of a simulated file system, with sizes so small that segments fill at once. */
export async function directoryWorld(kv?: Kv): Promise<DirectoryWorld> {
  const random = seededRandom(1)
  const clock = seededClock(random)
  const { store: shards } = await openStore({
    path: '/mnt/store',
    clock,
    fs: new SimulatedFs({ random }),
    ...tinySizes,
  })
  return { world: new World({ clock, shards, ...(kv === undefined ? {} : { kv }) }), close: () => shards.close() }
}

/** Afterwards hardly anything but the locked version lives in its segment. */
export async function churn({ client, backend, clock }: World): Promise<void> {
  const bucket = 'churn'
  await client.must('CreateBucket', { bucket })
  for (let i = 0; i < fillers; i++) await client.must('PutObject', { bucket, key: `${i}` }, putInputs(filler))
  for (let i = 0; i < fillers; i++) await client.must('DeleteObject', { bucket, key: `${i}` })
  clock.advance(1)
  await findAndRelease(backend, { graceMs: 0 })
  clock.advance(1)
  await reclaimGarbage(backend, { graceMs: 0 })
}
