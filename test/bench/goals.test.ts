import { describe, expect, it } from 'vitest'
import { judgeOne, workGoalResults } from '../../bench/goals.ts'
import type { RunResult } from '../../bench/load/order.ts'
import { type BenchResults, formatVersion, type Measurement } from '../../bench/results.ts'
import { serverNames } from '../../bench/servers/server-names.ts'
import { spread } from '../../bench/statistics.ts'
import { workloads } from '../../bench/workloads.ts'

describe('a goal', () => {
  it.each([
    [{ least: 0.4 }, 0.5, { goal: 'at least 0.40', measured: '0.50', met: true, missedPercent: 0 }],
    [{ least: 0.4 }, 0.4, { met: true }],
    [{ least: 0.4 }, 0.3, { met: false, missedPercent: 25 }],
    [{ most: 2.2, unit: 'ms' }, 3.3, { goal: 'at most 2.20 ms', measured: '3.30 ms', met: false, missedPercent: 50 }],
    [{ most: 200, unit: 'MiB' }, 100, { measured: '100 MiB', met: true }],
  ])('%j with %d measured', (bound, measured, expected) => {
    const result = judgeOne('work', bound, measured)
    expect({ ...result, missedPercent: Math.round(result.missedPercent) }).toMatchObject(expected)
  })
})

describe('the goals of a run', () => {
  const round = (requests: number): RunResult => ({
    generator: 'own',
    requests,
    seconds: 1,
    latencyMs: { p50: 1, p99: 7 },
    generatorCpuUs: 10,
    serverCpuUs: 30,
    resident: { before: 100 * 1024 * 1024, peak: 110 * 1024 * 1024 },
  })
  const measured = (server: string, requests: readonly number[]): Measurement => {
    const rounds = requests.map(round)
    const one = spread([1])
    const figures = { p50Ms: one, p99Ms: one, serverCpuUs: one, generatorCpuUs: one }
    return { server, rounds, rate: spread(requests), ...figures, resident: undefined, diskRatio: undefined }
  }
  const resultsOf = (name: string, measurements: Measurement[]): BenchResults => ({
    format: formatVersion,
    machine: { measured: '', version: '', node: '', kernel: '', cpu: '', cores: 2, memoryBytes: 0, fileSystem: '' },
    rounds: 3,
    seconds: 1,
    quick: false,
    work: workloads.flatMap((workload) => (workload.name === name ? [{ workload, measurements, alone: [] }] : [])),
  })

  it('are held against the median of the ratios inside rounds', () => {
    // The rates' own medians would give 50 / 100.
    const results = resultsOf('get-4k', [
      measured(serverNames.one, [10, 50, 90]),
      measured('node-http', [100, 1000, 100]),
    ])
    expect(workGoalResults(results)).toContainEqual(
      expect.objectContaining({ title: 'GET 4 KiB over bare node:http', measured: '0.10', met: false }),
    )
  })

  it('of decisions are held against the verification of the same round', () => {
    const round = (verifyUs: number, policyOf20Us: number) => ({ verifyUs, ownKeyUs: verifyUs / 10, policyOf20Us })
    const decisions = [round(4, 8), round(40, 120), round(4, 16)]
    const results = workGoalResults({ ...resultsOf('none', []), decisions })
    expect(results.map(({ measured, met }) => `${measured} ${met}`)).toEqual(['0.10 true', '3.00 false'])
  })

  it('of memory go by what an idle server holds, or else by what it held between rounds', () => {
    const MiB = 1024 * 1024
    const work = measured(serverNames.one, [10])
    const between = { ...work, resident: { before: 150 * MiB, peak: 200 * MiB } }
    const goalOf = (measurement: Measurement) =>
      workGoalResults(resultsOf('get-1m', [measurement])).find(({ title }) => title.includes('idle'))
    expect(goalOf(between)).toMatchObject({ measured: '150 MiB', met: false })
    expect(goalOf({ ...between, idleBytes: 70 * MiB })).toMatchObject({ measured: '70 MiB', met: true })
  })

  it('of workers compare what idle servers of one row hold', () => {
    const MiB = 1024 * 1024
    const idle = (server: string, mebibytes: number) => ({ ...measured(server, [10]), idleBytes: mebibytes * MiB })
    const results = resultsOf('get-4k', [idle(serverNames.one, 70), idle(serverNames.two, 117)])
    expect(workGoalResults(results)).toContainEqual(
      expect.objectContaining({
        title: expect.stringContaining('two workers over one'),
        measured: '47 MiB',
        met: false,
      }),
    )
  })

  it('of starts compare with the empty program of the same round', () => {
    const round = (emptyMs: number, serveMs: number) => ({
      emptyMs,
      serveMs,
      importMs: emptyMs,
      firstMs: emptyMs,
      warmMs: emptyMs / 10,
      serveTwoMs: serveMs,
    })
    const starts = [round(50, 150), round(500, 2_500), round(50, 250)]
    const results = workGoalResults({ ...resultsOf('none', []), starts })
    expect(results.map(({ measured, met }) => `${measured} ${met}`)).toEqual(['1.00 true', '0.10 true', '5.00 false'])
  })

  it('that were not measured are not judged', () => {
    const titles = workGoalResults(resultsOf('put-4k', [measured(serverNames.one, [10])])).map(({ title }) => title)
    expect(titles).toEqual(['PUT 4 KiB: p99 over p50'])
  })
})
