/** Limits of the admin port: its requests, browser sessions, streams and counts. Part of `limits`. */

const KiB = 1024
const MiB = 1024 * KiB

export const adminLimits = {
  adminBodyBytesMax: 1 * MiB,
  /** Objects and lists within each other. A policy needs seven. */
  adminInputDepthMax: 32,
  adminConnectionsMax: 64,
  /** How long a command waits for an answer of the admin port. Longer than a change takes to reach every process. */
  adminAnswerMs: 60_000,

  // Browser sessions of the admin port.
  /** A session ends after the first of these times, and earlier if no request comes for the second. */
  browserSessionMs: 12 * 60 * 60 * 1000,
  browserSessionIdleMs: 60 * 60 * 1000,
  sessionSeenEveryMs: 60_000,
  browserSessionsMax: 1000,
  /** Of one key, or of one user of an issuer. One more ends the oldest. */
  browserSessionsOfHolderMax: 50,
  /** Temporary keys for pages. They outlive a log-out by at most this. */
  pageKeysMs: 15 * 60 * 1000,
  /** How long a user may take at an issuer. */
  pendingLogInMs: 10 * 60 * 1000,
  /** Log-ins that may fail within the window: from one address, and with one key. */
  logInsFailedWindowMs: 5 * 60 * 1000,
  logInsFailedOfAddressMax: 20,
  logInsFailedOfKeyMax: 50,
  logInsRemembered: 10_000,
  logInBodyBytesMax: 4 * KiB,
  /** Streams of events of all clients, the time between two signs of life, and how often a stream looks for changes of tasks. */
  eventStreamsMax: 24,
  eventBeatMs: 15_000,
  taskWatchMs: 500,
  /** Requests that each process remembers for the live log. */
  requestsRemembered: 128,
  /** Lines that a stream of requests holds for a slow client. Beyond them, lines are dropped. */
  requestsHeldMax: 512,
  requestsSentEveryMs: 100,
  /** Entries of the audit log that wait for the receiver of the webhook, how long it may take to answer, and the pause before it is tried again. */
  auditQueueMax: 1000,
  auditAnswerMs: 5_000,
  auditRetryMsMin: 1_000,
  auditRetryMsMax: 60_000,
  /** This many accounts have metrics of their own. The others are counted together. */
  accountsMeasuredMax: 100,
  /** As many webhooks have a metric of their events. */
  webhooksMeasuredMax: 1000,
  quotasMeasuredMax: 1000,
  /** As many destinations of replications are measured, by as many of the versions that wait for each. */
  destinationsMeasuredMax: 100,
  waitingCopiesReadMax: 1000,
  /** How long a scrape waits for a store, and how long it may answer with what it has measured before. */
  storeMeasureMs: 2_000,
  stateMeasuredMs: 10_000,
  /** Queues of the metadata are counted up to this length. */
  queueCountMax: 100_000,
  /** How long the admin port waits for the report of a worker. */
  workerReportMs: 2_000,
  /** The least share of the time that counts in the background leave to other work. */
  countIdleShare: 0.75,
  /** The age at which a bucket's usage is counted again. */
  usageAgeMs: 60_000,
  /** How long a list of buckets waits for usage that was never counted. */
  usageWaitMs: 500,
  /** How long setting a quota waits until what is in the bucket has been counted. */
  quotaCountWaitMs: 5_000,
  /** The shards of stores are counted again after this time, or after so many times as long as the last count took. */
  shardCountAgeMsMin: 5_000,
  shardCountAgeTimes: 20,
} as const
