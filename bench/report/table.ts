/** Tables of results as rows of text: for the terminal, and for the page. Decides how figures are written. */
import { type GoalResult, ratesOf } from '../goals.ts'
import type { AloneMeasurement, BenchResults, Machine, Measurement, ScaleResults, WorkResult } from '../results.ts'
import { serverNames } from '../servers/server-names.ts'
import { median, medianInterval, pairedRatios, type Spread } from '../statistics.ts'
import type { Workload } from '../workloads.ts'

export interface Table {
  title: string
  head: readonly string[]
  rows: readonly (readonly string[])[]
}

const MB = 1e6
const MiB = 1024 * 1024

export function workTable({ workload, measurements, alone }: WorkResult): Table {
  const ours = measurements.find(({ server }) => server === serverNames.one)
  return {
    title: `${workload.title}, ${workload.connections} connections`,
    head: [
      '',
      'rate',
      'lowest to highest',
      'over holdfast',
      'p50 ms',
      'p99 ms',
      'CPU us',
      'generator us',
      'resident MiB',
      'disk',
    ],
    rows: [
      ...measurements.map((measurement) => workRow(workload, measurement, ours)),
      ...alone.map((measurement) => aloneRow(workload, measurement, ours)),
    ],
  }
}

function workRow(workload: Workload, measurement: Measurement, ours: Measurement | undefined): string[] {
  const { server, rate, p50Ms, p99Ms, serverCpuUs, generatorCpuUs, diskRatio } = measurement
  const ratios = ours === undefined ? [] : pairedRatios(ratesOf(measurement), ratesOf(ours))
  return [
    server,
    `${rateText(workload, rate.median)}${isGeneratorBound(measurement) ? ' *' : ''}`,
    rangeText(workload, rate),
    ratios.length === 0 ? '' : median(ratios).toFixed(2),
    figure(p50Ms.median),
    figure(p99Ms.median),
    serverCpuUs === undefined ? '' : figure(serverCpuUs.median),
    figure(generatorCpuUs.median),
    memoryText(measurement),
    diskRatio === undefined ? '' : diskRatio.toFixed(2),
  ]
}

function memoryText({ resident, idleBytes }: Measurement): string {
  if (resident === undefined) return ''
  const working = `${mebibytes(resident.before)} to ${mebibytes(resident.peak)}`
  return idleBytes === undefined ? working : `${working}, idle ${mebibytes(idleBytes)}`
}

/** This build over the one before, round by round. */
export function pairTable(work: readonly WorkResult[]): Table {
  return {
    title: 'Over the version before, of the rounds',
    head: ['work', 'pairs', 'rate', '95 % of the median', 'CPU a request', 'within 3 %'],
    rows: work.flatMap(({ workload, measurements }) => {
      const [ours, before] = [serverNames.one, serverNames.before].map((name) =>
        measurements.find(({ server }) => server === name),
      )
      if (ours === undefined || before === undefined) return []
      const rates = pairedRatios(ratesOf(ours), ratesOf(before))
      const { low, high } = medianInterval(rates)
      const cpu = pairedRatios(cpuOf(ours), cpuOf(before))
      const cpuRatio = cpu.length === 0 ? undefined : median(cpu)
      return [
        [
          workload.title,
          `${rates.length}`,
          median(rates).toFixed(3),
          `${low.toFixed(3)} to ${high.toFixed(3)}`,
          cpuRatio?.toFixed(3) ?? '',
          high >= 0.97 && (cpuRatio ?? 0) <= 1.03 ? 'yes' : 'no',
        ],
      ]
    }),
  }
}

/** A server that keeps its shards on another one, over one with a directory, round by round. */
export function farTable(work: readonly WorkResult[]): Table {
  return {
    title: 'Shards on another server, over a directory',
    head: ['work', 'rate', 'CPU', 'CPU of both', 'CPU us', 'CPU us, far', 'CPU us, directory'],
    rows: work.flatMap(({ workload, measurements }) => {
      const [ours, far] = [serverNames.one, serverNames.far].map((name) =>
        measurements.find(({ server }) => server === name),
      )
      if (ours === undefined || far === undefined) return []
      const both = far.rounds.flatMap(({ serverCpuUs = 0, farCpuUs = 0 }) => serverCpuUs + farCpuUs)
      const ratio = (one: readonly number[], other: readonly number[]) => median(pairedRatios(one, other)).toFixed(2)
      return [
        [
          workload.title,
          ratio(ratesOf(far), ratesOf(ours)),
          ratio(cpuOf(far), cpuOf(ours)),
          ratio(both, cpuOf(ours)),
          ...[far.serverCpuUs, far.farCpuUs, ours.serverCpuUs].map((spread) => figure(spread?.median ?? Number.NaN)),
        ],
      ]
    }),
  }
}

const cpuOf = ({ rounds }: Measurement): number[] => rounds.flatMap(({ serverCpuUs }) => serverCpuUs ?? [])

/** The server could do more: a request costs it less than it costs the generator. */
function isGeneratorBound({ serverCpuUs, generatorCpuUs }: Measurement): boolean {
  return serverCpuUs !== undefined && generatorCpuUs.median > serverCpuUs.median
}

export const generatorBoundNote = '* bound by the generator: a request costs it more CPU than the server'

function aloneRow(workload: Workload, alone: AloneMeasurement, ours: Measurement | undefined): string[] {
  const isMd5 = alone.reference === 'md5'
  const asRequests = alone.rounds.map((rate) => (isMd5 ? rate / workload.objectBytes : rate))
  const ratios = ours === undefined ? [] : pairedRatios(asRequests, ratesOf(ours))
  const text = (rate: number): string => (isMd5 ? `${figure(rate / MB)} MB/s` : `${figure(rate)} /s`)
  return [
    isMd5 ? 'MD5 alone, one core' : 'a log alone, fdatasync in groups',
    text(alone.rate.median),
    `${text(alone.rate.min)} to ${text(alone.rate.max)}`,
    ratios.length === 0 ? '' : median(ratios).toFixed(2),
    ...Array.from({ length: 6 }, () => ''),
  ]
}

export function decisionTable({ decisions = [] }: BenchResults): Table {
  const rows = [
    ['one SigV4 verification', 'verifyUs'],
    ['own key, no bucket policy', 'ownKeyUs'],
    ['own key, bucket policy of 20 statements', 'policyOf20Us'],
  ] as const
  return {
    title: 'Decisions about requests',
    head: ['', 'us', 'over a verification'],
    rows:
      decisions.length === 0
        ? []
        : rows.map(([what, name]) => [
            what,
            median(decisions.map((round) => round[name])).toFixed(2),
            median(decisions.map((round) => round[name] / round.verifyUs)).toFixed(2),
          ]),
  }
}

export function startTable({ starts = [] }: BenchResults): Table {
  const rows = [
    ['node -e 0', 'emptyMs'],
    ['import of the package', 'importMs'],
    ['startServer() in memory, the first', 'firstMs'],
    ['startServer() in memory, later ones', 'warmMs'],
    ['holdfast serve on an existing directory, until ready', 'serveMs'],
    ['the same with two workers', 'serveTwoMs'],
  ] as const
  return {
    title: 'Starts',
    head: ['', 'ms', 'over node -e 0'],
    rows:
      starts.length === 0
        ? []
        : rows.map(([what, name]) => [
            what,
            figure(median(starts.map((round) => round[name]))),
            median(starts.map((round) => round[name] / round.emptyMs)).toFixed(2),
          ]),
  }
}

export function goalTable(goals: readonly GoalResult[]): Table {
  return {
    title: 'Goals',
    head: ['work', 'goal', 'measured', ''],
    rows: goals.map(({ title, goal, measured, met, missedPercent }) => [
      title,
      goal,
      measured,
      met ? 'met' : `missed by ${missedPercent.toFixed(0)} %`,
    ]),
  }
}

export function scaleTables(results: ScaleResults): Table[] {
  const { putRates, pages, diskRatio, residentBytes, startsAfterKill, startsEmpty, reclaim, deleteRate } = results
  return [
    {
      title: 'PUT 4 KiB, each tenth of the objects',
      head: putRates.map((_, index) => `${(index + 1) * 10} %`),
      rows: [putRates.map((rate) => `${figure(rate)} /s`)],
    },
    {
      title: 'LIST of 1,000, server CPU a page',
      head: [
        'page',
        `${results.smallObjects.toLocaleString('en')} keys`,
        `${results.objects.toLocaleString('en')} keys`,
        'ratio',
      ],
      rows: pages.map(({ name, smallCpuUs, largeCpuUs }) => [
        name,
        `${(smallCpuUs / 1000).toFixed(2)} ms`,
        `${(largeCpuUs / 1000).toFixed(2)} ms`,
        (largeCpuUs / smallCpuUs).toFixed(2),
      ]),
    },
    {
      title: 'Start, memory, disk',
      head: ['what', 'figure'],
      rows: [
        ['start with an empty store', `${figure(median(startsEmpty))} ms`],
        ['start after kill -9', `${figure(median(startsAfterKill))} ms`],
        ['memory, empty', `${mebibytes(residentBytes.empty)} MiB`],
        ['memory, after all was written and listed', `${mebibytes(residentBytes.filled)} MiB`],
        ['memory, started after kill -9', `${mebibytes(residentBytes.afterKill)} MiB`],
        ['disk over logical, all written', diskRatio.filled.toFixed(2)],
        ['disk over logical, half deleted', diskRatio.halfDeleted.toFixed(2)],
        ['disk over logical, after reclaim and compaction', diskRatio.reclaimed.toFixed(2)],
        ['DELETE of every other object', `${figure(deleteRate)} /s`],
        [
          'reclaim and compaction',
          `${figure(reclaim.seconds)} s in ${reclaim.runs} runs; ${reclaim.blobsRemoved} objects removed, ${reclaim.movedShards} moved`,
        ],
      ],
    },
  ]
}

export function machineLine({ cpu, cores, memoryBytes, kernel, fileSystem, node, version, measured }: Machine): string {
  const memory = `${Math.round(memoryBytes / 1024 ** 3)} GiB`
  return `Holdfast ${version}, Node ${node}, Linux ${kernel}, ${cores} cores (${cpu}), ${memory}, ${fileSystem}; ${measured.slice(0, 10)}`
}

/** Columns that line up. */
export function terminalText({ title, head, rows }: Table): string {
  const all = [head, ...rows]
  const widths = head.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)))
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  ')
  return `${[title, ...all.map((row) => `  ${line(row).trimEnd()}`)].join('\n')}\n`
}

export function markdownText({ head, rows }: Table): string {
  const line = (row: readonly string[]): string => `| ${row.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return `${[line(head), line(head.map((_, column) => (column === 0 ? '---' : '---:'))), ...rows.map(line)].join('\n')}\n`
}

export function rateText({ movedBytes }: Workload, rate: number): string {
  return movedBytes === undefined ? `${figure(rate)} /s` : `${figure((rate * movedBytes) / MB)} MB/s`
}

function rangeText(workload: Workload, { min, max }: Spread): string {
  return `${rateText(workload, min)} to ${rateText(workload, max)}`
}

function mebibytes(bytes: number): string {
  return (bytes / MiB).toFixed(0)
}

/** Three digits that count. */
export function figure(value: number): string {
  if (value >= 1000) return Number(value.toPrecision(3)).toLocaleString('en')
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)
}
