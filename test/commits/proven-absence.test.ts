/** That something is not there is said only when its neighbours agree: a flipped bit in a key is an error, not a 404. */
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { deleteObject } from '../../src/objects/delete-object.ts'
import { findVersion } from '../../src/objects/find-version.ts'
import { objectKey } from '../../src/records/keyspace.ts'
import { outcome, put, scope, storeWithBucket, type TestStore } from '../objects/fixture.ts'

let made: TestStore
beforeEach(async () => {
  made = await storeWithBucket()
  for (const key of ['b', 'd', 'f']) await put(made, key)
})

const find = (key: string): Promise<string> => outcome(findVersion(made.backend, scope, key, undefined))

/** The entry of `from` stands under the key of `to`, as after a flip. */
async function misplace(from: string, to: string): Promise<void> {
  const [key, wrong] = [objectKey('bucket', from), objectKey('bucket', to)]
  const [entry] = await made.kv.get([key])
  await made.kv.commit({ deletes: [key], puts: entry === undefined ? [] : [{ key: wrong, value: entry.value }] })
}

it('what never was there is not, between whichever neighbours', async () => {
  for (const key of ['a', 'c', 'e', 'g']) expect(await find(key), key).toBe('NoSuchKey')
})

describe('an object whose key was changed', () => {
  it.each([
    ['before its place', 'c'],
    ['behind its place', 'e'],
  ])('to one %s is not said to be missing', async (_, wrong) => {
    await misplace('d', wrong)
    expect(await find('d')).toBe('ServiceUnavailable')
    // Nothing is wrong elsewhere.
    expect(await find('b')).toBe('ok')
    expect(await find('f')).toBe('ok')
  })
})

/** Others act around the next look at neighbours. */
function aroundTheLook(before: () => Promise<unknown>, after: () => Promise<unknown> = async () => {}): void {
  const look = made.kv.view.bind(made.kv)
  vi.spyOn(made.kv, 'view').mockImplementationOnce(async (keys, queries, read) => {
    await before()
    const found = await look(keys, queries, read)
    await after()
    return found
  })
}

const write = (): Promise<unknown> => put(made, 'd2')
const remove = (): Promise<unknown> => deleteObject(made.backend, scope, { key: 'd2' })

describe('is no damage:', () => {
  it('a write between the read and the look at the neighbours', async () => {
    aroundTheLook(write)
    expect(await find('d2')).toBe('NoSuchKey')
    expect(await find('d2')).toBe('ok')
  })

  it('a write before that look, and a delete right after it', async () => {
    aroundTheLook(write, remove)
    expect(await find('d2')).toBe('NoSuchKey')
  })
})

it('what is damaged is checked once, however often clients ask for it', async () => {
  const check = vi.spyOn(made.kv.integrity, 'check').mockImplementation(async () => damaged)
  const damaged = { startedMs: 0, entries: 3, coversBelow: 9, damagedRecords: 1, damagedKeys: [] }
  await misplace('d', 'e')
  expect(await find('d')).toBe('ServiceUnavailable')
  vi.spyOn(made.kv.integrity, 'lastCheck').mockImplementation(async () => damaged)
  for (let times = 0; times < 5; times++) expect(await find('d')).toBe('ServiceUnavailable')
  expect(check).toHaveBeenCalledTimes(1)
})
