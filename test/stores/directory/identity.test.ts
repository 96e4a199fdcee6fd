import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Ownership } from '../../../src/stores/store-claim.ts'
import { patternBytes, seededClock, seededRandom, type TestClock } from '../../support/seeded.ts'
import { ownedBy } from '../owners.ts'
import type { SimulatedFs } from '../simulated-fs.ts'
import { get, put } from '../suite.ts'
import {
  filesBelow,
  type OpenedStore,
  openStore,
  simulated,
  type TemporaryDirectory,
  temporaryDirectory,
} from './opened-store.ts'

let directory: TemporaryDirectory
let opened: OpenedStore[]
beforeEach(async () => {
  directory = await temporaryDirectory()
  opened = []
})
afterEach(async () => {
  for (const { store } of opened) await store.close()
  await directory.remove()
})

const clock = seededClock(seededRandom(1))

async function open(path: string, create = true): Promise<OpenedStore> {
  const one = await openStore({ path, clock, create })
  opened.push(one)
  return one
}

describe('the identity of a store', () => {
  test('is made with its missing ancestors, private to the user, and stays', async () => {
    const path = join(directory.path, 'a', 'b')
    const first = await open(path)
    const second = await open(path, false)
    expect(second.store.storeId).toBe(first.store.storeId)
    expect((await stat(path)).mode & 0o777).toBe(0o700)
    expect((await stat(join(path, 'holdfast-store.json'))).mode & 0o777).toBe(0o600)
    expect(JSON.parse(await readFile(join(path, 'holdfast-store.json'), 'utf8'))).toMatchObject({
      format: 1,
      storeId: first.store.storeId,
    })
  })

  test('is all that a store makes which nobody writes to', async () => {
    const { store } = await open(directory.path)
    await store.close()
    expect(await filesBelow(directory.path)).toEqual([join(directory.path, 'holdfast-store.json')])
  })

  test('is refused where there is none, unless a store is to be made', async () => {
    await expect(open(directory.path, false)).rejects.toThrow('not mounted')
    await expect(open(join(directory.path, 'absent'), false)).rejects.toThrow('not mounted')
  })

  test('is made on a fresh file system, and where an earlier attempt was cut off', async () => {
    await mkdir(join(directory.path, 'lost+found'))
    await mkdir(join(directory.path, 'segments'))
    await writeFile(join(directory.path, `holdfast-store.json.${'0'.repeat(32)}`), '{')
    await open(directory.path)
    expect(await filesBelow(directory.path)).toEqual([join(directory.path, 'holdfast-store.json')])
  })

  test('is never made over other data', async () => {
    await writeFile(join(directory.path, 'thesis.doc'), 'x')
    await expect(open(directory.path)).rejects.toThrow('not empty (thesis.doc)')
    await rm(join(directory.path, 'thesis.doc'))
    await mkdir(join(directory.path, 'segments'))
    await writeFile(join(directory.path, 'segments', 'x'), 'x')
    await expect(open(directory.path)).rejects.toThrow('not empty (segments)')
  })

  test.each([
    ['', 'not JSON'],
    ['{"format":1', 'not JSON'],
    ['null', 'names no format'],
    ['{"format":1}', 'names no format'],
    ['{"format":2,"storeId":"x"}', 'has format 2'],
    ['{"format":1,"storeId":"../x"}', 'its storeId is not one'],
  ])('is refused when it holds %s', async (text, reason) => {
    const { store } = await open(directory.path)
    await store.close()
    await writeFile(join(directory.path, 'holdfast-store.json'), text)
    await expect(open(directory.path)).rejects.toThrow(reason)
  })

  test('is refused where the data below it is gone', async () => {
    const { store } = await open(directory.path)
    await store.close()
    await rm(join(directory.path, 'segments'), { recursive: true })
    await expect(open(directory.path)).rejects.toThrow('lacks segments')
  })

  test('is refused when it cannot be read, and left as it is', async () => {
    const { store } = await open(directory.path)
    await store.close()
    await rm(join(directory.path, 'holdfast-store.json'))
    await mkdir(join(directory.path, 'holdfast-store.json'))
    await expect(open(directory.path)).rejects.toThrow('EISDIR')
  })
})

describe('the owner of a store', () => {
  const openedBy = (fs: SimulatedFs, seededClock: TestClock, ownership: Ownership): Promise<OpenedStore> =>
    openStore({ path: '/mnt/store', clock: seededClock, fs, ownership })

  test.each(Array.from({ length: 50 }, (_, seed) => seed))(
    'is one of three who make it at once, seed %i',
    async (seed) => {
      const { fs, clock: seeded } = simulated(seed)
      const makers = ['one', 'two', 'three'].map((id) => openedBy(fs, seeded, ownedBy(id)))
      const made = await Promise.allSettled(makers)
      const won = made.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
      expect(won).toHaveLength(1)
      await won[0]?.store.check()
      expect(fs.files('/mnt/store')).toEqual(['/mnt/store/holdfast-owner.1.json', '/mnt/store/holdfast-store.json'])
    },
  )

  test.each(Array.from({ length: 50 }, (_, seed) => seed))(
    'is one of three who claim what 0.1.0 wrote at once, seed %i',
    async (seed) => {
      const { fs, clock: seeded } = simulated(seed)
      const { store } = await openStore({ path: '/mnt/store', clock: seeded, fs })
      await store.close()
      const claims = ['one', 'two', 'three'].map((id) => openedBy(fs, seeded, { ...ownedBy(id), knows: store.storeId }))
      const claimed = await Promise.allSettled(claims)
      expect(claimed.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected'])
      await expect(openedBy(fs, seeded, ownedBy('four'))).rejects.toThrow('belongs to other metadata')
    },
  )

  test.each(Array.from({ length: 60 }, (_, call) => call))('survives a crash at call %i of its claim', async (call) => {
    const { fs, clock: seeded } = simulated(call)
    fs.crashAt = call
    const opening = openedBy(fs, seeded, ownedBy('one', ['1-a']))
    const isOpen = await Promise.race([opening.then(() => true), fs.crashed.then(() => false)])
    const after = fs.afterCrash({ random: seededRandom(call) })
    if (isOpen) await expect(openedBy(after, seeded, ownedBy('two'))).rejects.toThrow('belongs to other metadata')
    const again = await openedBy(after, seeded, ownedBy('one', ['1-a', '2-b']))
    await again.store.check()
    await expect(openedBy(after, seeded, ownedBy('two'))).rejects.toThrow('belongs to other metadata')
  })

  test('is known again at its next start, and only its newest claim stays', async () => {
    const { fs, clock: seeded } = simulated(1)
    const starts = ['1-a', '2-b', '3-c']
    for (const [i] of starts.entries()) {
      const { store } = await openedBy(fs, seeded, ownedBy('one', starts.slice(0, i + 1)))
      await store.close()
    }
    expect(fs.files('/mnt/store')).toContain('/mnt/store/holdfast-owner.3.json')
    expect(fs.files('/mnt/store')).toHaveLength(2)
  })

  test('notices while it is open that a copy of its metadata has claimed it', async () => {
    const { fs, clock: seeded } = simulated(1)
    const { store } = await openedBy(fs, seeded, ownedBy('one', ['1-a']))
    const copy = await openedBy(fs, seeded, ownedBy('one', ['1-a', '2-b']))
    await expect(store.check()).rejects.toThrow('by a copy of this metadata')
    await copy.store.check()
  })

  test.each(['ENOSPC', 'EROFS'])('may open what is its own where nothing can be written: %s', async (code) => {
    const { fs, clock: seeded } = simulated(1)
    const made = await openedBy(fs, seeded, ownedBy('one', ['1-a']))
    await made.store.close()
    fs.fault = ({ name }) => (name === 'write' ? code : undefined)
    const again = await openedBy(fs, seeded, ownedBy('one', ['1-a', '2-b']))
    expect(again.warnings).toEqual([expect.stringContaining('could not be claimed')])
    await again.store.check()
  })
})

describe('a store that is opened again', () => {
  test('reads what was written before, and what other processes write meanwhile', async () => {
    const first = await open(directory.path)
    const small = await put(first.store, patternBytes(1, 1000))
    const large = await put(first.store, patternBytes(2, 400_000))
    const second = await openStore({ path: directory.path, clock, create: false, firstOpener: false })
    opened.push(second)
    expect((await get(second.store, small, 0, 1000)).equals(patternBytes(1, 1000))).toBe(true)
    const later = await put(first.store, patternBytes(3, 1000))
    expect((await get(second.store, later, 0, 1000)).equals(patternBytes(3, 1000))).toBe(true)
    await first.store.close()
    const third = await open(directory.path)
    expect((await get(third.store, large, 0, 400_000)).equals(patternBytes(2, 400_000))).toBe(true)
  })
})
