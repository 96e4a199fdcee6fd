/** Several servers over one metadata: which changes of stores and locations each start makes, and how the others take them up while they run. */
import { mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { bytesSource } from '../../../src/byte-source.ts'
import { systemClock } from '../../../src/clock.ts'
import { changePlacement, PlacementRefused, readKnownPlacement } from '../../../src/instance/known-placement.ts'
import { readOffers } from '../../../src/instance/placement-offers.ts'
import { known } from '../../../src/known.ts'
import { memoryKv } from '../../../src/kv/memory.ts'
import { replaceStore } from '../../../src/opening/placement/replace-store.ts'
import { type TemporaryDirectory, temporaryDirectory } from '../../stores/directory/opened-store.ts'
import { type Gateway, sharedWorld, type World } from '../shared-world.ts'

let directory: TemporaryDirectory
let world: World
beforeEach(async () => {
  directory = await temporaryDirectory()
  world = sharedWorld(memoryKv(), directory.path)
})
afterEach(async () => {
  await world.end()
  await directory.remove()
})

const bytes = Buffer.from('written by one, read by another')
const write = ({ blobs }: Gateway, location: string) =>
  blobs.write(location, { payload: bytesSource(bytes), describe: () => Buffer.from('a description') })
const read = async ({ blobs }: Gateway, manifest: Awaited<ReturnType<typeof write>>) =>
  Buffer.from(await (await blobs.read(manifest, { start: 0, end: bytes.length })).read())
const versions = ({ blobs }: Gateway): string[] => blobs.locations.map(({ name, version }) => `${name} ${version}`)

describe('a change that waits for another server', () => {
  const start = async () => {
    const g1 = await world.start('g1', world.configured(['a', 'b'], { safe: ['a', 'b'] }))
    const placement = world.configured(['a', 'b', 'c'], { safe: ['a', 'b'], far: ['c'] })
    const g2 = await world.start('g2', placement, { looksByItself: true })
    expect(g2.warnings).toEqual([expect.stringContaining('[locations.far] is not used yet')])
    return { g1, g2 }
  }

  it('is made while its own server runs, once the other one has gone', async () => {
    const { g1, g2 } = await start()
    g1.kill()
    await expect.poll(() => versions(g2)).toEqual(['safe 1', 'far 1'])
    expect(g2.said.join()).toContain('can serve the changed locations')
    expect(g2.warnings).toHaveLength(1)
  })

  it('is no longer reported once the other one has made it', async () => {
    const { g2 } = await start()
    // In place of the first one at its address, so that there is no time in which nothing keeps the change from being made.
    await world.start('g1', world.configured(['a', 'b', 'c'], { safe: ['a', 'b'], far: ['c'] }))
    await expect.poll(() => versions(g2)).toEqual(['safe 1', 'far 1'])
    await delay(1500)
    expect(g2.warnings).toHaveLength(1)
  })

  it('waits for the next start when another one has changed the locations meanwhile', async () => {
    const { g1, g2 } = await start()
    await changePlacement(world.kv, (placement) => ({
      ...placement,
      locations: { ...placement.locations, other: { version: 1, policy: known(placement.locations.safe).policy } },
    }))
    g1.kill()
    await expect.poll(() => g2.warnings).toContainEqual(expect.stringContaining('waits for the next start'))
    expect(Object.keys((await readKnownPlacement(world.kv)).known.locations)).toEqual(['safe', 'other'])
  })
})

describe('servers that share their metadata', () => {
  it('need no store in a data directory, and use the stores that the first of them made', async () => {
    const placement = world.configured(['a', 'b'], { safe: ['a', 'b'] })
    const [g1, g2] = [await world.start('g1', placement), await world.start('g2', placement)]
    expect(await read(g2, await write(g1, 'safe'))).toEqual(bytes)
    expect(await read(g1, await write(g2, 'safe'))).toEqual(bytes)
    expect([g1, g2].map(({ blobs }) => blobs.defaultLocation)).toEqual(['safe', 'safe'])
    expect(g2.blobs.stores.map(({ storeId }) => storeId)).toEqual(g1.blobs.stores.map(({ storeId }) => storeId))
    expect([g1.warnings, g2.warnings]).toEqual([[], []])
  })

  it('that start at the very same time on empty metadata agree on stores and locations', async () => {
    const placement = world.configured(['a', 'b', 'c'], { safe: ['a', 'b'], far: ['c'] })
    const all = await Promise.all(['g1', 'g2', 'g3', 'g4'].map((host) => world.start(host, placement)))
    const [first] = all
    if (first === undefined) throw new Error('none has started')
    const manifest = await write(first, 'safe')
    for (const gateway of all) {
      expect(await read(gateway, manifest)).toEqual(bytes)
      expect(versions(gateway)).toEqual(['safe 1', 'far 1'])
    }
  })

  it('take up a new location while they run, and its bucket’s data at once', async () => {
    const stores = ['a', 'b', 'c']
    const before = world.configured(stores, { safe: ['a', 'b'] })
    const g1 = await world.start('g1', before)
    await (await world.start('g2', before)).close()
    const g2 = await world.start('g2', world.configured(stores, { safe: ['a', 'b'], far: ['c'] }))
    expect(versions(g1)).toEqual(['safe 1'])
    // Does what a PUT into a bucket of that location does.
    expect(await read(g2, await write(g1, 'far'))).toEqual(bytes)
    expect(g1.said).toEqual(['location far is used at version 1 from now on'])
  })

  it('take up a changed location and another default one', async () => {
    const stores = ['a', 'b', 'c']
    const g1 = await world.start('g1', world.configured(stores, { safe: ['a', 'b'] }))
    const changed = { safe: ['a', 'b', 'c'], far: ['c'] }
    await world.start('g2', world.configured(stores, changed, { defaultLocation: 'far' }))
    await g1.look()
    expect(versions(g1)).toEqual(['safe 2', 'far 1'])
    expect(g1.blobs.defaultLocation).toBe('far')
    expect((await write(g1, 'safe')).shards).toHaveLength(3)
  })

  it('answer 503 for a location that nobody has', async () => {
    const g1 = await world.start('g1', world.configured(['a'], { safe: ['a'] }))
    await expect(write(g1, 'far')).rejects.toMatchObject({ code: 'ServiceUnavailable' })
  })
})

describe('a start with a changed configuration', () => {
  const stores = ['a', 'b', 'c']

  it('goes on without a location that another server can’t serve, and says who lacks what', async () => {
    await world.start('g1', world.configured(['a', 'b'], { safe: ['a', 'b'] }))
    const g2 = await world.start('g2', world.configured(stores, { safe: ['a', 'b'], far: ['c'] }))
    expect(versions(g2)).toEqual(['safe 1'])
    expect(g2.warnings).toEqual(['[locations.far] is not used yet, because g1 (g1:9000) lacks [stores.c]'])
  })

  it('is taken over by the last server that gets it, and then by all', async () => {
    const [before, after] = [
      world.configured(['a', 'b'], { safe: ['a', 'b'] }),
      world.configured(stores, { safe: ['a', 'b'], far: ['c'] }),
    ]
    const g1 = await world.start('g1', before)
    const g2 = await world.start('g2', before)
    await g1.close()
    const again1 = await world.start('g1', after)
    expect(versions(again1)).toEqual(['safe 1'])
    await g2.close()
    const again2 = await world.start('g2', after)
    await again1.look()
    expect([versions(again1), versions(again2)]).toEqual([
      ['safe 1', 'far 1'],
      ['safe 1', 'far 1'],
    ])
  })

  it('does not wait for servers that are gone, and removes what they offered', async () => {
    const g1 = await world.start('g1', world.configured(['a', 'b'], { safe: ['a', 'b'] }))
    g1.kill()
    const g2 = await world.start('g2', world.configured(stores, { safe: ['a', 'b'], far: ['c'] }))
    expect(versions(g2)).toEqual(['safe 1', 'far 1'])
    expect((await readOffers(world.kv)).all.map(({ host }) => host)).toEqual(['g2'])
  })

  it('does not wait for the server that it replaces at the same address', async () => {
    await world.start('g1', world.configured(['a', 'b'], { safe: ['a', 'b'] }))
    const again = await world.start('g1', world.configured(stores, { safe: ['a', 'b'], far: ['c'] }))
    expect(versions(again)).toEqual(['safe 1', 'far 1'])
  })

  it('removes a store and a location only when no other server has them', async () => {
    const [before, after] = [
      world.configured(stores, { safe: ['a', 'b'], far: ['c'] }),
      world.configured(['a', 'b'], { safe: ['a', 'b'] }),
    ]
    const g1 = await world.start('g1', before)
    await expect(world.start('g2', after)).rejects.toThrow(
      `[stores.c] is missing: location far uses it; g1 (g1:9000) has it at ${join(directory.path, 'c')}. Add it`,
    )
    const g2 = await world.start('g2', world.configured(stores, { safe: ['a', 'b'] }))
    expect(versions(g2)).toEqual(['safe 1', 'far 1'])
    await g1.close()
    const again = await world.start('g1', world.configured(stores, { safe: ['a', 'b'] }))
    await g2.look()
    expect([versions(again), versions(g2)]).toEqual([['safe 1'], ['safe 1']])
    expect(g2.said).toEqual(['location far was removed'])
  })

  it('misses no server that starts at the same time without the store', async () => {
    const known = world.configured(stores, { safe: ['a', 'b'] })
    await (await world.start('g0', known)).close()
    const results = await Promise.allSettled([
      world.start('g1', world.configured(stores, { safe: ['a', 'b'], far: ['c'] })),
      world.start('g2', world.configured(['a', 'b'], { safe: ['a', 'b'] })),
    ])
    // Either the location waits for g2, or g2 is refused.
    const used = (await readKnownPlacement(world.kv)).known.locations.far !== undefined
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', used ? 'rejected' : 'fulfilled'])
  })

  it('is refused where another store lies under the name of a known one', async () => {
    await world.start('g1', world.configured(['a'], { safe: ['a'] }))
    await mkdir(join(directory.path, 'elsewhere'))
    const wrong = world.configured(['a'], { safe: ['a'] }, { at: { a: 'elsewhere' } })
    await expect(world.start('g2', wrong)).rejects.toThrow(PlacementRefused)
  })
})

describe('the offer of a server', () => {
  it('says which of its stores are out, also when that changes while it runs', async () => {
    const placement = world.configured(['a', 'b'], { safe: ['a', 'b'] })
    await (await world.start('g1', placement)).close()
    await rename(join(directory.path, 'b'), join(directory.path, 'unmounted'))
    await world.start('g1', placement)
    const [offer] = (await readOffers(world.kv)).all
    expect(offer?.stores.a).toEqual({ place: join(directory.path, 'a') })
    expect(offer?.stores.b?.out).toContain('b')
  })

  it('ends with the server', async () => {
    const g1 = await world.start('g1', world.configured(['a'], { safe: ['a'] }))
    await g1.close()
    expect((await readOffers(world.kv)).all).toEqual([])
  })
})

describe('a store that one server has replaced', () => {
  it('is taken up by another that still has the lost one open', async () => {
    const placement = world.configured(['a', 'b'], { safe: ['a', 'b'] })
    const [g1, g2] = [await world.start('g1', placement), await world.start('g2', placement)]
    const [lost] = g2.stores
    if (lost === undefined) throw new Error('there is no store a')
    const before = lost.storeId
    await rename(join(directory.path, 'a'), join(directory.path, 'lost'))
    g1.stores[0]?.takeOut(new Error('lost'))
    await rm(join(directory.path, 'a'), { recursive: true, force: true })
    const [settings] = placement.stores
    if (settings === undefined) throw new Error('no store is configured')
    const backend = { kv: world.kv, blobs: g1.blobs, clock: systemClock }
    await replaceStore(backend, settings, { ...g1.shared, ownership: g1.ownership, clock: systemClock })
    await g2.look()
    await lost.probe()
    expect(lost.storeId).not.toBe(before)
    expect(lost.condition().state).toBe('up')
    expect(await read(g2, await write(g2, 'safe'))).toEqual(bytes)
  })
})
