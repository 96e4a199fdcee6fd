/** The metadata's disk is lost where data lies in buckets of other servers, one of which is lost, too. */
import { afterEach, expect, test } from 'vitest'
import { type FarSide, openFarSide } from '../stores/s3/far-side.ts'
import { killLeftovers } from './holdfast-process.ts'
import { disks, everything, fill, makeBuckets, RecoverWorld, removeVersion, schemes } from './recover-world.ts'

let world: RecoverWorld
let far: Map<string, FarSide>
afterEach(async () => {
  await killLeftovers()
  await Promise.all([...far.values()].map((side) => side.close()))
  await world.dispose()
})

async function make(scheme: string): Promise<void> {
  far = new Map(await Promise.all(disks.map(async (name) => [name, await openFarSide()] as const)))
  world = await RecoverWorld.make(scheme, (name) => {
    const { endpoint, bucket, prefix } = far.get(name)?.address ?? {}
    return `type = "s3"\nendpoint = "${endpoint}"\nbucket = "${bucket}"\nprefix = "${prefix}"\n`
  })
}

async function lose(name: string): Promise<void> {
  await far.get(name)?.close()
  far.delete(name)
}

const missing = { name: 'disk2', reason: expect.stringContaining("can't be reached (ECONNREFUSED)") }
const whole = { unreadable: 0, incomplete: 0, notRecovered: [], storesMissing: [missing] }

test('everything comes back from a snapshot and newer copies', async () => {
  await make(schemes['two copies'])
  const before = await world.serving(async (s3) => {
    await makeBuckets(s3)
    await fill(s3, 'old')
    await removeVersion(s3, 'versioned', 'old-0')
    expect(await world.command('backup', '--on-stores')).toMatchObject({ code: 0, stderr: '' })
    await fill(s3, 'new')
    return everything(s3)
    // With the machine that it ran on: its batches stay open.
  }, 'SIGKILL')
  await world.loseMetadata()
  await lose('disk2')
  expect(await world.recovered()).toMatchObject({ ...whole, snapshot: { entries: expect.any(Number) }, buckets: 4 })
  expect(await world.serving(everything)).toEqual(before)
})

test('everything comes back from 2 of 2 + 1 shards alone', async () => {
  await make(schemes['2 + 1 shards'])
  const before = await world.serving(async (s3) => {
    await makeBuckets(s3)
    await fill(s3, 'only')
    return everything(s3)
  })
  await world.loseMetadata()
  await lose('disk2')
  const held = await Promise.all([...far.values()].map((side) => side.keys()))
  expect(await world.recovered()).toMatchObject({ ...whole, bucketsFromShards: 4 })
  // It reads, and changes nothing on the stores.
  expect(await Promise.all([...far.values()].map((side) => side.keys()))).toEqual(held)
  expect(await world.serving(everything)).toEqual(before)
})
