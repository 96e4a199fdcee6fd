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
  /** Of the rounds, requests a second. */
  rate: Spread
  p50Ms: Spread
  p99Ms: Spread
  serverCpuUs: Spread | undefined
  /** Of the server that keeps the shards, where that is another. */
  farCpuUs?: Spread | undefined
  databaseCpuUs?: Spread
  generatorCpuUs: Spread
  resident: Resident | undefined
  /** Resident bytes when it has had nothing to do for a while, after the rounds. */
  idleBytes?: number | undefined
  /** Of its data directory over what was stored, after the rounds. */
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
  /** Of one signature, version 4. */
  verifyUs: number
  /** Of the account's own key in a bucket without policy. */
  ownKeyUs: number
  /** The same in a bucket with a policy of 20 statements, all of which are about the action. */
  policyOf20Us: number
}

/** Milliseconds of each. */
export interface StartCosts {
  /** Of `node -e 0`. */
  emptyMs: number
  /** Of the package. */
  importMs: number
  /** Of a server in memory: the first in a process, and the later ones. */
  firstMs: number
  warmMs: number
  /** Of `holdfast serve` on an existing directory until it is ready: one process, and two workers. */
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
  /** Of each round. Absent: not measured. */
  decisions?: DecisionCosts[] | undefined
  /** The same. */
  starts?: StartCosts[] | undefined
}

/** Costs of the engine alone. */
export interface EngineCosts {
  /** Client CPU of a lookup, 64 at once. */
  lookupCpuUs: { postgres: number; lmdb: number }
  /** Of 1,000 entries, one after the other and the first of each group. */
  pageMs: { flat: number; folded: number }
}

export interface PostgresResults extends Omit<BenchResults, 'decisions' | 'starts'> {
  /** Gateways with a limit on their CPU. Empty: the machine doesn't let the bench set one. */
  held: WorkResult[]
  /** The machine's load average over a minute before the run. */
  loadBefore: number
  /** Keys of each of the 1,000 groups that were folded. */
  groupKeys: number
  /** Of each round. */
  engine: EngineCosts[]
}

/** Calls that sync, of one kind. */
export interface SyncCount {
  call: string
  aRequest: number
}

/** What is known of a server that is measured beside ours. */
export interface PeerFacts {
  name: string
  version: string
  /** For durability, in its own words. */
  asked: string
  /** Where that is written down. Absent: nobody asked. */
  source: string | undefined
  /** Absent: not counted. */
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

/** One view of the console, loaded by a browser that has nothing of it. */
export interface ConsoleView {
  name: string
  rounds: ConsoleLoad[]
}

export interface ConsoleLoad {
  /** All that the page's main thread did until the view was complete. */
  mainThreadMs: number
  longestTaskMs: number
  /** As sent, with headers. */
  bytes: number
}

/** One way through the list. */
export interface ConsoleScroll {
  name: string
  tasks: number
  longestTaskMs: number
  /** What tasks took beyond 50 ms, added up. */
  blockingMs: number
}

export interface ConsoleResults {
  format: typeof formatVersion
  machine: Machine
  browser: string
  quick: boolean
  /** Of the list. */
  keys: number
  views: ConsoleView[]
  scrolls: ConsoleScroll[]
}
