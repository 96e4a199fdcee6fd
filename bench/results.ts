/** What a run of the bench leaves: the shape of its JSON file, from which tables and pages are made. */
import type { Resident, RunResult } from './load/order.ts'
import type { Spread } from './statistics.ts'
import type { ReferenceName, Workload } from './workloads.ts'

export const formatVersion = 1

export interface Machine {
  /** ISO 8601. */
  measured: string
  version: string
  node: string
  kernel: string
  cpu: string
  cores: number
  memoryBytes: number
  fileSystem: string
}

/** One server on one workload. */
export interface Measurement {
  server: string
  rounds: RunResult[]
  /** Requests a second, over the rounds. */
  rate: Spread
  p50Ms: Spread
  p99Ms: Spread
  serverCpuUs: Spread | undefined
  /** The server that keeps the shards, if another server does. */
  farCpuUs?: Spread | undefined
  databaseCpuUs?: Spread
  generatorCpuUs: Spread
  resident: Resident | undefined
  /** Resident bytes when it has had nothing to do for a while, after the rounds. */
  idleBytes?: number | undefined
  /** The size of its data directory over the bytes stored, after the rounds. */
  diskRatio: number | undefined
}

/** What was measured without a server, in the same rounds: bytes a second for MD5, records a second for the log. */
export interface AloneMeasurement {
  reference: ReferenceName
  rounds: number[]
  rate: Spread
}

export interface WorkResult {
  workload: Workload
  measurements: Measurement[]
  alone: AloneMeasurement[]
}

/** Microseconds of each. A decision is all that a request costs between its bucket's record and the handler. */
export interface DecisionCosts {
  /** Verifying one signature of version 4. */
  verifyUs: number
  /** Deciding on the account's own key in a bucket without policy. */
  ownKeyUs: number
  /** The same in a bucket with a policy of 20 statements, all of which are about the action. */
  policyOf20Us: number
}

/** All in milliseconds. */
export interface StartCosts {
  /** Starting `node -e 0`. */
  emptyMs: number
  /** Importing the package. */
  importMs: number
  /** Starting a server in memory: the first one in a process, and a later one. */
  firstMs: number
  warmMs: number
  /** Starting `holdfast serve` on an existing directory, until it is ready: with one process, and with two workers. */
  serveMs: number
  serveTwoMs: number
}

export interface BenchResults {
  format: typeof formatVersion
  machine: Machine
  rounds: number
  seconds: number
  /** The work was made small, to see whether the bench works. */
  quick: boolean
  work: WorkResult[]
  /** One entry a round. Absent: not measured. */
  decisions?: DecisionCosts[] | undefined
  /** One entry a round. Absent: not measured. */
  starts?: StartCosts[] | undefined
}

/** What the engine alone costs. */
export interface EngineCosts {
  /** CPU time of the client for one lookup, when 64 run at once. */
  lookupCpuUs: { postgres: number; lmdb: number }
  /** A page of 1,000 entries that follow each other, and a page of the first entry of each of 1,000 groups. */
  pageMs: { flat: number; folded: number }
}

export interface PostgresResults extends Omit<BenchResults, 'decisions' | 'starts'> {
  /** Gateways with a limit on their CPU. Empty: the machine doesn't let the bench set one. */
  held: WorkResult[]
  /** The machine's load average over the minute before the run. */
  loadBefore: number
  /** How many keys each of the 1,000 folded groups has. */
  groupKeys: number
  /** One entry a round. */
  engine: EngineCosts[]
}

/** How often one kind of system call that syncs was made. */
export interface SyncCount {
  call: string
  aRequest: number
}

/** Facts about a server that is measured beside ours. */
export interface PeerFacts {
  name: string
  version: string
  /** How it was asked to be durable, in its own words. */
  asked: string
  /** Where its documentation says so. Absent: it was not asked. */
  source: string | undefined
  /** Absent: they were not counted. */
  syncs: SyncCount[] | undefined
}

export interface PeersResults extends Omit<BenchResults, 'decisions' | 'starts'> {
  facts: PeerFacts[]
}

export interface ScalePage {
  name: string
  /** Server CPU of one page. */
  smallCpuUs: number
  largeCpuUs: number
}

export interface ScaleResults {
  format: typeof formatVersion
  machine: Machine
  objects: number
  /** How many keys the listings of the large set are held against. */
  smallObjects: number
  objectBytes: number
  /** Objects a second, each for a tenth of the objects. */
  putRates: number[]
  pages: ScalePage[]
  /** Milliseconds of each start. */
  startsAfterKill: number[]
  startsEmpty: number[]
  residentBytes: { empty: number; filled: number; afterKill: number }
  /** Bytes on disk over bytes of objects. */
  diskRatio: { filled: number; halfDeleted: number; reclaimed: number }
  deleteRate: number
  reclaim: { seconds: number; runs: number; blobsRemoved: number; freedBytes: number; movedShards: number }
}

/** One view of the console, loaded by a browser with an empty cache. */
export interface ConsoleView {
  name: string
  rounds: ConsoleLoad[]
}

export interface ConsoleLoad {
  /** The time that the page's main thread worked until the view was complete. */
  mainThreadMs: number
  longestTaskMs: number
  /** Bytes on the wire, headers included. */
  bytes: number
}

/** One way of scrolling through the list. */
export interface ConsoleScroll {
  name: string
  tasks: number
  longestTaskMs: number
  /** The sum of what each task took beyond 50 ms. */
  blockingMs: number
}

export interface ConsoleResults {
  format: typeof formatVersion
  machine: Machine
  browser: string
  quick: boolean
  /** Keys in the list. */
  keys: number
  views: ConsoleView[]
  scrolls: ConsoleScroll[]
}
