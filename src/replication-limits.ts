/** Limits of replication. */
export const replicationLimits = {
  /** S3's. */
  rulesMax: 1000,
  ruleIdCharsMax: 255,
  priorityMax: 2 ** 31 - 1,
  /** Of the rules of one bucket. A version says for each where its copy is, and settling one copy looks at the others. */
  destinationsMax: 32,
  /** Of the id of a version in `x-holdfast-replica`: other servers' are longer than those here. */
  versionIdBytesMax: 1024,
  /** How many versions of a key a copy is looked for in that comes again: as many as can have come while its first request was held up. */
  copiesLookedAt: 64,
  /** How often to look for queued versions. */
  lookMs: 250,
  /** Entries of the queue that are read at once, and keys that are copied to one destination at the same time. */
  queueReadAtOnce: 1000,
  keysAtOnce: 16,
  /** Queues of one account that are worked off at the same time, to the same server. The others take turns. */
  queuesAtOnce: 8,
  /** Pause after a destination has failed, which doubles. */
  pauseMsMin: 500,
  pauseMsMax: 60_000,
  /** How often a version is offered to a destination that refuses it, before it is given up. */
  refusalsMax: 4,
  /** Versions that one destination has refused and that are offered again. With more, the destination counts as away. */
  refusedMax: 1000,
  /** The least time between two warnings about one destination. */
  warnEveryMs: 60_000,
  /** Bodies up to this size are held in memory. */
  bufferedBytesMax: 1024 * 1024,
  /** Parts of one object that are copied at the same time. */
  partsAtOnce: 4,
  /** Versions that are counted for one destination, and destinations that are asked at the same time, for an operator who wants to know. */
  countedMax: 100_000,
  askedAtOnce: 16,
  /** How long PutBucketReplication, and an operator, wait for a site to say whether its bucket takes copies. */
  checkMs: 10_000,
  /** To one site. */
  connectionsMax: 64,
} as const
