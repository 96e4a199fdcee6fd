/** What the figures are to reach, and whether they do. Ratios are inside one run: medians of the rounds' own ratios. */
import type { BenchResults, DecisionCosts, Measurement, ScaleResults, StartCosts, WorkResult } from './results.ts'
import { serverNames } from './servers/server-names.ts'
import { median, pairedRatios } from './statistics.ts'

export interface GoalResult {
  title: string
  /** `at least 0.40`. */
  goal: string
  measured: string
  met: boolean
  /** How far it is missed, in percent of the goal; 0 when it is met. */
  missedPercent: number
}

interface Bound {
  most?: number
  least?: number
  unit?: string
}

export interface Goal<Results> extends Bound {
  title: string
  /** `undefined`: not measured in this run. */
  measure(results: Results): number | undefined
}

const MiB = 1024 * 1024

const workGoals: readonly Goal<BenchResults>[] = [
  { title: 'GET 4 KiB over bare node:http', least: 0.4, measure: (all) => rateOver(all, 'get-4k', 'node-http') },
  { title: 'HEAD over bare node:http', least: 0.6, measure: (all) => rateOver(all, 'head-4k', 'node-http') },
  {
    title: 'PUT 4 KiB, durable, over bare node:http PUT',
    least: 0.22,
    measure: (all) => rateOver(all, 'put-4k', 'node-http'),
  },
  { title: 'GET of a key that is not there over HEAD', least: 1.05, measure: missingOverHead },
  { title: 'PUT 4 KiB: p99 over p50', most: 6, measure: (all) => tailOf(all, 'put-4k') },
  { title: 'LIST of 1,000: server CPU a page', most: 2.2, unit: 'ms', measure: (all) => cpuMs(all, 'list') },
  { title: 'PUT 64 KiB: server CPU', most: 0.3, unit: 'ms', measure: (all) => cpuMs(all, 'put-64k') },
  { title: 'PUT 1 MiB: server CPU', most: 2.8, unit: 'ms', measure: (all) => cpuMs(all, 'put-1m') },
  { title: 'PUT 1 MiB x 8 over MD5 of one core', least: 0.75, measure: (all) => bytesOverMd5(all, 'put-1m') },
  {
    title: 'GET 1 MiB x 8, verified, over nginx sendfile',
    least: 0.85,
    measure: (all) => rateOver(all, 'get-1m', 'nginx'),
  },
  {
    title: 'GET of 64 KiB out of 64 MiB, verified, over nginx sendfile',
    least: 0.45,
    measure: (all) => rateOver(all, 'range-64k', 'nginx'),
  },
  { title: 'PUT 64 MiB x 8 over MD5 of one core', least: 0.8, measure: (all) => bytesOverMd5(all, 'put-64m') },
  {
    title: 'GET 64 MiB x 8, verified, over nginx sendfile',
    least: 0.5,
    measure: (all) => rateOver(all, 'get-64m', 'nginx'),
  },
  {
    title: 'PUT 64 MiB x 8, encrypted (SSE-S3), over unencrypted',
    least: 0.6,
    measure: (all) => encrypted(all, 'put-64m'),
  },
  {
    title: 'GET 64 MiB x 8, encrypted (SSE-S3), over unencrypted',
    least: 0.6,
    measure: (all) => encrypted(all, 'get-64m'),
  },
  { title: 'PUT 64 MiB x 8, striped 4 + 2, over one copy', least: 0.45, measure: (all) => striped(all, 'striped-put') },
  { title: 'GET 64 MiB x 8, striped 4 + 2, over one copy', least: 0.6, measure: (all) => striped(all, 'striped-get') },
  { title: 'memory that 32 slow clients cost', most: 200, unit: 'MiB', measure: memoryGrowth },
  { title: 'memory when idle, after any of the work', most: 120, unit: 'MiB', measure: idleMemory },
  {
    title: 'a decision over one SigV4 verification, own key, no bucket policy',
    most: 0.5,
    measure: (all) => decisionRatio(all, 'ownKeyUs'),
  },
  {
    title: 'a decision over one SigV4 verification, bucket policy of 20 statements',
    most: 2.5,
    measure: (all) => decisionRatio(all, 'policyOf20Us'),
  },
  // These stand for 100 ms and 15 ms on a machine where an empty program takes 55.
  { title: 'import of the package over node -e 0', most: 1.82, measure: (all) => startRatio(all, 'importMs') },
  { title: 'startServer() in memory, warm, over node -e 0', most: 0.27, measure: (all) => startRatio(all, 'warmMs') },
  { title: 'holdfast serve until ready over node -e 0', most: 4, measure: (all) => startRatio(all, 'serveMs') },
  {
    title: 'memory when idle, after any of the work: two workers over one',
    most: 45,
    unit: 'MiB',
    measure: idleMemoryOfWorkers,
  },
  { title: 'two workers: HEAD over one', least: 1.5, measure: (all) => twoWorkers(all, 'head-4k') },
  { title: 'two workers: LIST over one', least: 1.6, measure: (all) => twoWorkers(all, 'list') },
  { title: 'two workers: GET 4 KiB over one', least: 1.15, measure: (all) => twoWorkers(all, 'get-4k') },
  { title: 'two workers: PUT 4 KiB over one', least: 1.15, measure: (all) => twoWorkers(all, 'put-4k') },
  { title: 'two workers: PUT 4 KiB, server CPU over one', most: 1.1, measure: (all) => twoWorkersCpu(all, 'put-4k') },
  { title: 'two workers: PUT 1 MiB over one', least: 1.15, measure: (all) => twoWorkers(all, 'put-1m') },
  { title: 'two workers: PUT 1 MiB, server CPU over one', most: 1.1, measure: (all) => twoWorkersCpu(all, 'put-1m') },
]

const scaleGoals: readonly Goal<ScaleResults>[] = [
  ...['first page', 'deep page', 'delimiter page'].map((name) => ({
    title: `LIST, ${name}: server CPU over that with few keys`,
    most: 1.2,
    measure: ({ pages }: ScaleResults) => {
      const page = pages.find((candidate) => candidate.name === name)
      return page === undefined ? undefined : page.largeCpuUs / page.smallCpuUs
    },
  })),
  {
    title: 'disk over logical, 4 KiB objects, after compaction',
    most: 1.35,
    measure: ({ diskRatio }) => diskRatio.reclaimed,
  },
  {
    title: 'start after kill -9 over a start with an empty store',
    most: 2,
    measure: ({ startsAfterKill, startsEmpty }) => median(startsAfterKill) / median(startsEmpty),
  },
]

export function workGoalResults(results: BenchResults): GoalResult[] {
  return judge(workGoals, results)
}

export function scaleGoalResults(results: ScaleResults): GoalResult[] {
  return judge(scaleGoals, results)
}

export function judge<Results>(goals: readonly Goal<Results>[], results: Results): GoalResult[] {
  return goals.flatMap((goal) => {
    const measured = goal.measure(results)
    return measured === undefined || Number.isNaN(measured) ? [] : [judgeOne(goal.title, goal, measured)]
  })
}

export function judgeOne(title: string, { least, most, unit }: Bound, measured: number): GoalResult {
  const bound = least ?? most ?? 0
  const met = least === undefined ? measured <= bound : measured >= bound
  const inUnit = (value: number): string =>
    `${value.toFixed(unit === 'MiB' ? 0 : 2)}${unit === undefined ? '' : ` ${unit}`}`
  return {
    title,
    goal: `${least === undefined ? 'at most' : 'at least'} ${inUnit(bound)}`,
    measured: inUnit(measured),
    met,
    missedPercent: met ? 0 : (Math.abs(measured - bound) / bound) * 100,
  }
}

function workNamed({ work }: BenchResults, name: string): WorkResult | undefined {
  return work.find(({ workload }) => workload.name === name)
}

function measurementOf(all: BenchResults, name: string, server: string): Measurement | undefined {
  return workNamed(all, name)?.measurements.find((measurement) => measurement.server === server)
}

export function ratesOf({ rounds }: Measurement): number[] {
  return rounds.map(({ requests, seconds }) => requests / seconds)
}

function ratioOf(measurement: Measurement | undefined, reference: Measurement | undefined): number | undefined {
  if (measurement === undefined || reference === undefined) return undefined
  return median(pairedRatios(ratesOf(measurement), ratesOf(reference)))
}

function rateOver(all: BenchResults, name: string, reference: string): number | undefined {
  return ratioOf(measurementOf(all, name, serverNames.one), measurementOf(all, name, reference))
}

function twoWorkers(all: BenchResults, name: string): number | undefined {
  return ratioOf(measurementOf(all, name, serverNames.two), measurementOf(all, name, serverNames.one))
}

function twoWorkersCpu(all: BenchResults, name: string): number | undefined {
  const [one, two] = [serverNames.one, serverNames.two].map((server) =>
    measurementOf(all, name, server)?.rounds.flatMap(({ serverCpuUs }) => serverCpuUs ?? []),
  )
  return one === undefined || two === undefined ? undefined : median(pairedRatios(two, one))
}

function missingOverHead(all: BenchResults): number | undefined {
  const [missing, head] = ['missing', 'head-4k'].map((name) => measurementOf(all, name, serverNames.one))
  return ratioOf(missing, head)
}

function encrypted(all: BenchResults, name: string): number | undefined {
  return ratioOf(measurementOf(all, name, serverNames.encrypting), measurementOf(all, name, serverNames.one))
}

function striped(all: BenchResults, name: string): number | undefined {
  return ratioOf(measurementOf(all, name, serverNames.striping), measurementOf(all, name, serverNames.one))
}

function decisionRatio({ decisions = [] }: BenchResults, name: keyof DecisionCosts): number | undefined {
  return decisions.length === 0 ? undefined : median(decisions.map((round) => round[name] / round.verifyUs))
}

function startRatio({ starts = [] }: BenchResults, name: keyof StartCosts): number | undefined {
  return starts.length === 0 ? undefined : median(starts.map((round) => round[name] / round.emptyMs))
}

function tailOf(all: BenchResults, name: string): number | undefined {
  const rounds = measurementOf(all, name, serverNames.one)?.rounds
  return rounds === undefined ? undefined : median(rounds.map(({ latencyMs }) => latencyMs.p99 / latencyMs.p50))
}

function cpuMs(all: BenchResults, name: string): number | undefined {
  const cpuUs = measurementOf(all, name, serverNames.one)?.serverCpuUs
  return cpuUs === undefined ? undefined : cpuUs.median / 1000
}

function bytesOverMd5(all: BenchResults, name: string): number | undefined {
  const work = workNamed(all, name)
  const md5 = work?.alone.find(({ reference }) => reference === 'md5')
  const measurement = measurementOf(all, name, serverNames.one)
  if (work === undefined || md5 === undefined || measurement === undefined) return undefined
  const bytes = ratesOf(measurement).map((rate) => rate * work.workload.objectBytes)
  return median(pairedRatios(bytes, md5.rounds))
}

function memoryGrowth(all: BenchResults): number | undefined {
  const rounds = measurementOf(all, 'slow-clients', serverNames.one)?.rounds.flatMap(({ resident }) => resident ?? [])
  if (rounds === undefined || rounds.length === 0) return undefined
  // What a round leaves behind is growth, too.
  const least = Math.min(...rounds.map(({ before }) => before))
  return (Math.max(...rounds.map(({ peak }) => peak)) - least) / MiB
}

/** Known only when a run waited for servers to be idle. */
function idleMemoryOfWorkers({ work }: BenchResults): number | undefined {
  const more = work.flatMap(({ measurements }) => {
    const [one, two] = [serverNames.one, serverNames.two].map(
      (name) => measurements.find(({ server }) => server === name)?.idleBytes,
    )
    return one === undefined || two === undefined ? [] : [two - one]
  })
  return more.length === 0 ? undefined : Math.max(...more) / MiB
}

/** Where a run did not wait for servers to be idle: what they held between rounds. */
function idleMemory({ work }: BenchResults): number | undefined {
  const ours = work.flatMap(({ measurements }) => measurements.filter(({ server }) => server === serverNames.one))
  const idle = ours.flatMap(({ resident, idleBytes }) => idleBytes ?? resident?.before ?? [])
  return idle.length === 0 ? undefined : Math.max(...idle) / MiB
}
