/** Conditional writes, deletions and tags among others that change the same key: exactly one winner. */
import { describe, expect, it } from 'vitest'
import type { Kv } from '../../src/kv/kv.ts'
import { setTags } from '../../src/objects/change-version.ts'
import { deleteObject } from '../../src/objects/delete-object.ts'
import { findVersion } from '../../src/objects/find-version.ts'
import { elsewhere, garbageOf, outcome, put, read, scope, shardsOf, storeWithBucket, unreadable } from './fixture.ts'

const count = (outcomes: readonly string[], wanted: string): number => outcomes.filter((one) => one === wanted).length

describe('conditional writes', () => {
  it('64 with If-None-Match: * at once have exactly one winner, and the losers leave nothing', async () => {
    const made = await storeWithBucket()
    const writes = Array.from({ length: 64 }, (_, i) => put(made, 'key', `data ${i}`, { ifNoneMatch: '*' }))
    const outcomes = await Promise.all(writes.map(outcome))
    expect(count(outcomes, 'ok')).toBe(1)
    expect(count(outcomes, 'PreconditionFailed')).toBe(63)
    expect((await read(made, 'key')).toString()).toBe(`data ${outcomes.indexOf('ok')}`)
    expect(await shardsOf(made)).toHaveLength(1)
    expect(await garbageOf(made)).toEqual([])
  })

  it('64 with If-Match of one version at once have exactly one winner', async () => {
    const made = await storeWithBucket()
    const { etag } = await put(made, 'key', 'first')
    const writes = Array.from({ length: 64 }, (_, i) => put(made, 'key', `data ${i}`, { ifMatch: `"${etag}"` }))
    const outcomes = await Promise.all(writes.map(outcome))
    expect(count(outcomes, 'ok')).toBe(1)
    expect(count(outcomes, 'PreconditionFailed')).toBe(63)
    expect((await read(made, 'key')).toString()).toBe(`data ${outcomes.indexOf('ok')}`)
    expect(await shardsOf(made)).toHaveLength(2)
  })

  it.each([
    ['with If-None-Match', { ifNoneMatch: '*' }, 'ConditionalRequestConflict'],
    ['without', {}, 'OperationAborted'],
  ])('%s, which others outrun again and again, is told so and leaves nothing', async (_, conditions, code) => {
    const made = await storeWithBucket()
    const kv: Kv = {
      integrity: made.kv.integrity,
      get: (keys) => made.kv.get(keys),
      range: (query) => made.kv.range(query),
      view: (keys, queries, read) => made.kv.view(keys, queries, read),
      commit: async () => false,
      snapshot: () => made.kv.snapshot(),
      now: () => made.kv.now(),
      close: async () => {},
    }
    const backend = { ...made.backend, kv }
    expect(await outcome(put({ ...made, backend }, 'key', 'data', conditions))).toBe(code)
    expect(await shardsOf(made)).toEqual([])
  })

  it('64 without conditions all succeed, and hardly one has to try again', async () => {
    const made = await storeWithBucket()
    const before = made.kv.commits
    await Promise.all(Array.from({ length: 64 }, (_, i) => put(made, 'key', `data ${i}`)))
    expect(made.kv.commits - before).toBeLessThanOrEqual(65)
    expect(await garbageOf(made)).toHaveLength(63)
  })

  it('64 in each of two processes all succeed', async () => {
    const made = await storeWithBucket()
    const processes = [made, elsewhere(made)]
    const writes = processes.flatMap((process, p) =>
      Array.from({ length: 64 }, (_, i) => put(process, 'key', `data ${p} ${i}`)),
    )
    expect(await Promise.all(writes.map(outcome))).toEqual(Array.from({ length: 128 }, () => 'ok'))
  })

  it('If-None-Match: * loses to what came while the body was read', async () => {
    const made = await storeWithBucket()
    made.kv.beforeNextCommit(() => put(elsewhere(made), 'key', 'sooner'))
    expect(await outcome(put(made, 'key', 'later', { ifNoneMatch: '*' }))).toBe('PreconditionFailed')
    expect((await read(made, 'key')).toString()).toBe('sooner')
  })

  it('If-Match loses to a deletion while the body was read', async () => {
    const made = await storeWithBucket()
    const { etag } = await put(made, 'key', 'first')
    made.kv.beforeNextCommit(() => deleteObject(elsewhere(made).backend, scope, { key: 'key' }))
    expect(await outcome(put(made, 'key', 'later', { ifMatch: etag }))).toBe('NoSuchKey')
    expect(await outcome(read(made, 'key'))).toBe('NoSuchKey')
  })

  it('wins again when the same content was written meanwhile: the entity tag still matches', async () => {
    const made = await storeWithBucket()
    const { etag } = await put(made, 'key', 'first')
    made.kv.beforeNextCommit(() => put(elsewhere(made), 'key', 'first'))
    expect((await put(made, 'key', 'later', { ifMatch: etag })).sequence).toBe(3)
  })

  it('that fail at first sight do not read the body', async () => {
    const made = await storeWithBucket()
    await put(made, 'key', 'first')
    expect(await outcome(put(made, 'key', unreadable('not read'), { ifNoneMatch: '*' }))).toBe('PreconditionFailed')
    expect(await outcome(put(made, 'new', unreadable('not read'), { ifMatch: '*' }))).toBe('NoSuchKey')
  })
})

describe('deleting an object', () => {
  it('is done once and may be repeated; the bytes become garbage', async () => {
    const made = await storeWithBucket()
    await put(made, 'key')
    await deleteObject(made.backend, scope, { key: 'key' })
    await deleteObject(made.backend, scope, { key: 'key' })
    expect(await outcome(read(made, 'key'))).toBe('NoSuchKey')
    expect(await garbageOf(made)).toHaveLength(1)
  })

  it('64 at once make one piece of garbage', async () => {
    const made = await storeWithBucket()
    await put(made, 'key')
    await Promise.all(Array.from({ length: 64 }, () => deleteObject(made.backend, scope, { key: 'key' })))
    expect(await garbageOf(made)).toHaveLength(1)
  })

  it.each([
    ['the entity tag', '"5d41402abc4b2a76b9719d911017c592"', 'ok'],
    ['any', '*', 'ok'],
    ['another', '"other"', 'PreconditionFailed'],
  ])('with If-Match of %s', async (_what, ifMatch, expected) => {
    const made = await storeWithBucket()
    await put(made, 'key', 'hello')
    expect(await outcome(deleteObject(made.backend, scope, { key: 'key', ifMatch }))).toBe(expected)
    expect(await outcome(read(made, 'key'))).toBe(expected === 'ok' ? 'NoSuchKey' : 'ok')
  })

  it('with If-Match spares what was written meanwhile', async () => {
    const made = await storeWithBucket()
    const { etag } = await put(made, 'key', 'first')
    made.kv.beforeNextCommit(() => put(elsewhere(made), 'key', 'second'))
    expect(await outcome(deleteObject(made.backend, scope, { key: 'key', ifMatch: etag }))).toBe('PreconditionFailed')
    expect((await read(made, 'key')).toString()).toBe('second')
  })
})

describe('tags', () => {
  it('change nothing else of the object, and do not lose to a write in between', async () => {
    const made = await storeWithBucket()
    const record = await put(made, 'key', 'data')
    const tags = [{ key: 'a', value: 'b' }]
    const changed = await setTags(made.backend, scope, { key: 'key' }, tags)
    expect(changed.record).toEqual({ ...record, attributes: { ...record.attributes, tags } })
    made.kv.beforeNextCommit(() => put(elsewhere(made), 'key', 'newer'))
    await setTags(made.backend, scope, { key: 'key' }, tags)
    expect((await read(made, 'key')).toString()).toBe('newer')
    expect((await findVersion(made.backend, scope, 'key', undefined)).record.attributes.tags).toEqual(tags)
    expect(await outcome(setTags(made.backend, scope, { key: 'other' }, tags))).toBe('NoSuchKey')
  })
})
