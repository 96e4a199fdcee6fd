/** The runner of jobs: all of them, one run at a time, until it is stopped. */
import { EventEmitter, once } from 'node:events'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { FollowedLockClock, lockNow } from '../../src/commits/lock-clock.ts'
import { type JobStep, type Jobs, type JobsOptions, startJobs } from '../../src/jobs/runner.ts'
import { limits } from '../../src/limits.ts'
import { begin, put, read, shardsOf, storeWithBucket } from '../objects/fixture.ts'
import { graceMs, leftOver, storeWith } from './fixture.ts'

const never = 2 ** 31 - 1
let jobs: Jobs | undefined
afterEach(async () => {
  await jobs?.stop()
  vi.useRealTimers()
})

function start(options: Pick<JobsOptions, 'backend'> & Partial<JobsOptions>): Jobs {
  jobs = startJobs({
    intervalMs: never,
    graceMs,
    quarantineMs: 0,
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
    const steps: Partial<Record<JobStep, number>> = {}
    const did = (step: JobStep, count: number): void => {
      steps[step] = (steps[step] ?? 0) + count
    }
    const { runOnce } = start({ ...made, did })
    expect(await runOnce()).toMatchObject({ blobsRemoved: 1, expiredUploads: 1, orphansFound: 0 })
    expect(steps).toEqual({ expired: 1, removed: 1 })
    expect(await shardsOf(made)).toHaveLength(1)
    expect(await leftOver(made)).toEqual({ garbage: 1, uploads: 0 })
    expect((await read(made, 'key')).toString()).toBe('second')
  })

  it('does not take for an orphan what it knows to be garbage', async () => {
    const made = await storeWithBucket()
    for (let i = 0; i < 2; i++) await put(made, 'key', `${i}`)
    // Ends the batch.
    await made.shards.compact({ graceMs, move: async () => false })
    made.clock.advance(2 * graceMs)
    expect(await start(made).runOnce()).toMatchObject({ blobsRemoved: 1, orphansFound: 0 })
  })

  it('never lets two runs overlap, and goes on after one that failed', async () => {
    const made = await storeWithBucket()
    let running = 0
    let runs = 0
    const stores = [
      storeWith(made.shards, {
        unchecked: async () => {
          expect(++running).toBe(1)
          await new Promise((resolve) => setImmediate(resolve))
          running--
          if (++runs === 2) throw new Error('one run failed')
          return []
        },
      }),
    ]
    const { runOnce } = start({ backend: { ...made.backend, blobs: { ...made.backend.blobs, stores } } })
    const results = await Promise.allSettled([runOnce(), runOnce(), runOnce()])
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  })

  it('advances the lock clock often where others follow it, whatever its jobs do', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const made = await storeWithBucket()
    const { stop } = start({ ...made, isLockClockFollowed: true })
    const follower = { ...made.backend, lockClock: new FollowedLockClock() }
    const first = await lockNow(follower)
    for (let passedMs = 0; passedMs < 60_000; passedMs += limits.lockClockFollowedMs) {
      made.clock.advance(limits.lockClockFollowedMs)
      await vi.advanceTimersByTimeAsync(limits.lockClockFollowedMs)
      await made.kv.idle()
    }
    // A new one knows only the mark.
    expect(await lockNow({ ...follower, lockClock: new FollowedLockClock() })).toBe(first + 60_000)
    await stop()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('runs again and again, tells of failures, and stops', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const made = await storeWithBucket()
    const told = new EventEmitter()
    const failing = storeWith(made.shards, {
      unchecked: async () => {
        await hold
        throw new Error('the disk is gone')
      },
    })
    let hold: Promise<unknown> = Promise.resolve()
    const backend = { ...made.backend, blobs: { ...made.backend.blobs, stores: [failing] } }
    const { stop } = start({ backend, intervalMs: 1000, onError: (error) => told.emit('failure', error) })
    for (let round = 0; round < 3; round++) {
      const failure = once(told, 'failure')
      await vi.advanceTimersByTimeAsync(1000)
      expect(String(await failure)).toContain('the disk is gone')
    }
    const lastFailure = once(told, 'failure')
    hold = once(told, 'let go')
    await vi.advanceTimersByTimeAsync(1000)
    const stopped = stop()
    told.emit('let go')
    await Promise.all([stopped, lastFailure])
    await new Promise((resolve) => setImmediate(resolve))
    expect(vi.getTimerCount()).toBe(0)
  })
})
