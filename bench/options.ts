/** The command line of the bench. Starts nothing. */
import { parseArgs } from 'node:util'
import type { GeneratorName } from './load/order.ts'
import { peerKinds } from './servers/peer-kinds.ts'
import { type Peer, parsePeer } from './servers/peers.ts'
import { workloads } from './workloads.ts'

export interface BenchOptions {
  command: 'work' | 'scale' | 'postgres' | 'peers' | 'console' | 'page' | 'help'
  /** Measure only what it costs to keep shards on another server. */
  far: boolean
  rounds: number
  seconds: number
  /** Names of workloads, or `decisionsName` or `startsName`. Empty: all. */
  only: readonly string[]
  quick: boolean
  /** Where data directories are made. */
  directory: string
  json: string | undefined
  /** Where the page and its charts are written. */
  docs: string | undefined
  peers: readonly Peer[]
  /** A checkout of the version before, built: it is measured beside this one. */
  against: string | undefined
  generator: GeneratorName
  /** For `scale` and `console`. */
  objects: number
}

/** Measured without a server: what a decision about a request costs. */
export const decisionsName = 'decisions'
/** How long starts take. */
export const startsName = 'start'
const measured = [...workloads.map(({ name }) => name), decisionsName, startsName]

/** The workloads of `far`. */
const farWork = ['put-4k', 'get-4k', 'put-64k', 'get-64k', 'put-1m', 'get-1m']

/** `postgres` measures workloads and these two. */
export const heldName = 'held'
export const engineName = 'engine'
export const postgresWorkloads = ['put-4k', 'get-4k', 'head-4k', 'list'] as const
const measuredOverPostgres = [...postgresWorkloads, heldName, engineName]

/** The workloads of `peers`. */
export const peerWorkloads = [
  ...['put-4k', 'get-4k', 'head-4k', 'put-64k', 'get-64k', 'range-64k', 'put-1m', 'get-1m', 'put-64m', 'get-64m'],
  ...['list', 'list-delimiter'],
] as const

export const usage = `npm run bench -- [far | scale | postgres | peers | console | page] [flags]

  (nothing)           every workload, in rounds that alternate between the server and what it is held against
  far                 PUT and GET through a server that keeps its shards on another one, over a server with a directory
  scale               many objects: rate by decile, listings, start after kill -9, memory, disk, reclaim
  postgres            metadata in PostgreSQL beside LMDB: one gateway, three, and two held to 0.3 core each
  peers               the servers that --peer names beside this one, one process and two workers, and how often each syncs
  console             the console in Chromium: the first view, and a list of many keys that scrolls
  page                writes the page from the results that --docs kept

  --rounds N          rounds of each workload (5)
  --seconds N         seconds of each server in a round (5)
  --only NAME,...     ${measured.join(', ')}
                      of postgres: ${measuredOverPostgres.join(', ')}
  --quick             small and short: shows that the bench works, not how fast anything is
  --dir PATH          where data directories are made (the working directory): their file system is what is measured.
                      PUTs of 64 MiB take up to 30 GB for each server while they are measured
  --json FILE         keeps the results
  --docs [PATH]       keeps the results in PATH/benchmarks (docs/benchmarks) and writes PATH/benchmarks.md
  --peer KIND=PROGRAM another server of S3 on the same work, started by its program in its durable mode; may be repeated.
                      KIND is ${peerKinds.map(({ name }) => name).join(', ')}
  --peer NAME=URL,KEY,SECRET   one that runs already. Its bucket holdfast-bench is made and left
  --against PATH      a checkout of the version before, built there: both alternate, and a table shows the ratios of the rounds
  --generator NAME    own, or wrk for the work that it can do (own): they should find the same
  --objects N         objects of scale and console (1,000,000)
`

export class UsageError extends Error {}

/** Throws `UsageError`, and `PeerError` for what is no peer. */
export function parseOptions(words: readonly string[]): BenchOptions {
  const { values, positionals } = parsed(words)
  const quick = values.quick ?? false
  const [named = 'work'] = positionals
  const far = named === 'far'
  const command = values.help ? 'help' : far ? 'work' : named
  if (!isCommand(command)) {
    throw new UsageError(`'${command}' is nothing that the bench does`)
  }
  const only = values.only?.split(',') ?? (far ? farWork : [])
  const known = knownTo(command)
  const unknown = only.filter((name) => !known.includes(name))
  if (unknown.length > 0) throw new UsageError(`--only knows ${known.join(', ')}; not ${unknown.join(', ')}`)
  const peers = (values.peer ?? []).map(parsePeer)
  if (command === 'peers' && peers.length === 0) throw new UsageError('peers expects --peer')
  return {
    command,
    far,
    rounds: number('--rounds', values.rounds, quick ? 1 : 5, 1, 100),
    seconds: number('--seconds', values.seconds, quick ? 1 : 5, 0.1, 300),
    only,
    quick,
    directory: values.dir ?? process.cwd(),
    json: values.json,
    docs: values.docs,
    against: values.against,
    peers,
    generator: generatorNamed(values.generator),
    objects: number('--objects', values.objects, quick ? 4_000 : 1_000_000, 2_000, 1_000_000_000),
  }
}

function knownTo(command: BenchOptions['command']): readonly string[] {
  if (command === 'postgres') return measuredOverPostgres
  return command === 'peers' ? peerWorkloads : measured
}

const commands: readonly BenchOptions['command'][] = ['work', 'scale', 'postgres', 'peers', 'console', 'page', 'help']

function isCommand(text: string): text is BenchOptions['command'] {
  return commands.some((command) => command === text)
}

function parsed(words: readonly string[]) {
  // `--docs` alone means the folder of this checkout.
  const args = words.flatMap((word, index) => {
    const next = words[index + 1]
    return word === '--docs' && (next === undefined || next.startsWith('--')) ? ['--docs', 'docs'] : [word]
  })
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        help: { type: 'boolean' },
        rounds: { type: 'string' },
        seconds: { type: 'string' },
        only: { type: 'string' },
        quick: { type: 'boolean' },
        dir: { type: 'string' },
        json: { type: 'string' },
        docs: { type: 'string' },
        against: { type: 'string' },
        peer: { type: 'string', multiple: true },
        generator: { type: 'string' },
        objects: { type: 'string' },
      },
    })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

function number(flag: string, text: string | undefined, initial: number, least: number, most: number): number {
  if (text === undefined) return initial
  const value = Number(text)
  if (!(value >= least && value <= most)) throw new UsageError(`${flag} expects ${least} to ${most}, not '${text}'`)
  return value
}

function generatorNamed(name = 'own'): GeneratorName {
  if (name === 'own' || name === 'wrk') return name
  throw new UsageError(`--generator expects own or wrk, not '${name}'`)
}
