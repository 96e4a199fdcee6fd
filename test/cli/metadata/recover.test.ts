/** The metadata's disk is lost: what `holdfast recover` gives back of it, as an operator runs it, also when it is killed on the way. */
import { existsSync } from 'node:fs'
import { readdir, rename } from 'node:fs/promises'
import { afterEach, expect, test } from 'vitest'
import { killLeftovers, killOnTheWay } from '../holdfast-process.ts'
import { everything, fill, makeBuckets, RecoverWorld, removeVersion, schemes } from '../recover-world.ts'

let world: RecoverWorld
afterEach(async () => {
  await killLeftovers()
  await world.dispose()
})

const whole = { unreadable: 0, incomplete: 0, notRecovered: [] }
const away = { name: 'disk2', reason: expect.any(String) }

test('everything comes back from a snapshot and newer copies, with one disk lost, too; a recovery that is killed counts for nothing', async () => {
  world = await RecoverWorld.make(schemes['two copies'])
  const before = await world.serving(async (s3) => {
    await makeBuckets(s3)
    await fill(s3, 'old')
    await removeVersion(s3, 'versioned', 'old-0')
    expect(await world.command('backup', '--on-stores')).toMatchObject({ code: 0, stderr: '' })
    expect(await world.command('recover')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/in use by .* would not notice the metadata that recover writes. Stop it first/),
    })
    await fill(s3, 'new')
    return everything(s3)
  })
  await world.loseMetadata()
  await world.loseDisk('disk2')

  await killOnTheWay(
    () => world.running('recover'),
    () => existsSync(world.path('data', 'recovering')),
    () => world.loseMetadata(),
  )
  expect(await world.command('serve')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('holdfast recover did not finish'),
  })

  expect(await world.recovered()).toMatchObject({
    ...whole,
    event: 'recovered',
    snapshot: { createdMs: expect.any(Number) },
    buckets: 4,
    bucketsFromShards: 0,
    storesMissing: [away],
  })
  expect(await readdir(world.path('data'))).not.toContain('recovering')
  expect(await world.serving(everything)).toEqual(before)
})

test('everything comes back from 2 of 2 + 1 shards alone; not the key ring, and no location that is not configured', async () => {
  world = await RecoverWorld.make(schemes['2 + 1 shards'])
  const before = await world.serving(async (s3) => {
    await makeBuckets(s3)
    await fill(s3, 'only')
    return everything(s3)
  })
  await world.loseMetadata()
  await world.loseDisk('disk2')
  const keys = world.path('data', 'keys')
  await rename(keys, `${keys}.aside`)
  await world.configure(world.stores)
  expect(await world.command('recover')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('keeps its data in the location safe'),
  })
  await world.configure(world.stores + world.location)
  expect(await world.recovered()).toMatchObject({ ...whole, bucketsFromShards: 4, storesMissing: [away] })
  expect(await world.command('serve')).toMatchObject({ code: 1, stderr: expect.stringContaining('lacks key') })
  await rename(`${keys}.aside`, keys)
  expect(await world.serving(everything)).toEqual(before)
  expect(await world.command('recover')).toMatchObject({ code: 1, stderr: expect.stringContaining('holds metadata') })
})
