/** The runner of jobs: all of them, one run at a time, until it is stopped. */
import { afterEach, describe, expect, it } from 'vitest'
import { type Jobs, type JobsOptions, startJobs } from '../../src/jobs/runner.ts'
import { begin, put, read, shardsOf, storeWithBucket } from '../store/fixture.ts'
import { graceMs, leftOver } from './fixture.ts'

const never = 2 ** 31 - 1
let jobs: Jobs | undefined
afterEach(() => jobs?.stop())

function start(options: Pick<JobsOptions, 'store'> & Partial<JobsOptions>): Jobs {
  jobs = startJobs({
    intervalMs: never,
    graceMs,
    abandonedUploadMs: 2 * graceMs,
    onError: (error) => {
      throw error
    },
    ...options,
  })
  return jobs
}

describe('the runner', () => {
  it('does every job in one run, and says what came of it', async () => {
    const made = await storeWithBucket()
    await put(made, 'key', 'first')
    await put(made, 'key', 'second')
    await begin(made, 'abandoned')
    made.clock.advance(2 * graceMs)
    const { runOnce } = start(made)
    expect(await runOnce()).toMatchObject({ blobsRemoved: 1, expiredUploads: 1, orphansFound: 0 })
    expect(await shardsOf(made)).toHaveLength(1)
    expect(await leftOver(made)).toEqual({ garbage: 1, uploads: 0 })
    expect((await read(made, 'key')).toString()).toBe('second')
  })

  it('never lets two runs overlap, and goes on after one that failed', async () => {
    const made = await storeWithBucket()
    let running = 0
    let runs = 0
    const stores = [
      {
        ...made.shards,
        unchecked: async () => {
          expect(++running).toBe(1)
          await new Promise((resolve) => setImmediate(resolve))
          running--
          if (++runs === 2) throw new Error('one run failed')
          return []
        },
      },
    ]
    const { runOnce } = start({ store: { ...made.store, blobs: { ...made.store.blobs, stores } } })
    const results = await Promise.allSettled([runOnce(), runOnce(), runOnce()])
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  })

  it('runs again and again, tells of failures, and stops', async () => {
    const made = await storeWithBucket()
    let runs = 0
    const failures: unknown[] = []
    const third = Promise.withResolvers<void>()
    const stores = [
      {
        ...made.shards,
        unchecked: async () => {
          if (++runs === 3) third.resolve()
          throw new Error(`run ${runs}`)
        },
      },
    ]
    const store = { ...made.store, blobs: { ...made.store.blobs, stores } }
    const { stop } = start({ store, intervalMs: 1, onError: (error) => failures.push(error) })
    await third.promise
    await stop()
    const runsAtStop = runs
    expect(String(failures[0])).toContain('run 1')
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(runs).toBe(runsAtStop)
  })
})
