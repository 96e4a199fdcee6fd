import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { PostgresResults } from '../../bench/results.ts'
import { describeInstalled } from '../support/installed.ts'
import { postgresProbe } from '../support/postgres.ts'

const runProgram = promisify(execFile)
const main = fileURLToPath(new URL('../../dist/bench/main.js', import.meta.url))

describeInstalled('a short run of the bench over PostgreSQL', [postgresProbe], () => {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-bench-test-'))
  const docs = join(directory, 'docs')
  const dataParent = join(directory, 'data')
  let text = ''
  let results: PostgresResults
  beforeAll(async () => {
    // The database server runs as another user, who looks for its directory below.
    await runProgram('chmod', ['755', directory])
    const json = join(directory, 'results.json')
    const places = ['--dir', dataParent, '--json', json, '--docs', docs]
    const words = ['postgres', '--quick', '--seconds', '0.2', '--rounds', '2', '--only', 'put-4k,list,held,engine']
    const { stdout } = await runProgram(process.execPath, [main, ...words, ...places])
    text = stdout
    results = JSON.parse(readFileSync(json, 'utf8'))
  }, 900_000)
  afterAll(() => rmSync(directory, { recursive: true, force: true }))

  it('measures LMDB, one gateway, three, and bare node:http where it has the same work', () => {
    const servers = results.work.map(({ workload, measurements }) => [
      workload.name,
      ...measurements.map(({ server }) => server),
    ])
    const ours = ['holdfast', 'over PostgreSQL', 'over PostgreSQL, 3 gateways']
    expect(servers).toEqual([
      ['put-4k', ...ours, 'node-http', 'node-http, 3 processes'],
      ['list', ...ours],
    ])
    for (const { measurements } of results.work)
      for (const { rounds } of measurements) {
        expect(rounds).toHaveLength(2)
        for (const { requests } of rounds) expect(requests).toBeGreaterThan(0)
      }
  })

  it.runIf(process.platform === 'linux')('sees what the gateways and the database use', () => {
    const [lmdb, one, three] = results.work[0]?.measurements ?? []
    for (const measurement of [one, three]) {
      expect(measurement?.serverCpuUs?.median).toBeGreaterThan(0)
      expect(measurement?.databaseCpuUs?.median).toBeGreaterThan(0)
    }
    expect(lmdb?.databaseCpuUs).toBeUndefined()
    // All three gateways count.
    expect(three?.resident?.before).toBeGreaterThan(2 * (one?.resident?.before ?? Number.NaN))
  })

  it('limits gateways to a share of a core, where it may', () => {
    for (const { measurements } of results.held)
      expect(measurements.map(({ server }) => server)).toEqual([
        ...['one gateway, 0.3 core', 'two gateways, 0.3 core each', 'three gateways, 0.3 core each'],
      ])
    expect(results.held.length % 2).toBe(0)
  })

  it('measures lookups and pages of the engine alone, in every round', () => {
    expect(results.engine).toHaveLength(2)
    for (const { lookupCpuUs, pageMs } of results.engine)
      for (const value of [...Object.values(lookupCpuUs), ...Object.values(pageMs)]) expect(value).toBeGreaterThan(0)
  })

  it('shows the goals, and writes a page of its own', () => {
    expect(text).toMatch(/LIST of 1,000 over LMDB +at least 0\.40 +\d/)
    // Of three processes of bare node:http, too: what comes with any three processes is not the gateways' cost.
    expect(text).toMatch(/CPU of a request, three processes over one[\s\S]*PUT 4 KiB +\d+\.\d\d +\d+\.\d\d/)
    expect(text).toMatch(/client CPU of a gathered lookup +at most 20\.00 us +\d/)
    expect(readFileSync(join(docs, 'benchmarks/over-postgresql.md'), 'utf8')).toContain('| PUT 4 KiB, in little |')
    expect(readFileSync(join(docs, 'benchmarks.md'), 'utf8')).toContain('benchmarks/over-postgresql.md')
  })

  it('leaves no data behind', () => {
    expect(readdirSync(dataParent)).toEqual([])
  })
})
