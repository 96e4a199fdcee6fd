/** What the load generator is told, and what it answers: the messages between it and the process that directs the bench. */
import type { Workload } from '../workloads.ts'

/** A server as its clients see it. */
export interface Endpoint {
  host: string
  port: number
  region: string
  accessKeyId: string
  secretAccessKey: string
  bucket: string
  /** Whether it keeps what is written; those that don't are given nothing to keep. */
  stores: boolean
  /** Whether its bucket is to encrypt what requests don't say to. */
  encrypts: boolean
  /** Where its bucket is to be; absent: where buckets are that say nothing. */
  location?: string
}

/** Another server on this host that serves the same data. */
export interface Gateway {
  port: number
  pid: number
}

export type GeneratorName = 'own' | 'wrk'

export interface Order {
  endpoint: Endpoint
  /** Root of the server's processes; absent for a server on another machine. */
  pid: number | undefined
  /** The server that keeps the shards, if another server does. */
  farPid?: number | undefined
  /** Servers that get the same requests as the endpoint, over as many connections each. */
  beside?: readonly Gateway[] | undefined
  /** The root of the database's process tree, if the servers use one. */
  databasePid?: number | undefined
  workload: Workload
  seconds: number
  /** Names the keys that this run writes. */
  run: string
  generator: GeneratorName
  /** For files of the generator's own. */
  scratch: string
  /** Only these objects: the first's number, and how many. */
  numbers?: { first: number; count: number; step: number }
}

export interface Resident {
  /** Just before. */
  before: number
  /** The most that was seen. */
  peak: number
}

export interface RunResult {
  generator: GeneratorName
  requests: number
  seconds: number
  latencyMs: { p50: number; p99: number }
  generatorCpuUs: number
  /** A request's. Absent when the server's processes cannot be seen. */
  serverCpuUs?: number | undefined
  /** CPU time a request of the server that keeps the shards. */
  farCpuUs?: number | undefined
  /** CPU time a request of the database's processes. */
  databaseCpuUs?: number | undefined
  /** Bytes of the server's own, without mapped files. */
  resident?: Resident | undefined
}

export type Reply = { result: RunResult } | { error: string }

/** What a way to make load found. Requests that failed are none: they end the run with an error. */
export interface Load {
  requests: number
  seconds: number
  latencyMs: { p50: number; p99: number }
  generatorCpuUs: number
}
