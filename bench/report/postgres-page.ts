/** What the figures over PostgreSQL are to reach, their tables, and their page. */
import { type Goal, type GoalResult, judge, ratesOf } from '../goals.ts'
import type { EngineCosts, Measurement, PostgresResults, WorkResult } from '../results.ts'
import { bareNames, serverNames } from '../servers/server-names.ts'
import { median, pairedRatios, type Spread } from '../statistics.ts'
import { figure, generatorBoundNote, goalTable, machineLine, markdownText, type Table, workTable } from './table.ts'

const { one, overPostgres, three, heldOne, heldTwo, heldThree } = serverNames
const { one: bare, three: threeBare } = bareNames

const titles = { 'get-4k': 'GET 4 KiB', 'head-4k': 'HEAD', 'put-4k': 'PUT 4 KiB', list: 'LIST of 1,000' } as const
type RowName = keyof typeof titles
const names: readonly RowName[] = ['get-4k', 'head-4k', 'put-4k', 'list']
const heldNames = ['get-4k', 'put-4k'] as const

const overBare = (name: RowName, least: number): Goal<PostgresResults> => ({
  title: `${titles[name]} over bare node:http`,
  least,
  measure: ({ work }) => rateRatio(rowOf(work, name), overPostgres, bare),
})

const goals: readonly Goal<PostgresResults>[] = [
  overBare('get-4k', 0.19),
  overBare('head-4k', 0.19),
  overBare('put-4k', 0.07),
  {
    title: 'LIST of 1,000 over LMDB',
    least: 0.4,
    measure: ({ work }) => rateRatio(rowOf(work, 'list'), overPostgres, one),
  },
  {
    title: 'client CPU of a gathered lookup',
    most: 20,
    unit: 'us',
    measure: ({ engine }) => medianOf(engine, ({ lookupCpuUs }) => lookupCpuUs.postgres),
  },
  {
    title: 'page by delimiter over flat page, 1,000 groups, time',
    most: 50,
    measure: ({ engine }) => medianOf(engine, ({ pageMs }) => pageMs.folded / pageMs.flat),
  },
  ...names.map((name) => ({
    title: `${titles[name]}: gateway CPU, three gateways over one`,
    most: 1.1,
    measure: ({ work }: PostgresResults) => cpuRatio(rowOf(work, name), three, overPostgres),
  })),
  ...heldNames.map((name) => ({
    title: `${titles[name]}: gateway CPU, three gateways of 0.3 core over one`,
    most: 1.1,
    measure: ({ held }: PostgresResults) => cpuRatio(rowOf(held, name), heldThree, heldOne),
  })),
  ...heldNames.map((name) => ({
    title: `${titles[name]}: two gateways of 0.3 core over one`,
    least: 1.6,
    measure: ({ held }: PostgresResults) => rateRatio(rowOf(held, name), heldTwo, heldOne),
  })),
]

export function postgresGoalResults(results: PostgresResults): GoalResult[] {
  return judge(goals, results)
}

export function postgresTables({ work, held, engine, groupKeys }: PostgresResults): Table[] {
  return [
    besideTable(work),
    threeTable(work, held),
    cpuTable([...work, ...held]),
    engineTable(engine, groupKeys),
    ...work.map(workTable),
    ...held.map(workTable).map((table) => ({ ...table, title: `${table.title} each, gateways held to 0.3 core` })),
  ]
}

function besideTable(work: readonly WorkResult[]): Table {
  const ratio = (row: WorkResult, server: string, reference: string): string =>
    rateRatio(row, server, reference)?.toFixed(2) ?? ''
  return {
    title: 'LMDB and PostgreSQL',
    head: ['rates', 'LMDB over node:http', 'PostgreSQL over node:http', 'PostgreSQL over LMDB'],
    rows: work.map((row) => [
      row.workload.title,
      ratio(row, one, bare),
      ratio(row, overPostgres, bare),
      ratio(row, overPostgres, one),
    ]),
  }
}

/** How much of what three gateways cost comes with any three processes. */
function threeTable(work: readonly WorkResult[], held: readonly WorkResult[]): Table {
  const rows = names.map((name) => [
    titles[name],
    ...[cpuRatio(rowOf(work, name), three, overPostgres), cpuRatio(rowOf(work, name), threeBare, bare)],
    cpuRatio(rowOf(held, name), heldThree, heldOne),
  ])
  return {
    title: 'CPU of a request, three processes over one',
    head: ['', 'gateways', 'bare node:http', 'gateways of 0.3 core'],
    rows: rows
      .filter((row) => row.some((cell) => typeof cell === 'number'))
      .map((row) => row.map((cell) => (typeof cell === 'number' ? cell.toFixed(2) : (cell ?? '')))),
  }
}

function cpuTable(work: readonly WorkResult[]): Table {
  return {
    title: 'CPU of a request, us: median of the rounds (least)',
    head: ['', '', 'gateways', 'PostgreSQL', 'generator'],
    rows: work.flatMap(({ workload, measurements }) =>
      measurements.map(({ server, serverCpuUs, databaseCpuUs, generatorCpuUs }) => [
        workload.title,
        server,
        spreadText(serverCpuUs),
        spreadText(databaseCpuUs),
        spreadText(generatorCpuUs),
      ]),
    ),
  }
}

const spreadText = (spread: Spread | undefined): string =>
  spread === undefined ? '' : `${figure(spread.median)} (${figure(spread.min)})`

function engineTable(engine: readonly EngineCosts[], groupKeys: number): Table {
  const row = (what: string, of: (costs: EngineCosts) => number, unit: string): string[] => [
    what,
    `${figure(medianOf(engine, of) ?? Number.NaN)} ${unit}`,
  ]
  return {
    title: 'The engine alone',
    head: ['', ''],
    rows:
      engine.length === 0
        ? []
        : [
            row('client CPU of a lookup, 64 at once', ({ lookupCpuUs }) => lookupCpuUs.postgres, 'us'),
            row('the same over LMDB', ({ lookupCpuUs }) => lookupCpuUs.lmdb, 'us'),
            row('a page of 1,000 keys', ({ pageMs }) => pageMs.flat, 'ms'),
            row(
              `a page of 1,000 groups of ${groupKeys.toLocaleString('en')} keys`,
              ({ pageMs }) => pageMs.folded,
              'ms',
            ),
          ],
  }
}

export function postgresPage(results: PostgresResults): string {
  const { machine, rounds, seconds, quick, loadBefore } = results
  const sections = postgresTables(results).filter(({ rows }) => rows.length > 0)
  return [
    '# Benchmarks over PostgreSQL',
    '',
    '<!-- Generated by `npm run bench -- postgres --docs`. Do not edit. -->',
    '',
    `${machineLine(machine)}.`,
    '',
    ...(quick ? ['**This run only checks that the bench works. Its figures mean nothing.**', ''] : []),
    ...(loadBefore > machine.cores / 2
      ? [
          `**Other work kept the machine busy: its load average was ${loadBefore.toFixed(0)} before the run. Rates, and ratios of servers with different numbers of processes, say little then: a starved process ` +
            'answers fewer requests each time it runs, so a request costs it several times the CPU.**',
          '',
        ]
      : []),
    'One machine runs everything: the gateways, PostgreSQL, and the load generator. PostgreSQL has its default durability (`fsync`, `full_page_writes` and `synchronous_commit` on), 1 GB of shared ' +
      'buffers, and no standby. `holdfast` is one process over LMDB. Each gateway has as many connections as a server that is measured alone, and gateways of one row share a database and a directory. ' +
      `There are ${rounds} rounds of ${seconds} s for each server, in turns within a round. Figures are medians of the rounds, and ratios medians of the ratios inside a round.`,
    '',
    `${generatorBoundNote.replace('*', '\\*')}: compare the CPU there.`,
    '',
    'Three gateways send about as many statements for the same requests as one does, because they wait longer and gather more: what rises is the time that the same code takes. Three processes of ' +
      'bare node:http beside the generator rise, too. Where there are fewer cores than busy processes, each is interrupted twice as often, and presumably finds the caches filled by others. Held to 0.3 core, ' +
      'gateways leave each other room, so that what is left is what sharing the metadata costs.',
    '',
    ...[goalTable(postgresGoalResults(results))].flatMap((table) =>
      table.rows.length === 0 ? [] : [markdownText(table)],
    ),
    ...sections.flatMap((table) => [`## ${table.title}`, '', markdownText(table)]),
  ].join('\n')
}

function rowOf(work: readonly WorkResult[], name: RowName): WorkResult | undefined {
  return work.find(({ workload }) => workload.name === name)
}

function rateRatio(row: WorkResult | undefined, server: string, reference: string): number | undefined {
  return ratioOf(row, ratesOf, server, reference)
}

function cpuRatio(row: WorkResult | undefined, server: string, reference: string): number | undefined {
  return ratioOf(row, ({ rounds }) => rounds.flatMap(({ serverCpuUs }) => serverCpuUs ?? []), server, reference)
}

function ratioOf(
  row: WorkResult | undefined,
  values: (measurement: Measurement) => number[],
  server: string,
  reference: string,
): number | undefined {
  const [ours, others] = [server, reference].map((name) => row?.measurements.find((one) => one.server === name))
  if (ours === undefined || others === undefined) return undefined
  const ratios = pairedRatios(values(ours), values(others))
  return ratios.length === 0 ? undefined : median(ratios)
}

function medianOf(engine: readonly EngineCosts[], of: (costs: EngineCosts) => number): number | undefined {
  return engine.length === 0 ? undefined : median(engine.map(of))
}
