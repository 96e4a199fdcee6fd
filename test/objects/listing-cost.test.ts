/** A page of 1,000 lines out of 1,000,000 keys reads what it shows: asserted on entries read, not on time. */
import { beforeAll, describe, expect, it } from 'vitest'
import { listObjects, type ObjectQuery } from '../../src/objects/list-objects.ts'
import { scope, storeWithBucket, type TestStore } from './fixture.ts'
import { fill } from './listing-model.ts'

const groups = 10_000
const keysInGroup = 100
const max = 1000
const digits = (value: number, width: number): string => String(value).padStart(width, '0')
const groupName = (group: number): string => `g${digits(group, 5)}/`
const keyName = (key: number): string => `${groupName(Math.floor(key / keysInGroup))}${digits(key % keysInGroup, 3)}`

function* millionKeys(): Generator<string> {
  for (let key = 0; key < groups * keysInGroup; key++) yield keyName(key)
}

describe('out of a million keys', () => {
  let made: TestStore
  beforeAll(async () => {
    made = await storeWithBucket()
    await fill(made.backend.kv, 'bucket', millionKeys())
  })

  async function listed(query: Partial<ObjectQuery>) {
    made.kv.entriesRead = 0
    const { page } = await listObjects(made.backend, scope, {
      prefix: '',
      delimiter: '',
      max,
      start: undefined,
      ...query,
    })
    return { page, read: made.kv.entriesRead }
  }

  it('the first page reads one entry more than it shows', async () => {
    const { page, read } = await listed({})
    expect(page.entries).toHaveLength(max)
    expect(page.entries[0]?.key).toBe(keyName(0))
    expect(read).toBe(max + 1)
  })

  it.each([
    ['behind a key', { afterKey: keyName(876_543) }, keyName(876_544)],
    ['behind a text that is no key', { afterKey: `${groupName(5000)}0500` }, keyName(500_051)],
    ['behind a group', { afterGroup: groupName(8765) }, keyName(876_600)],
  ])('a deep page, %s, costs the same', async (_what, start, first) => {
    const { page, read } = await listed({ start })
    expect(page.entries).toHaveLength(max)
    expect(page.entries[0]?.key).toBe(first)
    expect(read).toBe(max + 1)
  })

  it.each([
    ['the first', undefined, 0],
    ['a deep', { afterGroup: groupName(7777) }, 7778],
    ['one that starts inside a group', { afterKey: keyName(777_750) }, 7777],
  ] as const)('a page of groups, %s, skips what they fold', async (_which, start, first) => {
    const { page, read } = await listed({ delimiter: '/', start })
    expect(page.groups).toHaveLength(max)
    expect(page.groups[0]).toBe(groupName(first))
    expect(page.groups.at(-1)).toBe(groupName(first + max - 1))
    expect(read).toBe(max + 1)
  })

  it('a page of groups and keys together reads one entry more than it shows', async () => {
    await fill(
      made.backend.kv,
      'bucket',
      Array.from({ length: groups }, (_, i) => `${groupName(i).slice(0, -1)}-key`),
    )
    const { page, read } = await listed({ delimiter: '/', start: { afterGroup: groupName(5000) } })
    expect(page.groups.length + page.entries.length).toBe(max)
    expect(page.groups.length).toBeGreaterThan(max / 3)
    expect(page.entries.length).toBeGreaterThan(max / 3)
    expect(read).toBe(max + 1)
  })

  it('a small page, and a prefix that few keys have, cost little', async () => {
    expect((await listed({ max: 1 })).read).toBe(2)
    expect((await listed({ prefix: groupName(4321) })).read).toBe(keysInGroup)
    expect((await listed({ prefix: 'nothing' })).read).toBe(0)
    expect((await listed({ max: 1, delimiter: '/' })).read).toBe(2)
  })
})
