/** When all metadata is checked: at the first run after a start, then once a day, more often while something is wrong. */
import { afterEach, beforeEach, describe, expect, it, type MockInstance, vi } from 'vitest'
import { type Jobs, startJobs } from '../../src/jobs/runner.ts'
import { SelfCheck } from '../../src/jobs/self-check.ts'
import type { Integrity } from '../../src/kv/kv.ts'
import { limits } from '../../src/limits.ts'
import { memoryStore, type TestStore } from '../objects/fixture.ts'
import { graceMs } from './fixture.ts'

const minuteMs = 60_000
const never = 2 ** 31 - 1

let made: TestStore
let nowMs: number
let started: Jobs[]
let warnings: string[]
let checks: MockInstance<Integrity['check']>
beforeEach(() => {
  made = memoryStore()
  nowMs = 5 * minuteMs
  started = []
  warnings = []
  checks = vi.spyOn(made.kv.integrity, 'check')
})
afterEach(async () => {
  await Promise.all(started.map((jobs) => jobs.stop()))
  vi.restoreAllMocks()
})

function start(): Jobs {
  const jobs = startJobs({
    backend: made.backend,
    intervalMs: never,
    graceMs,
    quarantineMs: 0,
    abandonedUploadMs: graceMs,
    monotonicMs: () => nowMs,
    warn: (message) => warnings.push(message),
    onError: (error) => {
      throw error
    },
  })
  started.push(jobs)
  return jobs
}

/** How often all metadata was checked by a run of the jobs after so much time. */
async function checksAfter(jobs: Jobs, ms: number): Promise<number> {
  nowMs += ms
  const before = checks.mock.calls.length
  await jobs.runOnce()
  return checks.mock.calls.length - before
}

/** The mark of the lock clock is made after a check of its own. */
async function startedOnce(): Promise<Jobs> {
  const jobs = start()
  await jobs.runOnce()
  expect(checks).toHaveBeenCalled()
  return jobs
}

const damagedRecords = (count: number) => ({
  startedMs: 0,
  entries: 1,
  coversBelow: 1,
  damagedRecords: count,
  damagedKeys: count === 0 ? [] : ['6b6579'],
})

describe('all metadata is checked', () => {
  it('once a day, whatever the machine’s clock says', async () => {
    const jobs = await startedOnce()
    expect(await checksAfter(jobs, 0)).toBe(0)
    made.clock.set(10 * limits.selfCheckIntervalMs)
    expect(await checksAfter(jobs, limits.selfCheckIntervalMs - 1)).toBe(0)
    expect(await checksAfter(jobs, 1)).toBe(1)
    expect(await checksAfter(jobs, limits.selfCheckIntervalMs - 1)).toBe(0)
    expect(await checksAfter(jobs, 1)).toBe(1)
  })

  it('at the first run after each start', async () => {
    await startedOnce()
    expect(await checksAfter(start(), 0)).toBe(1)
  })

  it('every few minutes while records are damaged, and once a day again when they are not', async () => {
    const jobs = await startedOnce()
    const found = vi.spyOn(made.kv.integrity, 'lastCheck').mockImplementation(async () => damagedRecords(2))
    checks.mockImplementation(async () => damagedRecords(2))
    expect(await checksAfter(jobs, limits.selfCheckAgainMs - 1)).toBe(0)
    expect(await checksAfter(jobs, 1)).toBe(1)
    expect(warnings).toEqual([expect.stringMatching(/^2 records of the metadata are damaged, among them 6b6579/)])
    expect((await jobs.runOnce()).metadataDamage).toBe('2 records are not what was written')
    found.mockImplementation(async () => damagedRecords(0))
    checks.mockImplementation(async () => damagedRecords(0))
    expect(await checksAfter(jobs, limits.selfCheckAgainMs)).toBe(0)
    expect(await checksAfter(jobs, limits.selfCheckIntervalMs)).toBe(1)
  })

  it('every few minutes while the tree is damaged, and no job does anything', async () => {
    const jobs = await startedOnce()
    vi.spyOn(made.kv.integrity, 'damage').mockImplementation(async () => 'page 7 is empty')
    expect(await checksAfter(jobs, limits.selfCheckAgainMs - 1)).toBe(0)
    expect(await checksAfter(jobs, 1)).toBe(1)
    expect(await jobs.runOnce()).toMatchObject({ metadataDamage: 'page 7 is empty', blobsRemoved: 0 })
  })

  it('again at the next run when it could not be', async () => {
    const jobs = await startedOnce()
    checks.mockRejectedValueOnce(new Error('the file cannot be read'))
    nowMs += limits.selfCheckIntervalMs
    await expect(jobs.runOnce()).rejects.toThrow('the file cannot be read')
    expect(await checksAfter(jobs, 0)).toBe(1)
    expect(await checksAfter(jobs, 0)).toBe(0)
  })
})

it('a check that takes long ends when the jobs do', async () => {
  checks.mockImplementation(async ({ pace } = {}) => {
    for (;;) await pace?.(1024)
  })
  const selfCheck = new SelfCheck({ backend: made.backend, scrubBytesPerSecond: 1, monotonicMs: () => nowMs })
  const cutOff = selfCheck.run().catch((error: unknown) => selfCheck.isCutOff(error))
  selfCheck.stop()
  expect(await cutOff).toBe(true)
  expect(selfCheck.isCutOff(new Error('something else'))).toBe(false)
})

it('reads many pages at a time without a warning', async () => {
  const warned: string[] = []
  const listen = ({ message }: Error): void => void warned.push(message)
  process.on('warning', listen)
  const check = new SelfCheck({ backend: made.backend, scrubBytesPerSecond: 1e6, monotonicMs: () => nowMs })
  checks.mockImplementationOnce(async (how) => {
    await Promise.all(Array.from({ length: 20 }, () => how?.pace?.(20_000)))
    return { startedMs: 0, entries: 0, coversBelow: 0, damagedRecords: 0, damagedKeys: [] }
  })
  await check.run()
  await new Promise((resolve) => setImmediate(resolve))
  process.off('warning', listen)
  expect(warned).toEqual([])
})
