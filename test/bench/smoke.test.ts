import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { BenchResults, Measurement, ScaleResults } from '../../bench/results.ts'

const runProgram = promisify(execFile)
const main = fileURLToPath(new URL('../../dist/bench/main.js', import.meta.url))
const minutes = 60_000

const directory = mkdtempSync(join(tmpdir(), 'holdfast-bench-test-'))
const docs = join(directory, 'docs')
const dataParent = join(directory, 'data')
afterAll(() => rmSync(directory, { recursive: true, force: true }))

async function bench(...words: string[]): Promise<{ text: string; results: string }> {
  if (!existsSync(main)) throw new Error(`${main} is missing: run \`npm run build\` before the tests`)
  const json = join(directory, 'results.json')
  const { stdout } = await runProgram(process.execPath, [
    main,
    ...words,
    '--dir',
    dataParent,
    '--json',
    json,
    '--docs',
    docs,
  ])
  return { text: stdout, results: readFileSync(json, 'utf8') }
}

/** Every image that the page shows. */
function chartsOfPage(): string[] {
  const page = readFileSync(join(docs, 'benchmarks.md'), 'utf8')
  return [...page.matchAll(/!\[[^\]]*\]\(([^)]+)\)/g)].map(([, path = '']) => path)
}

describe('a short run of the bench', () => {
  const names = ['put-4k', 'get-4k', 'delete-4k', 'put-64m', 'striped-get', 'multipart', 'list-delimiter']
  let text = ''
  let results: BenchResults

  beforeAll(async () => {
    const run = await bench(
      '--quick',
      '--seconds',
      '0.2',
      '--rounds',
      '2',
      '--only',
      [...names, 'decisions', 'start'].join(','),
    )
    text = run.text
    results = JSON.parse(run.results)
  }, 5 * minutes)

  const measurementsOf = (name: string): Measurement[] =>
    results.work.find(({ workload }) => workload.name === name)?.measurements ?? []

  it('measures what a decision costs, in every round', () => {
    expect(results.decisions).toHaveLength(2)
    for (const costs of results.decisions ?? []) for (const us of Object.values(costs)) expect(us).toBeGreaterThan(0)
    expect(text).toContain('bucket policy of 20 statements')
  })

  it('measures how long starts take, in every round', () => {
    expect(results.starts).toHaveLength(2)
    for (const costs of results.starts ?? []) for (const ms of Object.values(costs)) expect(ms).toBeGreaterThan(0)
    expect(text).toMatch(/holdfast serve until ready over node -e 0 +at most 4\.00 +\d/)
  })

  it('measures what it was asked for, in every round, without a failed request', () => {
    expect(results.work.map(({ workload }) => workload.name).sort()).toEqual([...names].sort())
    for (const { measurements } of results.work) {
      for (const { rounds, rate, p50Ms, p99Ms, generatorCpuUs } of measurements) {
        expect(rounds).toHaveLength(2)
        for (const { requests, seconds } of rounds) expect(requests / seconds).toBeGreaterThan(0)
        expect(rate.min).toBeLessThanOrEqual(rate.median)
        expect(rate.median).toBeLessThanOrEqual(rate.max)
        expect(p50Ms.median).toBeLessThanOrEqual(p99Ms.median)
        expect(generatorCpuUs.median).toBeGreaterThan(0)
      }
    }
  })

  it('holds the server against bare node:http, itself with two workers, MD5 and a log', () => {
    expect(measurementsOf('put-4k').map(({ server }) => server)).toEqual([
      'holdfast',
      'holdfast, 2 workers',
      'node-http',
    ])
    const alone = results.work.flatMap((work) => work.alone.map(({ reference, rounds }) => [reference, rounds.length]))
    expect(alone.sort()).toEqual([
      ['log', 2],
      ['md5', 2],
    ])
  })

  it.runIf(process.platform === 'linux')('sees what the server uses', () => {
    const [one, two] = measurementsOf('put-4k')
    expect(one?.serverCpuUs?.median).toBeGreaterThan(0)
    expect(one?.diskRatio).toBeGreaterThan(1)
    // The workers' memory counts, too.
    expect(two?.resident?.before).toBeGreaterThan(1.5 * (one?.resident?.before ?? Number.NaN))
  })

  it('shows a table of each, and the goals', () => {
    for (const title of ['PUT 4 KiB', 'GET 4 KiB', 'DELETE', 'multipart', 'LIST 1,000 common prefixes', 'Goals']) {
      expect(text).toContain(title)
    }
    expect(text).toMatch(/GET 4 KiB over bare node:http +at least 0\.40 +\d/)
  })

  it('writes a page whose charts are there', () => {
    expect(chartsOfPage()).toEqual(['benchmarks/small.svg', 'benchmarks/large.svg', 'benchmarks/listing.svg'])
    for (const chart of chartsOfPage())
      expect(readFileSync(join(docs, chart), 'utf8')).toMatch(/^<svg .*<rect .*<\/svg>\n$/s)
  })

  it('leaves no data behind', () => {
    expect(readdirSync(dataParent)).toEqual([])
  })
})

describe('a short run of scale', () => {
  let results: ScaleResults

  beforeAll(async () => {
    results = JSON.parse((await bench('scale', '--quick', '--seconds', '0.2', '--objects', '2000')).results)
  }, 5 * minutes)

  it('measures each tenth, each kind of page, and the starts', () => {
    expect(results.putRates).toHaveLength(10)
    expect(results.pages.map(({ name }) => name)).toEqual(['first page', 'deep page', 'delimiter page'])
    for (const ms of [...results.startsAfterKill, ...results.startsEmpty]) expect(ms).toBeGreaterThan(0)
  })

  it('wins room back after half of the objects were deleted', () => {
    expect(results.diskRatio.reclaimed).toBeLessThan(results.diskRatio.halfDeleted)
    expect(results.reclaim.blobsRemoved).toBeGreaterThanOrEqual(1_000)
  })

  it('is on the page', () => {
    expect(chartsOfPage()).toContain('benchmarks/scale.svg')
  })
})

it(
  'a request that fails ends the bench, and is shown',
  async () => {
    const peer = 'absent=http://127.0.0.1:1,key,secret'
    const run = bench('--quick', '--seconds', '0.2', '--only', 'list', '--peer', peer)
    await expect(run).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('ECONNREFUSED') })
  },
  minutes,
)
