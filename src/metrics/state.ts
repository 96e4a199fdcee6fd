/** The state of a server, as metrics report it. `opening/` measures it. */

export interface StoreMeasure {
  name: string
  domain: string
  state: 'up' | 'full' | 'read-only' | 'out'
  /** Absent: the store can't tell, or did not answer in time. */
  usedBytes: number | undefined
  freeBytes: number | undefined
}

export interface LocationMeasure {
  name: string
  isDefault: boolean
  /** Whether enough stores are in use to write, and to read everything. */
  writable: boolean
  readable: boolean
}

export interface TaskMeasure {
  kind: string
  state: string
  count: number
}

export interface MemberMeasure {
  kind: string
  count: number
}

export interface EventMeasure {
  webhook: string
  /** How long the oldest event for the webhook has waited. */
  oldestMs: number
}

/** Versions of a bucket that wait to be copied. */
export interface CopiesMeasure {
  bucket: string
  /** The ARN of the other bucket. */
  destination: string
  /** Up to a bound. */
  count: number
  /** Of those that were counted. */
  oldestMs: number
}

export interface QuotaMeasure {
  bucket: string
  of: 'bytes' | 'objects'
  /** 1: all of it. */
  usedShare: number
}

export interface ServerState {
  version: string
  startedMs: number
  serving: boolean
  workers: number
  metadata: {
    answers: boolean
    damaged: boolean
    /** Absent: it is in a database. */
    fileBytes: number | undefined
    connections: { open: number; idle: number; waiting: number; most: number } | undefined
  }
  stores: StoreMeasure[]
  locations: LocationMeasure[]
  /** How many blobs wait for repair, and how many have too few shards left. */
  repairs: { waiting: number; lost: number }
  garbage: number
  orphans: number
  /** Records of moves of single blobs. */
  queuedMoves: number
  /** Only webhooks for which events wait. */
  events: EventMeasure[]
  /** Only destinations for which versions wait. */
  copies: CopiesMeasure[]
  /** Those whose buckets have been counted. */
  quotas: QuotaMeasure[]
  tasks: TaskMeasure[]
  /** When a task of each kind was last completed. */
  tasksDoneMs: { kind: string; ms: number }[]
  /** How far the lock clock is behind the machine's clock. */
  lockClockLagMs: number
  members: MemberMeasure[]
  /** What is left of this server's lease. Absent: it has none. */
  leaseLeftMs: number | undefined
  /** The largest difference of a member's clock from the database's. */
  clockDifferenceMs: number | undefined
  usage: { objects: number; versions: number; bytes: number; buckets: number } | undefined
}
