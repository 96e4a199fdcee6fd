/** Runs the workloads: every server in each round, one after the other, each workload on servers and directories of its own. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { type Generator, startGenerator } from './load/generator.ts'
import type { Order, RunResult } from './load/order.ts'
import { wrkInstalled } from './load/wrk.ts'
import { bytesOnDisk, describeMachine, settleDisk, withScratch } from './machine.ts'
import { type BenchOptions, decisionsName, startsName } from './options.ts'
import { usageOf } from './process-tree.ts'
import {
  type AloneMeasurement,
  type BenchResults,
  type DecisionCosts,
  formatVersion,
  type Measurement,
  type StartCosts,
  type WorkResult,
} from './results.ts'
import { startFarHoldfast } from './servers/far.ts'
import { startHoldfast } from './servers/holdfast.ts'
import {
  measureDecisions,
  measureLog,
  measureMd5,
  nginxInstalled,
  startNginx,
  startNodeHttp,
} from './servers/references.ts'
import type { Server } from './servers/server.ts'
import { serverNames } from './servers/server-names.ts'
import { measureStarts } from './starts.ts'
import { spread } from './statistics.ts'
import { inLittle, type ReferenceName, type Workload, warmUpSeconds, workloads } from './workloads.ts'

/** A process lets go of what it does not need some 25 s after its last work. */
const idleMs = 30_000

export type Say = (line: string) => void

export interface Bench {
  options: BenchOptions
  generator: Generator
  hasNginx: boolean
  say: Say
}

export async function measureWork(options: BenchOptions, say: Say): Promise<BenchResults> {
  const chosen = workloads.filter(({ name }) => options.only.length === 0 || options.only.includes(name))
  if (options.generator === 'wrk' && !(await wrkInstalled())) throw new Error('wrk is not installed')
  const generator = startGenerator()
  const bench = { options, generator, hasNginx: nginxInstalled(), say }
  if (!bench.hasNginx) say('nginx is not installed: it is left out')
  try {
    const work: WorkResult[] = []
    for (const workload of chosen) {
      const row = options.quick ? inLittle(workload) : workload
      work.push(await withScratch(options.directory, (directory) => measureOne(bench, row, directory)))
    }
    const { rounds, seconds, quick } = options
    const decisions = await decisionRounds(options, say)
    return {
      format: formatVersion,
      machine: describeMachine(options.directory),
      rounds,
      seconds,
      quick,
      work,
      decisions,
      starts: await startRounds(options, say),
    }
  } finally {
    await generator.close()
  }
}

async function decisionRounds({ only, rounds, seconds }: BenchOptions, say: Say): Promise<DecisionCosts[] | undefined> {
  if (only.length > 0 && !only.includes(decisionsName)) return undefined
  say('decisions')
  const costs: DecisionCosts[] = []
  for (let round = 0; round < rounds; round++) costs.push(await measureDecisions(seconds))
  return costs
}

async function startRounds({ only, rounds, directory }: BenchOptions, say: Say): Promise<StartCosts[] | undefined> {
  if (only.length > 0 && !only.includes(startsName)) return undefined
  say('starts')
  return withScratch(directory, (scratch) => measureStarts(scratch, rounds))
}

async function measureOne(bench: Bench, workload: Workload, directory: string): Promise<WorkResult> {
  bench.say(workload.title)
  settleDisk()
  const servers: Server[] = []
  try {
    for await (const server of startServers(bench, workload, directory)) servers.push(server)
    const { runs, alone } = await runRounds(bench, workload, directory, servers)
    const { quick, far } = bench.options
    if (!quick && !far) await setTimeout(idleMs)
    return {
      workload,
      measurements: [...runs].map(([server, { rounds, storedBytes }]) => ({
        ...summarise(server, rounds, diskRatioOf(server, workload, directory, storedBytes)),
        idleBytes: quick || far || server.pid === undefined ? undefined : usageOf(server.pid)?.residentBytes,
      })),
      alone: [...alone].map(([reference, rounds]): AloneMeasurement => ({ reference, rounds, rate: spread(rounds) })),
    }
  } finally {
    for (const server of servers) await server.close()
  }
}

export interface ServerRuns {
  rounds: RunResult[]
  /** Bytes of all runs, the warm-up included. */
  storedBytes: number
}

interface Rounds {
  runs: Map<Server, ServerRuns>
  alone: Map<ReferenceName, number[]>
}

export async function runRounds(
  bench: Bench,
  workload: Workload,
  directory: string,
  servers: readonly Server[],
): Promise<Rounds> {
  const { rounds, seconds } = bench.options
  const runs = new Map(servers.map((server): [Server, ServerRuns] => [server, { rounds: [], storedBytes: 0 }]))
  const alone = new Map<ReferenceName, number[]>()
  // The memory that slow clients cost is that of a server that has not served any.
  if (workload.kind !== 'slow') {
    for (const [server, done] of runs) {
      const order = orderFor(bench, workload, directory, server, 'warm-up')
      const { requests } = await bench.generator.run({ ...order, seconds: warmUpSeconds(workload, seconds) })
      done.storedBytes += requests * workload.objectBytes
    }
  }
  for (let round = 1; round <= rounds; round++) {
    // In turns, so that neither of two builds is always the first.
    const order = round % 2 === 1 ? [...runs] : [...runs].reverse()
    for (const [server, done] of order) {
      const result = await bench.generator.run(orderFor(bench, workload, directory, server, `round-${round}`))
      done.rounds.push(result)
      done.storedBytes += result.requests * workload.objectBytes
      const rate = (result.requests / result.seconds).toFixed(1)
      bench.say(`  round ${round}  ${server.name.padEnd(20)} ${rate.padStart(9)} /s`)
    }
    for (const reference of bench.options.far ? [] : workload.references) {
      const rate = await measureAlone(reference, workload, directory, seconds)
      if (rate !== undefined) alone.set(reference, [...(alone.get(reference) ?? []), rate])
    }
  }
  return { runs, alone }
}

export function orderFor({ options }: Bench, workload: Workload, scratch: string, server: Server, run: string): Order {
  return {
    endpoint: server.endpoint,
    pid: server.pid,
    farPid: server.farPid,
    beside: server.beside,
    databasePid: server.databasePid,
    workload,
    seconds: options.seconds,
    // Peers keep what earlier runs wrote.
    run: `${run}-${process.pid}-${Date.now()}`,
    generator: options.generator,
    scratch,
  }
}

async function* startServers(bench: Bench, workload: Workload, directory: string): AsyncGenerator<Server> {
  const { references } = workload
  yield startHoldfast(serverNames.one, { data: dataOf(directory, serverNames.one) })
  if (bench.options.far) {
    yield startFarHoldfast(serverNames.far, dataOf(directory, serverNames.far))
    return
  }
  if (bench.options.against !== undefined) {
    const name = serverNames.before
    yield startHoldfast(name, { data: dataOf(directory, name), build: bench.options.against })
  }
  if (workload.twoWorkers) {
    yield startHoldfast(serverNames.two, { data: dataOf(directory, serverNames.two), workers: 2 })
  }
  if (workload.encrypted) {
    const name = serverNames.encrypting
    yield startHoldfast(name, { data: dataOf(directory, name), encrypts: true })
  }
  if (workload.striped) {
    const name = serverNames.striping
    yield startHoldfast(name, { data: dataOf(directory, name), striped: true })
  }
  if (references.includes('node-http')) yield startNodeHttp()
  if (references.includes('nginx') && bench.hasNginx) {
    const files = join(directory, 'nginx')
    mkdirSync(files)
    yield startNginx(files, workload)
  }
  for (const peer of bench.options.peers) yield peer.start(dataOf(directory, peer.name))
}

function dataOf(directory: string, name: string): string {
  return join(directory, name.replaceAll(/[^a-z0-9]+/gi, '-'))
}

async function measureAlone(
  reference: ReferenceName,
  { objectBytes }: Workload,
  directory: string,
  seconds: number,
): Promise<number | undefined> {
  if (reference === 'md5') return measureMd5(objectBytes, seconds)
  if (reference === 'log') return measureLog(directory, objectBytes, seconds)
  return undefined
}

function diskRatioOf({ name }: Server, { kind }: Workload, directory: string, storedBytes: number): number | undefined {
  const isOurs = Object.values<string>(serverNames).includes(name)
  if (!isOurs || kind !== 'put') return undefined
  return bytesOnDisk(dataOf(directory, name)) / storedBytes
}

export function summarise({ name }: Server, rounds: RunResult[], diskRatio: number | undefined): Measurement {
  const farCpu = rounds.flatMap(({ farCpuUs }) => farCpuUs ?? [])
  const cpu = rounds.flatMap(({ serverCpuUs }) => serverCpuUs ?? [])
  const databaseCpu = rounds.flatMap(({ databaseCpuUs }) => databaseCpuUs ?? [])
  const resident = rounds.flatMap((round) => round.resident ?? [])
  const [first] = resident
  return {
    server: name,
    rounds,
    rate: spread(rounds.map(({ requests, seconds }) => requests / seconds)),
    p50Ms: spread(rounds.map(({ latencyMs }) => latencyMs.p50)),
    p99Ms: spread(rounds.map(({ latencyMs }) => latencyMs.p99)),
    serverCpuUs: cpu.length === 0 ? undefined : spread(cpu),
    farCpuUs: farCpu.length === 0 ? undefined : spread(farCpu),
    ...(databaseCpu.length === 0 ? {} : { databaseCpuUs: spread(databaseCpu) }),
    generatorCpuUs: spread(rounds.map(({ generatorCpuUs }) => generatorCpuUs)),
    resident:
      first === undefined ? undefined : { before: first.before, peak: Math.max(...resident.map(({ peak }) => peak)) },
    diskRatio,
  }
}
