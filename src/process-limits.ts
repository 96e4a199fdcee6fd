/** Limits of processes, of their membership of shared metadata, and of their log. */

const KiB = 1024
const MiB = 1024 * KiB

export const processLimits = {
  // Log.
  /** Lines that wait to be written. */
  logQueueBytesMax: 1 * MiB,
  logFileWriteBytesMax: 64 * KiB,
  /** The most that Linux writes to a pipe atomically (PIPE_BUF). */
  logPipeWriteBytesMax: 4 * KiB,
  logRetryMs: 100,
  /** How long an exiting process waits for its last lines. */
  logFlushMs: 1_000,
  /** The same for its last spans. */
  tracesFlushMs: 2_000,

  // Processes and credentials.
  /** How often a process checks that the socket that proves it is alive still exists. */
  proofLookMs: 1_000,
  /** How long other processes wait for a missing proof, because a live process creates it again. */
  proofMissingMs: 4_000,
  heapGrowingPercent: 200,
  /** A process that works less than this is idle. */
  idleCpuPercent: 2,
  idleLookMs: 5_000,
  idleLooksMin: 4,
  /** CPU time that a process must have used before a garbage collection is worthwhile when it becomes idle. */
  collectAfterWorkMs: 1_000,
  keyPairLookMs: 2_000,
  workersMax: 64,
  /** How long the end of a process waits for a transaction of the metadata. */
  processEndMs: 2_000,
  /** How long a process waits while LMDB would undo commits, because another process that opens the metadata has not finished. */
  kvBehindMs: 10_000,
  /** The most workers that a server starts without being told. Operators who know their load can configure more. */
  workersAutoMax: 8,
  /** The fewest workers whose commits the primary makes. */
  relayedWorkersMin: 3,
  /** A server with less memory runs one process, unless it is configured otherwise. */
  severalWorkersMemoryBytes: 1024 * MiB,
  workerRestartsMax: 5,
  workerRestartWindowMs: 30_000,
  workerRestartDelayMsMax: 5_000,
  instanceTakeoverMs: 5_000,
  /** How long a member of shared metadata may write after it has last renewed its lease. */
  memberLeaseMs: 10_000,
  /** How long a stopping member waits for a database that is away, in all: for the progress of its jobs, its post and its records. */
  leavePatienceMs: 2_500,
  /** Rows of a PostgreSQL writer are removed at the first age. A writer that continues makes a new row at the second. */
  writerPurgedMs: 7 * 24 * 60 * 60 * 1000,
  writerRenewedMs: 24 * 60 * 60 * 1000,
  /** A clock that differs from the database's by more than this is reported. */
  clockDifferenceMs: 1_000,
  /** How many earlier starts the metadata recognises by the names that they left in a store. */
  startsRemembered: 1000,
  predecessorsMax: 64,
  claimTriesMax: 8,
  /** A command that holds the data directory for work that the server can continue ends within this time when a server starts. */
  giveWayMs: 30_000,
  secretCharsMin: 8,
  accessKeyCharsMax: 128,
} as const
