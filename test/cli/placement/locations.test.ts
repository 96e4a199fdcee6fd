/** Locations as an operator meets them: what a configuration must not remove, how many disks may be missing, copies that become shards. */
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { keyVariables, run } from '../holdfast-process.ts'
import { disk, holdsAll, LocationsWorld, putAll, safe, sixDisks, small, striped, three } from '../locations-world.ts'

const { place, configure, serving, command, refusal, status } = new LocationsWorld('locations')

describe('a location of two copies over three disks', () => {
  test('does not start with as many disks away as there are copies', async () => {
    await serving((client) => client.makeBucket('safe'))
    for (const name of ['disk1', 'disk3']) await rename(place.path(name), place.path(`${name}-away`))
    const said = await refusal()
    expect(said).toContain("location safe keeps 2 copies, and 2 of its stores can't be used")
    expect(said).toContain('disk1: ')
    expect(said).toContain('disk3: ')
  })

  test('has its lost disk named by a command in a line for people, and in a line of JSON for programs', async () => {
    await serving((client) => client.makeBucket('safe'))
    await rename(place.path('disk2'), place.path('disk2-away'))
    const said = 'store disk2 is taken out of use: '
    expect((await command('locations', 'status')).stderr).toMatch(new RegExp(`^holdfast: ${said}.*\\n$`))
    const { stderr } = await command('locations', 'status', '--json')
    expect(JSON.parse(stderr)).toMatchObject({ level: 40, msg: expect.stringContaining(said) })
  })

  test('refuses to replace a disk that is there', async () => {
    await serving((client) => client.makeBucket('safe'))
    const { code, stderr } = await command('locations', 'replace', 'disk1')
    expect([code, stderr]).toEqual([1, expect.stringContaining('store disk1 is there and in use')])
  })
})

describe('a changed configuration', () => {
  test('may not lack a location that a bucket is in, nor a store that holds data; what is unused may go', async () => {
    await serving(async (client) => {
      await client.makeBucket('safe')
      await client.put('key', small(1))
    })
    await configure(three)
    expect(await refusal()).toContain(
      '[locations.safe] was removed from the configuration, but it is the location of bucket',
    )

    await configure(three + safe.replace('copies = 2', 'copies = 1').replace('"disk1", "disk2", ', ''))
    await serving((client) => client.holds('key', small(1)))
    expect(await status()).toMatchObject({ version: 2, copies: 1 })

    await configure(disk('disk3') + safe.replace('copies = 2', 'copies = 1').replace('"disk1", "disk2", ', ''))
    expect(await refusal()).toMatch(
      /\[stores\.disk\d\] was removed from the configuration, but it still holds data, such as of bucket bucket/,
    )

    await configure(three + safe)
    await serving(async (client) => {
      await client.delete('key')
      await client.deleteBucket()
    })
    await configure('')
    expect(await serving(async () => {})).toMatchObject({ code: 0 })
  })

  test('may not bring a directory that holds something else, nor one store twice', async () => {
    await mkdir(place.path('disk1'))
    await writeFile(place.path('disk1', 'photo.jpg'), 'x')
    expect(await refusal()).toContain('stores.disk1: ')
    await rm(place.path('disk1', 'photo.jpg'))
    await serving(async () => {})
    // Another server's store, with data.
    await configure(
      `${disk('disk1')}${safe.replace('copies = 2', 'copies = 1').replace('"disk1", "disk2", "disk3"', '"disk1"')}`,
    )
    await serving(async (client) => {
      await client.makeBucket('safe')
      await client.put('key', small(1))
    })
    await rm(place.path('data'), { recursive: true })
    expect(await refusal()).toContain('belongs to other metadata')
  })

  test('that is left out is asked for by the commands for a stopped server', async () => {
    await serving((client) => client.makeBucket('safe'))
    const { code, stderr } = await run(['reclaim', '--data', place.path('data')], keyVariables).ended
    expect([code, stderr]).toEqual([1, expect.stringContaining('[stores.disk1], which the configuration lacks')])
  })
})

describe('a location of 4 + 2 shards over six disks', () => {
  test('takes over what lay there in copies', async () => {
    await configure(sixDisks.map(disk).join('') + safe)
    await serving(async (client) => {
      await client.makeBucket('safe')
      await putAll(client, 'before')
    })
    await configure(sixDisks.map(disk).join('') + striped)
    await serving(async (client) => {
      await holdsAll(client, 'before')
      await putAll(client, 'after')
      await holdsAll(client, 'after')
    })
    expect(await status()).toMatchObject({ version: 2, scheme: 'erasure' })
    await configure(sixDisks.map(disk).join('') + safe)
    await serving((client) => holdsAll(client, 'after'))
  })
})

test('a location that is not configured is refused', async () => {
  await serving(async (client) => {
    await expect(client.makeBucket('nowhere')).rejects.toMatchObject({
      name: 'InvalidLocationConstraint',
      message: expect.stringContaining('are: default, safe.'),
    })
  })
})
