/** Buckets: one owner each, listed by owner in order of name, and gone only when they hold nothing. */
import { describe, expect, it, vi } from 'vitest'
import {
  changeBucket,
  createBucket,
  deleteBucket,
  findBucket,
  listBuckets,
  matchesRequest,
  type NewBucket,
} from '../../src/objects/buckets.ts'
import { deleteObject } from '../../src/objects/delete-object.ts'
import { bucketKey, openUploads, uploads } from '../../src/records/keyspace.ts'
import {
  begin,
  complete,
  elsewhere,
  garbageOf,
  makeBucket,
  memoryStore,
  outcome,
  put,
  scope,
  scopeOf,
  sendPart,
  shardsOf,
  storeWithBucket,
  type TestStore,
} from './fixture.ts'

const create = ({ backend }: TestStore, name: string, owner: string) =>
  createBucket(backend, { name, owner, locationConstraint: 'EU', location: 'default', objectLock: undefined })

async function hideAKey({ backend }: TestStore): Promise<void> {
  await changeBucket(backend, scope, (bucket) => ({ ...bucket, versioning: 'enabled' }))
  await deleteObject(backend, scope, { key: 'key' })
}

const everythingIn = ({ kv }: TestStore) =>
  kv.range({ start: Buffer.alloc(0), end: Buffer.from([0xff]), limit: 1_000_000 })

describe('creating a bucket', () => {
  it('keeps what was asked for', async () => {
    const made = memoryStore()
    const record = await create(made, 'bucket', 'main')
    expect(await findBucket(made.backend, scope)).toEqual(record)
    expect(record).toMatchObject({ owner: 'main', locationConstraint: 'EU', createdMs: made.clock.now(), tags: [] })
  })

  it('a second time, where that may be repeated, gives the bucket as it is', async () => {
    const made = memoryStore()
    const asked = {
      name: 'bucket',
      owner: 'main',
      locationConstraint: undefined,
      location: 'default',
      objectLock: undefined,
    }
    const first = await createBucket(made.backend, asked, { repeatable: true })
    await changeBucket(made.backend, scope, (bucket) => ({ ...bucket, versioning: 'suspended' }))
    expect(await createBucket(made.backend, asked, { repeatable: true })).toEqual({ ...first, versioning: 'suspended' })
    const ofOther = createBucket(made.backend, { ...asked, owner: 'other' }, { repeatable: true })
    expect(await outcome(ofOther)).toBe('BucketAlreadyExists')
  })

  it('a second time with its location, fails as S3 does outside us-east-1', async () => {
    const made = memoryStore()
    const asked = { name: 'b', owner: 'main', locationConstraint: 'EU', location: 'default', objectLock: undefined }
    await createBucket(made.backend, asked, { repeatable: true })
    const again = createBucket(made.backend, asked, { repeatable: true })
    expect(await outcome(again)).toBe('BucketAlreadyOwnedByYou')
  })

  const locked = { defaultRetention: undefined }
  const tag = { key: 'a', value: '1' }
  it.each<[what: string, has: Partial<NewBucket>, asks: Partial<NewBucket>, same: boolean]>([
    ['nothing of either', {}, {}, true],
    ['the same location', { locationConstraint: 'EU' }, { locationConstraint: 'EU' }, true],
    ['another location', { locationConstraint: 'EU' }, { locationConstraint: 'eu-west-1' }, false],
    ['no location of one that has one', { locationConstraint: 'EU' }, {}, false],
    ['an empty location for none', {}, { locationConstraint: '' }, true],
    ['a lock of one that has one', { objectLock: locked }, { objectLock: locked }, true],
    ['a lock of one that has none', {}, { objectLock: locked }, false],
    ['no lock of one that has one', { objectLock: locked }, {}, false],
    ['no tags of one that has some', { tags: [tag] }, {}, true],
    [
      'the tags that it has, in another order',
      { tags: [tag, { key: 'b', value: '' }] },
      { tags: [{ key: 'b', value: '' }, tag] },
      true,
    ],
    ['another value of a tag', { tags: [tag] }, { tags: [{ key: 'a', value: '2' }] }, false],
    ['one tag of two', { tags: [tag, { key: 'b', value: '' }] }, { tags: [tag] }, false],
  ])('is told whether a request asks for the bucket that is there: %s', async (_what, has, asks, same) => {
    const plain = {
      name: 'bucket',
      owner: 'main',
      locationConstraint: undefined,
      location: 'default',
      objectLock: undefined,
    }
    const existing = await createBucket(memoryStore().backend, { ...plain, ...has })
    expect(matchesRequest(existing, { ...plain, ...asks })).toBe(same)
  })

  it.each([
    ['main', 'BucketAlreadyOwnedByYou'],
    ['other', 'BucketAlreadyExists'],
  ])('a second time by %s is %s', async (owner, expected) => {
    const made = memoryStore()
    await create(made, 'bucket', 'main')
    expect(await outcome(create(made, 'bucket', owner))).toBe(expected)
    expect((await findBucket(made.backend, scope)).owner).toBe('main')
  })

  /** As if its record were not there: what remains is what was in it, and its name among its owner's. */
  async function hidden(fill: (made: TestStore) => Promise<unknown>): Promise<TestStore> {
    const made = await storeWithBucket()
    await fill(made)
    await made.kv.commit({ deletes: [bucketKey('bucket')] })
    return made
  }

  it.each<[what: string, fill: (made: TestStore) => Promise<unknown>, owner: string]>([
    ['an object', (made) => put(made, 'key'), 'other'],
    ['a delete marker alone', hideAKey, 'other'],
    ['nothing, but stands among those of its owner', async () => {}, 'main'],
  ])('is refused over one that is hidden, and holds %s', async (_what, fill, owner) => {
    const made = await hidden(fill)
    const before = await everythingIn(made)
    expect(await outcome(create(made, 'bucket', owner))).toBe('ServiceUnavailable')
    expect(await everythingIn(made)).toEqual(before)
    expect(await outcome(create(made, 'bucket2', owner))).toBe('ok')
  })

  it('is refused over one that is hidden, where only a walk from behind still meets what it holds', async () => {
    const made = await hidden((of) => put(of, 'key'))
    const range = made.kv.range.bind(made.kv)
    vi.spyOn(made.kv, 'range').mockImplementation(async (query) => (query.reverse ? range(query) : []))
    expect(await outcome(create(made, 'bucket', 'other'))).toBe('ServiceUnavailable')
  })

  it('64 times at once has one winner', async () => {
    const made = memoryStore()
    const works = Array.from({ length: 64 }, (_, i) => create(made, 'bucket', `owner-${i}`))
    const outcomes = await Promise.all(works.map(outcome))
    expect(outcomes.filter((one) => one === 'ok')).toHaveLength(1)
    expect((await findBucket(made.backend, scope)).owner).toBe(`owner-${outcomes.indexOf('ok')}`)
  })

  it('again after its end makes another bucket', async () => {
    const made = memoryStore()
    const first = await create(made, 'bucket', 'main')
    await deleteBucket(made.backend, scope)
    const second = await create(made, 'bucket', 'other')
    expect(second.id).not.toBe(first.id)
    expect(await listNames(made, 'main')).toEqual([])
    expect(await listNames(made, 'other')).toEqual(['bucket'])
  })
})

async function listNames({ backend }: TestStore, owner: string, prefix = ''): Promise<string[]> {
  const { buckets } = await listBuckets(backend, { owner, prefix, afterName: undefined, max: 1000 })
  return buckets.map(({ name }) => name)
}

describe('listing buckets', () => {
  it("shows the owner's alone, in order, by prefix", async () => {
    const made = memoryStore()
    for (const name of ['b-2', 'a-1', 'b-10', 'c']) await create(made, name, 'main')
    await create(made, 'b-3', 'main2')
    await create(made, 'b-4', 'mai')
    expect(await listNames(made, 'main')).toEqual(['a-1', 'b-10', 'b-2', 'c'])
    expect(await listNames(made, 'main', 'b-')).toEqual(['b-10', 'b-2'])
    expect(await listNames(made, 'main', 'd')).toEqual([])
    expect(await listNames(made, 'nobody')).toEqual([])
  })

  it.each([1, 2, 3, 5, 7, 8, 20])('in pages of %i shows each bucket once', async (max) => {
    const made = memoryStore()
    const names = Array.from({ length: 7 }, (_, i) => `bucket-${i}`)
    for (const name of names) await create(made, name, 'main')
    const listed: string[] = []
    let afterName: string | undefined
    let pages = 0
    do {
      const page = await listBuckets(made.backend, { owner: 'main', prefix: 'bucket-', afterName, max })
      listed.push(...page.buckets.map(({ name }) => name))
      afterName = page.next
      pages++
    } while (afterName !== undefined)
    expect(listed).toEqual(names)
    expect(pages).toBe(Math.ceil(names.length / max))
  })

  it('goes on behind a name that is gone, and ignores one before the prefix', async () => {
    const made = memoryStore()
    await create(made, 'b', 'main')
    await create(made, 'd', 'main')
    const behind = (afterName: string, prefix: string) =>
      listBuckets(made.backend, { owner: 'main', prefix, afterName, max: 10 })
    expect((await behind('c', '')).buckets.map(({ name }) => name)).toEqual(['d'])
    expect((await behind('a', 'd')).buckets.map(({ name }) => name)).toEqual(['d'])
  })

  it('leaves out a bucket that goes between its two reads', async () => {
    const made = memoryStore()
    await create(made, 'bucket', 'main')
    await create(made, 'stays', 'main')
    made.kv.beforeRead(0, () => deleteBucket(made.backend, scope))
    expect(await listNames(made, 'main')).toEqual(['stays'])
  })
})

describe('changing a bucket', () => {
  it('loses nothing when two do it at once', async () => {
    const made = await storeWithBucket()
    const add = (key: string) =>
      changeBucket(made.backend, scope, (bucket) => ({ ...bucket, tags: [...bucket.tags, { key, value: '' }] }))
    await Promise.all(Array.from({ length: 20 }, (_, i) => add(`${i}`)))
    expect((await findBucket(made.backend, scope)).tags).toHaveLength(20)
  })

  it('does not stop writes that are under way', async () => {
    const made = await storeWithBucket()
    made.kv.beforeNextCommit(() => changeBucket(made.backend, scope, (bucket) => ({ ...bucket, tags: [] })))
    expect(await outcome(put(made, 'key'))).toBe('ok')
  })
})

describe('deleting a bucket', () => {
  it('that is not there is NoSuchBucket', async () => {
    const made = await storeWithBucket()
    expect(await outcome(deleteBucket(made.backend, scopeOf('other')))).toBe('NoSuchBucket')
    await deleteBucket(made.backend, scope)
    expect(await outcome(deleteBucket(made.backend, scope))).toBe('NoSuchBucket')
  })

  it('that holds an object is refused, whatever lies in its neighbours', async () => {
    const made = await storeWithBucket()
    await makeBucket(made, 'bucket-')
    await makeBucket(made, 'bucke')
    await put(made, '\0')
    expect(await outcome(deleteBucket(made.backend, scope))).toBe('BucketNotEmpty')
    expect(await outcome(deleteBucket(made.backend, scopeOf('bucket-')))).toBe('ok')
    expect(await outcome(deleteBucket(made.backend, scopeOf('bucke')))).toBe('ok')
  })

  it.each([
    ['an object', (other: TestStore) => put(other, 'key')],
    ['a delete marker', (other: TestStore) => deleteObject(other.backend, scope, { key: 'key' })],
  ])('is refused when %s came after it was found empty', async (_, write) => {
    const made = await storeWithBucket()
    await changeBucket(made.backend, scope, (bucket) => ({ ...bucket, versioning: 'enabled' }))
    made.kv.beforeNextCommit(() => write(elsewhere(made)))
    expect(await outcome(deleteBucket(made.backend, scope))).toBe('BucketNotEmpty')
    expect((await findBucket(made.backend, scope)).name).toBe('bucket')
  })

  it('ends its open uploads: they cannot go on, also when a bucket of the name comes again', async () => {
    const made = await storeWithBucket()
    const upload = await begin(made, 'key')
    const part = await sendPart(made, upload, 1, 'data')
    await deleteBucket(made.backend, scope)
    expect(await outcome(sendPart(made, upload, 2, 'data'))).toBe('NoSuchBucket')
    await makeBucket(made)
    expect(await outcome(sendPart(made, upload, 2, 'data'))).toBe('NoSuchUpload')
    expect(await outcome(complete(made, upload, [part]))).toBe('NoSuchUpload')
    expect(await shardsOf(made)).toHaveLength(1)
    expect(await garbageOf(made)).toMatchObject([{ kind: 'bucket' }])
  })

  it('against a part or a Complete on the way: both lose, and the part leaves no shard', async () => {
    const made = await storeWithBucket()
    const upload = await begin(made, 'key')
    const part = await sendPart(made, upload, 1, 'data')
    made.kv.beforeNextCommit(() => deleteBucket(made.backend, scope))
    expect(await outcome(sendPart(made, upload, 2, 'more'))).toBe('NoSuchBucket')
    expect(await shardsOf(made)).toHaveLength(1)

    await makeBucket(made)
    const again = await begin(made, 'key')
    const other = await sendPart(made, again, 1, 'data')
    made.kv.beforeNextCommit(() => deleteBucket(made.backend, scope))
    expect(await outcome(complete(made, again, [other]))).toBe('NoSuchBucket')
    expect(part.number).toBe(1)
  })

  it('knows of an upload that began while it decided', async () => {
    const made = await storeWithBucket()
    const { id } = await findBucket(made.backend, scope)
    made.kv.beforeNextCommit(() => begin(made, 'key'))
    await deleteBucket(made.backend, scope)
    expect(await made.kv.range({ ...openUploads(id), limit: 10 })).toHaveLength(1)
    expect(await garbageOf(made)).toEqual([{ kind: 'bucket', bucketId: id }])
    expect(await made.kv.range({ ...uploads, limit: 10 })).toHaveLength(1)
  })

  it('against an upload that begins: it loses', async () => {
    const made = await storeWithBucket()
    made.kv.beforeNextCommit(() => deleteBucket(made.backend, scope))
    expect(await outcome(begin(made, 'key'))).toBe('NoSuchBucket')
    expect(await made.kv.range({ ...uploads, limit: 10 })).toHaveLength(0)
  })
})
