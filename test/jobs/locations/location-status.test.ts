/** What is said of locations: how their stores are, before anything was written to them, and which buckets come there. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { locationStatuses, type MoveStatus } from '../../../src/jobs/locations/location-status.ts'
import { moveKind } from '../../../src/jobs/moves/move-bucket.ts'
import { cancelTask, readTask, requestTask, writeTask } from '../../../src/jobs/tasks/tasks.ts'
import { beginMove, endMove } from '../../../src/objects/buckets.ts'
import type { Fault } from '../../blobs/disks.ts'
import { put } from '../../objects/fixture.ts'
import { type MovableStore, movableStore, moved } from '../move-fixture.ts'

let made: MovableStore
beforeEach(async () => {
  made = await movableStore()
})
afterEach(() => made.dispose())

const storesOf = async (location: string) =>
  (await locationStatuses(made.backend)).find(({ name }) => name === location)?.stores

async function moves(): Promise<Record<string, MoveStatus[]>> {
  const statuses = await locationStatuses(made.backend)
  return Object.fromEntries(statuses.flatMap(({ name, moves }) => (moves.length > 0 ? [[name, moves]] : [])))
}

describe('a store that nobody wrote to yet', () => {
  it.each([
    ['EROFS', 'its file system is read-only (EROFS)'],
    ['EACCES', 'it may not be written to (EACCES)'],
  ])('is read-only where writing there would fail with %s', async (code, reason) => {
    const mayNotWrite: Fault = async (operation) => {
      if (operation === 'requireWritable') throw Object.assign(new Error(code), { code })
    }
    made.disks.all[2]?.fault(mayNotWrite)
    expect(await storesOf('pair')).toMatchObject([
      { name: 'disk1', state: 'up', reason: undefined },
      { name: 'disk2', state: 'read-only', reason, usedBytes: 0 },
      { name: 'disk3', state: 'up' },
    ])
    made.disks.all[1]?.fault(mayNotWrite)
    await put(made, 'key', 'bytes')
    // A plan and a move know it, too.
    expect(await moved(made, 'pair')).toMatchObject({
      state: 'failed',
      reason: expect.stringContaining('a write needs 2 durable shards, and only 1 can be placed'),
    })
  })
})

describe('a move', () => {
  const task = { kind: moveKind, name: 'bucket' }

  it('is of the location that it goes to, from when it is asked for until all is there', async () => {
    await requestTask(made.backend, { ...task, arguments: { to: 'pair' } })
    expect(await moves()).toMatchObject({ pair: [{ bucket: 'bucket', state: 'waiting' }] })

    const bucket = await beginMove(made.backend, 'bucket', 'pair')
    const found = await readTask(made.kv, task)
    if (found === undefined) throw new Error('there is no task')
    const progress = { done: 5, total: 10, unit: 'bytes', counts: { moved: 1 } } as const
    await writeTask(made.kv, { ...found, record: { ...found.record, state: 'running', progress } })
    expect(await moves()).toEqual({ pair: [{ bucket: 'bucket', state: 'running', reason: undefined, progress }] })

    await cancelTask(made.backend, task)
    expect(await moves()).toMatchObject({ pair: [{ bucket: 'bucket', state: 'cancelled', progress }] })
    await endMove(made.backend, bucket)
    expect(await moves()).toEqual({})
  })

  it('that was refused is none', async () => {
    expect(await moved(made, 'nowhere')).toMatchObject({ state: 'failed' })
    expect(await moves()).toEqual({})
    expect(await moved(made, 'pair', {}, 'missing')).toMatchObject({ state: 'failed' })
    expect(await moves()).toEqual({})
  })
})
