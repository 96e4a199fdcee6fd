import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { patternBytes, seededClock, seededRandom } from '../seeded.ts'
import { get, put } from '../suite.ts'
import { filesBelow, type OpenedStore, openStore, type TemporaryDirectory, temporaryDirectory } from './opened-store.ts'

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
