/** A scrub beside random writes, deletes, reclaim and compaction finds no damage where none was done, and what was done in the end. */
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { S3Error } from '../../src/errors.ts'
import { compactStores } from '../../src/jobs/compact.ts'
import { reclaimGarbage } from '../../src/jobs/reclaim.ts'
import { scrubTask } from '../../src/jobs/repairing/scrub.ts'
import { startTasks } from '../../src/jobs/tasks/task-runner.ts'
import { readTask, requestTask } from '../../src/jobs/tasks/tasks.ts'
import { deleteObject } from '../../src/objects/delete-object.ts'
import { spoil } from '../blobs/disks.ts'
import { put, read, scope } from '../objects/fixture.ts'
import { patternBytes, seededRandom } from '../support/seeded.ts'
import { type DiskStore, erasureStore, pieces, replicaStore } from './disk-fixture.ts'
import { findAndRelease } from './orphans-fixture.ts'

let made: DiskStore
afterEach(() => made.dispose())

const seed = Number(process.env.HOLDFAST_SEED ?? Date.now() % 1_000_000)
const scrubName = { kind: 'scrub', name: '' }
const steps = 70

async function scrubbed(): Promise<Readonly<Record<string, number>>> {
  await requestTask(made.backend, { ...scrubName, arguments: {} })
  for (;;) {
    const record = (await readTask(made.kv, scrubName))?.record
    if (record?.state === 'failed') throw new Error(record.reason)
    if (record?.state === 'done') return record.progress.counts
    await turn()
  }
}

describe.each([
  ['two copies', () => replicaStore({ disks: 3, copies: 2 })],
  ['2 + 1 shards', () => erasureStore({ disks: 4, data: 2, parity: 1, location: { replicateBelow: 5_000 } })],
] as const)('a scrub of %s', (_, open) => {
  it(`beside writes tells damage from change (seed ${seed})`, async () => {
    made = await open()
    const random = seededRandom(seed)
    const below = (most: number): number => Math.floor(random() * most)
    const expected = new Map<string, Buffer>()
    const errors: unknown[] = []
    const runner = startTasks({
      backend: made.backend,
      kinds: [scrubTask({ bytesPerSecond: undefined })],
      onError: (error) => errors.push(error),
      pollMs: 1,
    })
    const step = async (): Promise<void> => {
      const key = `key-${below(25)}`
      const dice = below(20)
      if (dice < 12) {
        const bytes = patternBytes(below(1000), below(2) === 0 ? below(3_000) : below(40_000))
        await put(made, key, pieces(bytes))
        expected.set(key, bytes)
      } else if (dice < 17) {
        await deleteObject(made.backend, scope, { key })
        expected.delete(key)
      } else if (dice < 19) {
        // Nobody but the scrub reads: nothing has to be kept for others.
        await reclaimGarbage(made.backend, { graceMs: 0 })
        await findAndRelease(made.backend, { graceMs: 0 })
      } else await compactStores(made.backend, { graceMs: 0 })
    }
    let writing = true
    const scrubs = (async () => {
      let looked = 0
      while (writing) {
        const { checked = 0, ...found } = await scrubbed()
        expect(found).toEqual({ snapshotPieces: 0, damaged: 0, repaired: 0, degraded: 0, lost: 0, unreachable: 0 })
        looked += checked
      }
      return looked
    })()
    for (let i = 0; i < steps; i++) await step()
    writing = false
    expect(await scrubs).toBeGreaterThan(20)

    let damaged = 0
    for (const key of [...expected.keys()].slice(0, 8)) {
      const { shards } = await made.manifestOf(key)
      const shard = shards[below(shards.length)]
      if (shard === undefined || expected.get(key)?.length === 0) continue
      await spoil(made.disks.of(shard.storeId), shard, 'flipped', random() * 0.01)
      damaged++
    }
    expect(await scrubbed()).toMatchObject({ damaged, repaired: damaged, lost: 0 })
    for (const [key, bytes] of expected) expect((await read(made, key)).equals(bytes), key).toBe(true)
    await runner.stop()
    expect(errors.filter((error) => !(error instanceof S3Error))).toEqual([])
  })
})
