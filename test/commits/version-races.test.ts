/** Versions that move between the history and the current place while they are looked for: they are found all the same. */
import { beforeEach, describe, expect, it } from 'vitest'
import type { Backend } from '../../src/commits/backend.ts'
import { findOwner } from '../../src/jobs/shard-owner.ts'
import type { Kv } from '../../src/kv/kv.ts'
import { changeBucket } from '../../src/objects/buckets.ts'
import { deleteObject } from '../../src/objects/delete-object.ts'
import { findVersion } from '../../src/objects/find-version.ts'
import { listVersions, type VersionQuery } from '../../src/objects/list-versions.ts'
import { objectKey } from '../../src/records/keyspace.ts'
import { outcome, put, scope, shardsOf, storeWithBucket, type TestStore } from '../objects/fixture.ts'

let made: TestStore

beforeEach(async () => {
  made = await storeWithBucket()
})

const enable = () => changeBucket(made.backend, scope, (bucket) => ({ ...bucket, versioning: 'enabled' }))

/** Another process on the same data. */
const elsewhere = (): Backend => ({ ...made.backend })

async function putVersion(data: string): Promise<string> {
  return (await put(made, 'key', data)).versionId
}

async function removeElsewhere(...versionIds: string[]): Promise<void> {
  for (const versionId of versionIds) await deleteObject(elsewhere(), scope, { key: 'key', versionId })
}

const find = (versionId: string) => outcome(findVersion(made.backend, scope, 'key', versionId))

describe('a version that becomes current while it is looked for', () => {
  it('is removed by who names it', async () => {
    await enable()
    const deep = await putVersion('deep')
    const above = [await putVersion('1'), await putVersion('2'), await putVersion('3')]
    made.kv.beforeRead(1, () => removeElsewhere(...above))
    await deleteObject(made.backend, scope, { key: 'key', versionId: deep })
    expect(await find(deep)).toBe('NoSuchVersion')
  })

  it('is found as the null version', async () => {
    await put(made, 'key', 'null')
    await enable()
    const above = await putVersion('above')
    made.kv.beforeRead(1, () => removeElsewhere(above))
    expect(await find('null')).toBe('ok')
  })

  it('is found as the owner of its shard, also where another writer took the place that the shard names', async () => {
    await enable()
    const [, shard] = await racingShards()
    if (shard === undefined) throw new Error('no second shard')
    const above = await putVersion('above')
    const kv = beforeNextRange(made.backend.kv, () => removeElsewhere(above))
    const owner = await findOwner({ ...made.backend, kv }, made.shards.storeId, shard)
    expect(owner).toMatchObject({ entry: { key: objectKey('bucket', 'key') } })
  })
})

/** Two shards that both name the first place of the key's versions: that of the first version, and that of the second. */
async function racingShards() {
  made.kv.beforeNextCommit(() => put({ ...made, backend: elsewhere() }, 'key', 'first to commit'))
  await put(made, 'key', 'second to commit')
  const shards = await shardsOf(made)
  const [inCurrent] = await made.kv.get([objectKey('bucket', 'key')])
  // The one whose bytes the current version has was written first, and committed second.
  return shards.toSorted((a) => (inCurrent?.value.includes(Buffer.from(`"${a.id}"`)) ? 1 : -1))
}

/** Each range of an index that is read next has its own work to wait for. */
function beforeNextRange(kv: Kv, ...works: (() => Promise<void>)[]): Kv {
  return {
    integrity: kv.integrity,
    get: (keys) => kv.get(keys),
    commit: (commit) => kv.commit(commit),
    snapshot: () => kv.snapshot(),
    now: () => kv.now(),
    close: () => kv.close(),
    range: async (query) => {
      await works.shift()?.()
      return kv.range(query)
    },
    view: (keys, queries, read) => kv.view(keys, queries, read),
  }
}

/** Others do `work` before the read of that place. */
function beforeRead(kv: Kv, place: number, work: () => Promise<void>): Kv {
  let reads = 0
  const beforeEach = async (): Promise<void> => {
    if (reads++ === place) await work()
  }
  return {
    integrity: kv.integrity,
    get: (keys) => beforeEach().then(() => kv.get(keys)),
    range: (query) => beforeEach().then(() => kv.range(query)),
    view: (keys, queries, read) => beforeEach().then(() => kv.view(keys, queries, read)),
    commit: (commit) => kv.commit(commit),
    snapshot: () => kv.snapshot(),
    now: () => kv.now(),
    close: () => kv.close(),
  }
}

describe('a key whose delete marker goes while it is read', () => {
  it('is not said to be deleted by an object', async () => {
    await enable()
    await putVersion('below')
    await deleteObject(made.backend, scope, { key: 'key' })
    const kv = beforeNextRange(made.backend.kv, async () => {
      await put({ ...made, backend: elsewhere() }, 'key', 'newer')
      await put({ ...made, backend: elsewhere() }, 'key', 'newest')
    })
    const error = await findVersion({ ...made.backend, kv }, scope, 'key', undefined).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'NoSuchKey' })
    expect(error).toHaveProperty('vendorHeaders', {})
  })
})

describe('a listing of versions', () => {
  const all = { prefix: '', delimiter: '', keyMarker: undefined, versionIdMarker: undefined }
  const keys = ['a', 'b', 'c']

  async function fill(): Promise<void> {
    await enable()
    for (const key of keys) for (const data of ['1', '2', '3']) await put(made, key, data)
  }

  it.each([1, 2, 3, 1000])(
    'by pages of %i meets every version, also when those of each page are removed before the next',
    async (max) => {
      await fill()
      let query: VersionQuery | undefined = { ...all, max }
      while (query !== undefined) {
        const { page } = await listVersions(made.backend, scope, query)
        for (const { key, version } of page.entries) {
          await deleteObject(made.backend, scope, { key, versionId: version.versionId })
        }
        query = page.next && { ...query, ...page.next }
      }
      const { page } = await listVersions(made.backend, scope, { ...all, max: 1000 })
      expect(page.entries).toEqual([])
    },
  )

  it('says of what has become current since the page before that it is the latest', async () => {
    await fill()
    const { page } = await listVersions(made.backend, scope, { ...all, max: 1 })
    await deleteObject(made.backend, scope, { key: 'a', versionId: page.entries[0]?.version.versionId })
    const next = await listVersions(made.backend, scope, { ...all, max: 2, ...page.next })
    expect(next.page.entries.map(({ key, latest }) => [key, latest])).toEqual([
      ['a', true],
      ['a', false],
    ])
  })

  it('begins at the key when the null version that it was to go on from has gone', async () => {
    await put(made, 'a', 'null')
    await enable()
    const above = await put(made, 'a', 'above')
    await deleteObject(made.backend, scope, { key: 'a', versionId: 'null' })
    const marker = { keyMarker: 'a', versionIdMarker: 'null' }
    const { page } = await listVersions(made.backend, scope, { ...all, max: 10, ...marker })
    expect(page.entries.map(({ version }) => version.versionId)).toEqual([above.versionId])
  })

  const changes: [string, (key: string) => Promise<unknown>][] = [
    ['written over', (key) => put({ ...made, backend: elsewhere() }, key, 'new')],
    ['deleted', (key) => deleteObject(elsewhere(), scope, { key })],
    [
      'restored, as the newest version is removed',
      async (key) => {
        const { record } = await findVersion(elsewhere(), scope, key, undefined)
        await deleteObject(elsewhere(), scope, { key, versionId: record.versionId })
      },
    ],
  ]
  const readsMax = 4
  const starts: [string, number][] = [
    ['from its start', 0],
    ['from within a key', 1],
  ]
  it.each(starts.flatMap(([where, at]) => changes.map(([what, change]) => ({ where, at, what, change }))))(
    'shows all keys $where as they were before or after being $what, between whichever reads that was',
    async ({ at, change }) => {
      for (let read = 0; read < readsMax; read++) {
        made = await storeWithBucket()
        await fill()
        const start = await listVersions(made.backend, scope, { ...all, max: at === 0 ? 1000 : at })
        const query = { ...all, max: 1000, ...start.page.next }
        const listed = async (kv: Kv) => (await listVersions({ ...made.backend, kv }, scope, query)).page.entries
        const before = await listed(made.backend.kv)
        const during = await listed(
          beforeRead(made.backend.kv, read, async () => {
            for (const key of keys) await change(key)
          }),
        )
        const after = await listed(made.backend.kv)
        expect([before, after]).toContainEqual(during)
      }
    },
  )

  it('takes a marker longer than any key, with a version', async () => {
    await fill()
    const marker = { keyMarker: 'b'.repeat(5000), versionIdMarker: 'null' }
    const { page } = await listVersions(made.backend, scope, { ...all, max: 10, ...marker })
    expect(page.entries.map(({ key }) => key)).toEqual(['c', 'c', 'c'])
  })
})
