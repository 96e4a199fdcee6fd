/** Many keys deleted together: each is answered for itself, whatever others do meanwhile. */
import { beforeEach, describe, expect, it } from 'vitest'
import { S3Error } from '../../src/errors.ts'
import { KvUnavailable } from '../../src/kv/kv.ts'
import { changeBucket } from '../../src/objects/buckets.ts'
import { deleteObject } from '../../src/objects/delete-object.ts'
import { type DeletionOutcome, deleteObjects } from '../../src/objects/delete-objects.ts'
import { elsewhere, outcome, put, read, scope, storeWithBucket, type TestStore } from './fixture.ts'

let made: TestStore
beforeEach(async () => {
  made = await storeWithBucket()
})

const told = (outcomes: readonly DeletionOutcome[]): string[] =>
  outcomes.map((one) => (one instanceof S3Error ? one.code : one.deleteMarker ? 'marker' : 'gone'))
const deleteAll = (...deletions: { key: string; versionId?: string; ifMatch?: string }[]) =>
  deleteObjects(
    made.backend,
    'bucket',
    deletions.map((deletion) => ({ scope, ...deletion })),
  )
const left = (key: string): Promise<string> => outcome(read(made, key))

describe('keys that are deleted together', () => {
  it('all go, and the one that another process changes meanwhile is decided about again', async () => {
    for (const key of ['a', 'b', 'c']) await put(made, key)
    const { etag } = await put(made, 'known', 'before')
    made.kv.beforeNextCommit(() => put(elsewhere(made), 'known', 'after'))
    const outcomes = await deleteAll({ key: 'a' }, { key: 'known', ifMatch: etag }, { key: 'b' }, { key: 'c' })
    expect(told(outcomes)).toEqual(['gone', 'PreconditionFailed', 'gone', 'gone'])
    expect((await read(made, 'known')).toString()).toBe('after')
    for (const key of ['a', 'b', 'c']) expect(await left(key)).toBe('NoSuchKey')
  })

  it('may be named more than once: versions of a key go in the order they are named', async () => {
    await changeBucket(made.backend, scope, (bucket) => ({ ...bucket, versioning: 'enabled' }))
    const { versionId: older } = await put(made, 'key', 'older')
    const { versionId: newer } = await put(made, 'key', 'newer')
    await put(made, 'other')
    const marker = await deleteObject(made.backend, scope, { key: 'key' })
    const outcomes = await deleteAll(
      { key: 'key', versionId: marker.versionId ?? '' },
      { key: 'other' },
      { key: 'key', versionId: newer },
    )
    expect(told(outcomes)).toEqual(['marker', 'marker', 'gone'])
    expect((await read(made, 'key')).toString()).toBe('older')
    expect(told(await deleteAll({ key: 'key', versionId: older }, { key: 'key', versionId: older }))).toEqual([
      'gone',
      'gone',
    ])
    expect(await left('key')).toBe('NoSuchKey')
  })

  it.each([
    ['together', false],
    ['apart, because another process has changed one', true],
  ])('leave others their turn where each decision takes long: %s', async (_, isContended) => {
    let turns = 0
    let isOver = false
    const turn = (): void => {
      turns++
      if (!isOver) setImmediate(turn)
    }
    const slow = {
      name: 'bucket',
      admit: () => {
        const beganMs = performance.now()
        while (performance.now() - beganMs < 2);
      },
    }
    await put(made, 'key0')
    if (isContended) {
      made.kv.beforeNextCommit(async () => {
        await put(elsewhere(made), 'key0', 'after')
        turns = 0
      })
    }
    setImmediate(turn)
    const deletions = Array.from({ length: 150 }, (_, i) => ({ scope: slow, key: `key${i}` }))
    const outcomes = await deleteObjects(made.backend, 'bucket', deletions)
    isOver = true
    expect(new Set(told(outcomes))).toEqual(new Set(['gone']))
    expect(turns).toBeGreaterThan(7)
  })

  it('are each told that the metadata can not be reached, and stay', async () => {
    for (const key of ['a', 'b']) await put(made, key)
    made.kv.beforeNextCommit(() => Promise.reject(new KvUnavailable('out of reach')))
    expect(told(await deleteAll({ key: 'a' }, { key: 'b' }))).toEqual(['ServiceUnavailable', 'ServiceUnavailable'])
    expect(await left('a')).toBe('ok')
    expect(await left('b')).toBe('ok')
  })

  it('and others that are deleted in another order at the same time wait for each other', async () => {
    const keys = ['a', 'b', 'c']
    for (const key of keys) await put(made, key)
    const some = keys.map((key) => ({ key }))
    const before = made.kv.commits
    await Promise.all([deleteAll(...some), deleteAll(...some.toReversed())])
    expect(made.kv.commits - before).toBe(2)
    for (const key of keys) expect(await left(key)).toBe('NoSuchKey')
  })
})
