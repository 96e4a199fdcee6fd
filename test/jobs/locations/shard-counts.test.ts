/** How many shards each store holds of each location: what is referenced, wherever it lies, and nothing that is garbage. */
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type CountedShards, ShardCounts } from '../../../src/jobs/locations/shard-counts.ts'
import { begin, complete, put, sendPart } from '../../objects/fixture.ts'
import { type MovableStore, movableStore, moved } from '../move-fixture.ts'

let made: MovableStore
beforeEach(async () => {
  made = await movableStore()
})
afterEach(() => made.dispose())

async function counted(): Promise<CountedShards> {
  const counts = new ShardCounts(made.backend)
  await expect.poll(() => counts.known()).toBeDefined()
  const known = counts.known()
  await counts.stop()
  if (known === undefined) throw new Error('nothing was counted')
  return known
}

/** Of each disk in turn. */
async function shardsIn(location: string): Promise<number[]> {
  const known = await counted()
  return made.disks.stores.map(({ storeId }) => known.of(location, storeId).shards)
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0)

it('are those of objects, parts and completed uploads, where they lie', async () => {
  expect(await shardsIn('default')).toEqual([0, 0, 0, 0, 0, 0, 0, 0])
  await put(made, 'one', 'x'.repeat(100))
  const upload = await begin(made, 'two')
  const part = await sendPart(made, upload, 1, 'y'.repeat(200))
  expect(await shardsIn('default')).toEqual([2, 0, 0, 0, 0, 0, 0, 0])
  const [disk] = made.disks.stores
  expect((await counted()).of('default', disk?.storeId ?? '').bytes).toBe(300)
  await complete(made, upload, [part])
  // The note that names the parts has a shard of its own.
  expect(sum(await shardsIn('default'))).toBe(3)
})

it('are each copy and each piece of a stripe', async () => {
  await put(made, 'copied', 'x'.repeat(100))
  await moved(made, 'pair')
  expect(await shardsIn('default')).toEqual([0, 0, 0, 0, 0, 0, 0, 0])
  const copies = await shardsIn('pair')
  expect([sum(copies), sum(copies.slice(1, 4))]).toEqual([2, 2])

  await put(made, 'striped', 'x'.repeat(20_000))
  await moved(made, 'striped')
  const pieces = await shardsIn('striped')
  // Two copies of the small one, three pieces of the other.
  expect([sum(pieces), sum(pieces.slice(4))]).toEqual([5, 5])
  const known = await counted()
  const bytes = sum(made.disks.stores.map(({ storeId }) => known.of('striped', storeId).bytes))
  expect(bytes).toBe(2 * 100 + 3 * 10_000)
})

it('leave out what was overwritten', async () => {
  await put(made, 'key', 'first')
  await put(made, 'key', 'second one')
  const [disk] = made.disks.stores
  expect((await counted()).of('default', disk?.storeId ?? '')).toEqual({ shards: 1, bytes: 10 })
})

it('are not counted again at once', async () => {
  const counts = new ShardCounts(made.backend)
  await expect.poll(() => counts.known()).toBeDefined()
  const first = counts.known()
  await put(made, 'key', 'bytes')
  for (let i = 0; i < 20; i++) expect(counts.known()).toBe(first)
  await counts.stop()
})
