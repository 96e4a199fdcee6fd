/** The metadata's disk is lost: what `holdfast recover` gives back of it, as an operator runs it. */
import { readdir, rm } from 'node:fs/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { killLeftovers } from './holdfast-process.ts'
import { everything, fill, makeBuckets, RecoverWorld, removeVersion, schemes } from './recover-world.ts'

let world: RecoverWorld
afterEach(async () => {
  killLeftovers()
  await world.dispose()
})

describe.each(Object.entries(schemes))('%s', (_name, scheme) => {
  test('give back everything from a snapshot and newer shards, with one disk lost, too', async () => {
    world = await RecoverWorld.make(scheme)
    await world.serving(async (s3) => {
      await makeBuckets(s3)
      await fill(s3, 'old')
      await removeVersion(s3, 'versioned', 'old-0')
      expect(await world.command('backup', '--on-stores')).toMatchObject({ code: 0, stderr: '' })
    })
    const before = await world.serving(async (s3) => {
      await fill(s3, 'new')
      return everything(s3)
    })
    await world.loseMetadata()
    await world.loseDisk('disk2')
    const report = await world.recovered()
    expect(report).toMatchObject({
      event: 'recovered',
      snapshot: { createdMs: expect.any(Number) },
      buckets: 4,
      bucketsFromShards: 0,
      unreadable: 0,
      incomplete: 0,
      notRecovered: [],
      storesMissing: [{ name: 'disk2', reason: expect.any(String) }],
    })
    expect(await world.serving(everything)).toEqual(before)
  }, 120_000)

  test('give back from shards alone all but what no shard tells', async () => {
    world = await RecoverWorld.make(scheme)
    const before = await world.serving(async (s3) => {
      await makeBuckets(s3)
      await fill(s3, 'only')
      return everything(s3)
    })
    await world.loseMetadata()
    expect(await world.recovered()).toMatchObject({ buckets: 4, bucketsFromShards: 4, unreadable: 0, incomplete: 0 })
    expect(await readdir(world.path('data'))).not.toContain('recovering')
    const after = await world.serving(everything)
    expect(after).toEqual(before)
    // What was recovered is as any other: it can be lost and recovered again.
    await world.loseMetadata()
    await world.recovered()
    expect(await world.serving(everything)).toEqual(before)
  }, 120_000)
})

test('a damaged snapshot is passed over for the one before', async () => {
  world = await RecoverWorld.make(schemes['two copies over three disks'])
  const before = await world.serving(async (s3) => {
    await makeBuckets(s3)
    await fill(s3, 'old')
    expect(await world.command('backup', '--on-stores')).toMatchObject({ code: 0 })
    return everything(s3)
  })
  expect(Object.keys(before).length).toBeGreaterThan(10)
  await world.loseMetadata()
  await rm(world.path('data', 'keys'))
  const { code, stderr } = await world.command('recover')
  expect([code, stderr]).toEqual([0, ''])
  // Encrypted objects need the ring: it is not on stores, and no new one is made in its place.
  expect(await world.command('serve')).toMatchObject({ code: 1, stderr: expect.stringContaining('lacks key') })
})
