/** Measures the same work on this server and on others that are started from their programs, each asked to sync what it acknowledges; and counts how often each syncs. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { version } from '../src/version.ts'
import { startGenerator } from './load/generator.ts'
import { describeMachine, settleDisk, withScratch } from './machine.ts'
import { type Bench, runRounds, type Say, summarise } from './measure.ts'
import { type BenchOptions, peerWorkloads } from './options.ts'
import { formatVersion, type PeerFacts, type PeersResults, type WorkResult } from './results.ts'
import { startHoldfast } from './servers/holdfast.ts'
import { type PeerProgram, versionOf } from './servers/peers.ts'
import type { Server } from './servers/server.ts'
import { serverNames } from './servers/server-names.ts'
import { countSyncs, straceInstalled } from './syncs.ts'
import { inLittle, type Workload, workloads } from './workloads.ts'

const workers = 2

/** A server, and how it is started on a new directory. */
interface Contender {
  name: string
  facts(): Promise<Pick<PeerFacts, 'version' | 'asked' | 'source'>>
  start(directory: string): Promise<Server>
}

export async function measurePeers(options: BenchOptions, say: Say): Promise<PeersResults> {
  const generator = startGenerator()
  const bench = { options, generator, hasNginx: false, say }
  const contenders = contendersOf(options)
  const rows = workloads
    .filter(({ name }) => peerWorkloads.some((known) => known === name))
    .filter(({ name }) => options.only.length === 0 || options.only.includes(name))
    .map((workload) => ({ ...(options.quick ? inLittle(workload) : workload), references: [] }))
  try {
    const facts = await withScratch(options.directory, (directory) => factsOf(bench, contenders, directory))
    const work: WorkResult[] = []
    for (const row of rows)
      work.push(await withScratch(options.directory, (directory) => measureOne(bench, row, contenders, directory)))
    const { rounds, seconds, quick } = options
    const machine = describeMachine(options.directory)
    return { format: formatVersion, machine, rounds, seconds, quick, facts, work }
  } finally {
    await generator.close()
  }
}

function contendersOf({ peers }: BenchOptions): Contender[] {
  const own = async () => ({ version, asked: 'nothing: it always syncs', source: '../durability.md' })
  const ofPeer = async (program: PeerProgram | undefined) =>
    program === undefined
      ? { version: 'as it runs', asked: 'as it runs', source: undefined }
      : { version: await versionOf(program), ...program.kind.durability }
  return [
    { name: serverNames.one, facts: own, start: (data) => startHoldfast(serverNames.one, { data }) },
    { name: serverNames.two, facts: own, start: (data) => startHoldfast(serverNames.two, { data, workers }) },
    ...peers.map(({ name, program, start }) => ({ name, start, facts: () => ofPeer(program) })),
  ]
}

async function factsOf(bench: Bench, contenders: readonly Contender[], directory: string): Promise<PeerFacts[]> {
  const canCount = straceInstalled()
  if (!canCount) bench.say('strace is not installed: syncs are not counted')
  const facts: PeerFacts[] = []
  for (const { name, facts: ask, start } of contenders) {
    bench.say(`what ${name} syncs`)
    const server = await start(placeOf(directory, name))
    try {
      const isHere = server.pid !== undefined
      const syncs = canCount && isHere ? await countSyncs(server, bench.options.quick ? 20 : 200, directory) : undefined
      facts.push({ name, ...(await ask()), syncs })
    } finally {
      await server.close()
    }
  }
  return facts
}

async function measureOne(
  bench: Bench,
  workload: Workload,
  contenders: readonly Contender[],
  directory: string,
): Promise<WorkResult> {
  bench.say(workload.title)
  settleDisk()
  const servers: Server[] = []
  try {
    for (const { name, start } of contenders) servers.push(await start(placeOf(directory, name)))
    const { runs } = await runRounds(bench, workload, directory, servers)
    const measurements = [...runs].map(([server, { rounds }]) => summarise(server, rounds, undefined))
    return { workload, measurements, alone: [] }
  } finally {
    for (const server of servers) await server.close()
  }
}

function placeOf(directory: string, name: string): string {
  const place = join(directory, name.replaceAll(/[^a-z0-9]+/gi, '-'))
  mkdirSync(place, { recursive: true })
  return place
}
