/** Jobs of one of several members: in the name of their post, and for batches of members that are gone. */
import { afterEach, describe, expect, it } from 'vitest'
import { type Jobs, type JobsOptions, startJobs } from '../../src/jobs/runner.ts'
import { openGuardedStore } from '../../src/stores/guarded-store.ts'
import { memoryShardStore } from '../../src/stores/memory.ts'
import { StoreFenced } from '../../src/stores/shard-store.ts'
import { makeBucket, put, read, shardsOf, storeOver, storeWithBucket } from '../objects/fixture.ts'
import { openStore, temporaryDirectory, tinySizes } from '../stores/directory/opened-store.ts'
import { heldPost } from '../stores/posts.ts'
import { seededClock, seededRandom } from '../support/seeded.ts'
import { graceMs, storeWith } from './fixture.ts'

const never = 2 ** 31 - 1
let jobs: Jobs | undefined
afterEach(() => jobs?.stop())

function start(options: Pick<JobsOptions, 'backend'> & Partial<JobsOptions>): Jobs {
  jobs = startJobs({
    intervalMs: never,
    graceMs,
    quarantineMs: 0,
    abandonedUploadMs: 100 * graceMs,
    onError: (error) => {
      throw error
    },
    ...options,
  })
  return jobs
}

describe('the jobs of a maintainer', () => {
  it('change stores only under its number', async () => {
    const made = await storeWithBucket()
    const posts: unknown[] = []
    const noting = storeWith(made.shards, {
      delete: (ids, post) => {
        posts.push(post)
        return made.shards.delete(ids, post)
      },
      markChecked: (batch, post) => {
        posts.push(post)
        return made.shards.markChecked(batch, post)
      },
      closeAbandoned: (isGone, post) => {
        posts.push(post)
        return made.shards.closeAbandoned(isGone, post)
      },
      compact: (how, post) => {
        posts.push(post)
        return made.shards.compact(how, post)
      },
    })
    const watched = storeOver(noting, made.clock)
    await makeBucket(watched)
    await put(watched, 'key', 'first')
    await put(watched, 'key', 'second')
    await made.shards.compact({ graceMs: 0, move: async () => false })
    made.clock.advance(2 * graceMs)
    const post = heldPost(3)
    expect(await start({ ...watched, post, isGone: () => false }).runOnce()).toMatchObject({ blobsRemoved: 1 })
    expect(posts.length).toBeGreaterThanOrEqual(4)
    for (const given of posts) expect(given).toBe(post)
    expect(await shardsOf(watched)).toHaveLength(1)
    expect((await read(watched, 'key')).toString()).toBe('second')
  })

  it('remove nothing once a store knows a later maintainer, and keep the garbage for it', async () => {
    const made = await storeWithBucket()
    await put(made, 'key', 'first')
    await put(made, 'key', 'second')
    made.clock.advance(2 * graceMs)
    await made.shards.delete([], heldPost(4))
    await expect(start({ ...made, post: heldPost(3) }).runOnce()).rejects.toThrow(StoreFenced)
    expect(await shardsOf(made)).toHaveLength(2)
    await jobs?.stop()
    expect(await start({ ...made, post: heldPost(4) }).runOnce()).toMatchObject({ blobsRemoved: 1 })
    expect(await shardsOf(made)).toHaveLength(1)
  })

  it('leave the post when a store that may fail refuses them, and do not wait for the store', async () => {
    const inner = memoryShardStore()
    const clock = seededClock(seededRandom(1))
    const guarded = await openGuardedStore({
      name: 'a',
      domain: 'a',
      storeId: inner.storeId,
      open: async () => inner,
      firstOpener: true,
      clock,
      warn: () => {},
    })
    const made = storeOver(guarded, clock)
    await makeBucket(made)
    await put(made, 'key', 'first')
    const manifest = { location: '', locationVersion: 0, scheme: 'replica', size: 5 } as const
    const shards = (await shardsOf(made)).map(({ id }) => ({ storeId: inner.storeId, id }))
    await inner.delete([], heldPost(2))
    await expect(made.backend.blobs.remove([{ ...manifest, shards }], heldPost(1))).rejects.toThrow(StoreFenced)
    expect(await made.backend.blobs.remove([{ ...manifest, shards }], heldPost(2))).toEqual([])
    expect(await shardsOf(made)).toEqual([])
    await guarded.close()
  })

  it('find the orphans of a member that is gone, and leave those of a living one alone', async () => {
    const { path, remove } = await temporaryDirectory()
    const clock = seededClock(seededRandom(1))
    const members = ['1', '2', '3'].map((digit) => digit.repeat(32))
    const [gone = '', living = '', own = ''] = members
    const open = async (member: string) =>
      (await openStore({ path, clock, ...tinySizes, firstOpener: false, member })).store
    const made = storeOver(await open(own), clock)
    await makeBucket(made)
    const others = [await open(gone), await open(living)]
    for (const shards of others) {
      const { kv } = made
      const beside = { ...made, backend: { ...storeOver(shards, clock).backend, kv } }
      kv.beforeNextCommit(() => Promise.reject(new Error('killed')))
      await expect(put(beside, 'lost', 'x')).rejects.toThrow('killed')
    }
    expect(await shardsOf(made)).toHaveLength(2)
    const { runOnce } = start({ ...made, post: heldPost(1), isGone: (member) => member === gone })
    expect(await runOnce()).toMatchObject({ orphansFound: 0 })
    clock.advance(2 * graceMs)
    expect(await runOnce()).toMatchObject({ orphansFound: 1 })
    clock.advance(2 * graceMs)
    await runOnce()
    expect(await shardsOf(made)).toHaveLength(1)
    await jobs?.stop()
    for (const shards of [...others, made.shards]) await shards.close()
    await remove()
  })
})
