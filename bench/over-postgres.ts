/** Work over metadata in PostgreSQL: beside LMDB and bare node:http, with one gateway and with several, and what the engine costs alone. */
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { PostgresServer, postgresProbe } from '../test/support/postgres.ts'
import { holdCpu } from './held-cpu.ts'
import { startGenerator } from './load/generator.ts'
import { describeMachine, settleDisk, withScratch } from './machine.ts'
import { type Bench, orderFor, runRounds, type Say, summarise } from './measure.ts'
import { type BenchOptions, engineName, heldName, postgresWorkloads } from './options.ts'
import { type EngineCosts, formatVersion, type PostgresResults, type WorkResult } from './results.ts'
import { type HoldfastServer, startHoldfast } from './servers/holdfast.ts'
import { measureEngine, startNodeHttp, startThreeNodeHttp } from './servers/references.ts'
import type { Server } from './servers/server.ts'
import { serverNames } from './servers/server-names.ts'
import { inLittle, type Workload, workloads } from './workloads.ts'

/** An operator would give it this much memory. Everything else, above all durability, is PostgreSQL's default. */
const settings = ['shared_buffers=1GB', 'max_wal_size=4GB', 'max_connections=200']
const heldCores = 0.3
/** Each gateway answers this many requests before measuring begins, so that all run compiled code, however busy the machine is. Pages are a thousand times as large. */
const warmUpRequests = { small: 5_000, pages: 300, triesMax: 8 }
const heldWork: readonly string[] = ['put-4k', 'get-4k']

interface Setup {
  directory: string
  database: PostgresServer
}

export async function measureOverPostgres(options: BenchOptions, say: Say): Promise<PostgresResults> {
  const [program = '', ...words] = postgresProbe
  if (spawnSync(program, words).status !== 0) throw new Error('PostgreSQL is not installed')
  const [loadBefore = Number.NaN] = loadavg()
  const groupKeys = options.quick ? 30 : 2_000
  const generator = startGenerator()
  const bench = { options, generator, hasNginx: false, say }
  const isAsked = (name: string): boolean => options.only.length === 0 || options.only.includes(name)
  const rows = workloads
    .filter(({ name }) => postgresWorkloads.some((asked) => asked === name))
    .map((workload) => ({ ...(options.quick ? inLittle(workload) : workload), references: [] }))
  try {
    return await withScratch(options.directory, (directory) =>
      withPostgres(directory, async (database) => {
        const setup = { directory, database }
        const work: WorkResult[] = []
        for (const row of rows) if (isAsked(row.name)) work.push(await measureOne(bench, row, setup))
        const held: WorkResult[] = []
        for (const row of rows)
          if (isAsked(heldName) && heldWork.includes(row.name)) held.push(...(await measureHeld(bench, row, setup)))
        const engine = isAsked(engineName) ? await engineRounds(bench, groupKeys, setup) : []
        const { rounds, seconds, quick } = options
        const machine = describeMachine(options.directory)
        return { format: formatVersion, machine, rounds, seconds, quick, loadBefore, work, held, groupKeys, engine }
      }),
    )
  } finally {
    await generator.close()
  }
}

async function withPostgres<T>(directory: string, use: (database: PostgresServer) => Promise<T>): Promise<T> {
  // PostgreSQL runs as another user when the bench runs as root.
  chmodSync(directory, 0o755)
  const database = await PostgresServer.start(settings, directory)
  const { pid } = database
  const kill = (): void => {
    if (pid !== undefined) process.kill(pid, 'SIGQUIT')
  }
  process.once('exit', kill)
  try {
    return await use(database)
  } finally {
    process.off('exit', kill)
    await database.remove()
  }
}

async function measureOne(bench: Bench, workload: Workload, setup: Setup): Promise<WorkResult> {
  bench.say(workload.title)
  return measured(bench, workload, setup, async function* (directory) {
    yield startHoldfast(serverNames.one, { data: join(directory, 'lmdb') })
    yield startGateways(serverNames.overPostgres, 1, setup, workload)
    yield startGateways(serverNames.three, 3, setup, workload)
    // They have no pages to answer with.
    if (workload.kind === 'list') return
    yield startNodeHttp()
    yield startThreeNodeHttp()
  })
}

/** Measures nothing where the bench may not limit the CPU of a process. */
async function measureHeld(bench: Bench, workload: Workload, setup: Setup): Promise<WorkResult[]> {
  bench.say(`${workload.title}, gateways held to ${heldCores} core`)
  const releases: (() => void)[] = []
  let mayHold = true
  const heldGateways = async (name: string, count: number, directory: string): Promise<Server> => {
    const server = await startGateways(name, count, setup, workload)
    await warmUp(bench, workload, directory, server)
    for (const pid of [server.pid, ...(server.beside ?? []).map((gateway) => gateway.pid)]) {
      const release = pid === undefined ? undefined : holdCpu(pid, heldCores)
      if (release === undefined) mayHold = false
      else releases.push(release)
    }
    return server
  }
  try {
    const result = await measured(bench, workload, setup, async function* (directory) {
      yield heldGateways(serverNames.heldOne, 1, directory)
      if (mayHold) yield heldGateways(serverNames.heldTwo, 2, directory)
      if (mayHold) yield heldGateways(serverNames.heldThree, 3, directory)
    })
    if (!mayHold) bench.say('  control groups cannot be written here: not measured')
    return mayHold ? [result] : []
  } finally {
    for (const release of releases) release()
  }
}

async function measured(
  bench: Bench,
  workload: Workload,
  { directory: parent }: Setup,
  start: (directory: string) => AsyncGenerator<Server>,
): Promise<WorkResult> {
  return withScratch(parent, async (directory) => {
    settleDisk()
    const servers: Server[] = []
    try {
      for await (const server of start(directory)) servers.push(server)
      for (const server of servers) await warmUp(bench, workload, directory, server)
      const { runs } = await runRounds(bench, workload, directory, servers)
      const measurements = [...runs].map(([server, { rounds }]) => summarise(server, rounds, undefined))
      return { workload, measurements, alone: [] }
    } finally {
      for (const server of servers) await server.close()
    }
  })
}

async function warmUp(bench: Bench, workload: Workload, directory: string, server: Server): Promise<void> {
  if (bench.options.quick) return
  const gateways = 1 + (server.beside?.length ?? 0)
  let wanted = gateways * (workload.kind === 'list' ? warmUpRequests.pages : warmUpRequests.small)
  for (let tries = 0; wanted > 0 && tries < warmUpRequests.triesMax; tries++)
    wanted -= (await bench.generator.run(orderFor(bench, workload, directory, server, `before-${tries}`))).requests
}

let databases = 0

/** Starts servers over one new database and one store, and shows them as one server with several ports. */
async function startGateways(
  name: string,
  count: number,
  { directory: parent, database }: Setup,
  workload: Workload,
): Promise<Server> {
  const own = `bench_${++databases}`
  const directory = join(parent, own)
  mkdirSync(directory)
  const shared = { url: await database.database(own), directory: join(directory, 'shared') }
  const gateways: HoldfastServer[] = []
  for (let number = 0; number < count; number++)
    gateways.push(await startHoldfast(name, { data: join(directory, `${number}`), shared }))
  const [first, ...others] = gateways
  if (first === undefined) throw new RangeError(`no gateways for ${workload.name}`)
  const beside = others.map(({ endpoint, pid }) => ({ port: endpoint.port, pid }))
  const close = async (): Promise<void> => {
    for (const gateway of gateways) await gateway.close()
  }
  return { name, endpoint: first.endpoint, pid: first.pid, beside, databasePid: database.pid, close }
}

async function engineRounds(bench: Bench, groupKeys: number, { directory, database }: Setup): Promise<EngineCosts[]> {
  bench.say(`the engine alone: 1,000 groups of ${groupKeys.toLocaleString('en')} keys`)
  const { rounds, seconds } = bench.options
  return measureEngine(await database.database('engine'), { directory, groupKeys, rounds, seconds })
}
