/** Locations whose disks disappear under the server and are replaced: everything can be read all the time, and in the end all shards are on the new disks. */
import { mkdir, rename } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { lastEvent } from './holdfast-process.ts'
import { disk, holdsAll, LocationsWorld, large, putAll, sixDisks, small, striped } from './locations-world.ts'

const { place, configure, serving, command, refusal, status } = new LocationsWorld('lost-disks')

describe('a location of two copies over three disks', () => {
  test.each([['1'], ['2']])(
    'goes on without one of them, and is whole again on a new one, with %s workers',
    async (workers) => {
      const words = ['--workers', workers]
      await serving(
        async (client) => {
          await client.makeBucket('safe')
          expect(await client.location()).toBe('safe')
          for (let i = 0; i < 6; i++) await client.put(`small-${i}`, small(i))
          for (let i = 0; i < 3; i++) await client.put(`large-${i}`, large(i))
          expect(await status()).toMatchObject({ degradedBlobs: 0, failuresSurvived: { now: 1, whole: 1 } })
          // The disk disappears under the running server.
          await rename(place.path('disk2'), place.path('lost'))
          for (let i = 0; i < 3; i++) await client.holds(`large-${i}`, large(i))
          for (let i = 0; i < 6; i++) await client.put(`after-${i}`, small(10 + i))
          for (let i = 0; i < 3; i++) await client.put(`after-large-${i}`, large(10 + i))
        },
        ...words,
      )

      const away = { name: 'disk2', state: 'out', reason: expect.stringContaining('not mounted') }
      expect(await status()).toMatchObject({ health: 'AT RISK', failuresSurvived: { now: 0 }, stores: [{}, away, {}] })
      expect((await command('locations', 'status')).stdout).toMatch(/^AT RISK: /)
      // The empty directory in its place is not taken for the store.
      await mkdir(place.path('disk2'))
      await serving(
        async (client) => {
          for (let i = 0; i < 6; i++) await client.holds(`small-${i}`, small(i))
          await client.put('again', small(20))

          const replaced = await command('locations', 'replace', 'disk2', '--json')
          expect(replaced).toMatchObject({ code: 0 })
          expect(JSON.parse(replaced.stdout).queuedBlobs).toBeGreaterThan(0)
          // Each process takes up the new store when it next looks at the lost one. Until then the location is not whole.
          for (let repaired = await command('repair'); repaired.code !== 0; repaired = await command('repair'));
          expect(await status()).toMatchObject({ degradedBlobs: 0, stores: [{}, { state: 'up' }, {}] })
        },
        ...words,
      )

      expect(await status()).toMatchObject({
        degradedBlobs: 0,
        failuresSurvived: { now: 1, whole: 1 },
        stores: [{ state: 'up' }, { state: 'up' }, { state: 'up' }],
      })

      expect(await command('locations', 'status')).toMatchObject({ code: 0, stdout: expect.stringMatching(/^OK: /) })

      // The location is whole: any one of the other disks may now fail.
      await rename(place.path('disk1'), place.path('lost-too'))
      await serving(
        async (client) => {
          for (let i = 0; i < 6; i++) await client.holds(`small-${i}`, small(i))
          for (let i = 0; i < 6; i++) await client.holds(`after-${i}`, small(10 + i))
          for (let i = 0; i < 3; i++) await client.holds(`large-${i}`, large(i))
          for (let i = 0; i < 3; i++) await client.holds(`after-large-${i}`, large(10 + i))
          await client.holds('again', small(20))
        },
        ...words,
      )
    },
  )
})

describe('a location of 4 + 2 shards over six disks', () => {
  const away = (...lost: string[]) =>
    Promise.all(lost.map((name) => rename(place.path(name), place.path(`${name}-away`))))

  test('goes on without two of them, and is whole again on new ones', async () => {
    await configure(sixDisks.map(disk).join('') + striped)
    await serving(async (client) => {
      await client.makeBucket('safe')
      await putAll(client, 'before')
      expect(await status()).toMatchObject({
        scheme: 'erasure',
        striping: { data: 4, parity: 2 },
        degradedBlobs: 0,
        failuresSurvived: { now: 2, whole: 2 },
      })
      await away('disk2', 'disk5')
      await holdsAll(client, 'before')
      await putAll(client, 'during')
      await holdsAll(client, 'during')
    })
    expect(await status()).toMatchObject({ failuresSurvived: { now: 0, whole: 2 } })
    for (const name of ['disk2', 'disk5']) {
      const missing = await command('locations', 'replace', name)
      expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining(`${name} does not exist`)])
      await mkdir(place.path(name))
      expect(await command('locations', 'replace', name, '--json')).toMatchObject({ code: 0 })
    }
    const repaired = await command('reclaim', '--json')
    expect(lastEvent(repaired)).toMatchObject({ degradedBlobs: 0, lostBlobs: 0 })
    expect(await status()).toMatchObject({ degradedBlobs: 0, failuresSurvived: { now: 2, whole: 2 } })

    // The location is whole: any two of the other disks may now fail, but no third.
    await away('disk1', 'disk4')
    await serving(async (client) => {
      await holdsAll(client, 'before')
      await holdsAll(client, 'during')
    })
    await away('disk3')
    expect(await refusal()).toContain("location safe keeps 4 + 2 shards, and 3 of its stores can't be used")
  })
})
