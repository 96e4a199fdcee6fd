/**
 * Limits of requests, stores, jobs and processes: sizes, counts, times and ratios that could be tuned. A number that belongs to a stored format or a
 * protocol, or that makes sense only in its own file, is defined where it is used. Units come last in the name.
 */

import { adminLimits } from './admin-limits.ts'
import { processLimits } from './process-limits.ts'

const KiB = 1024
const MiB = 1024 * KiB
const GiB = 1024 * MiB

export const limits = {
  ...adminLimits,
  ...processLimits,

  // Names and metadata, as AWS S3 documents them.
  bucketNameCharsMax: 63,
  keyBytesMax: 1024,
  userMetadataBytesMax: 2 * KiB,
  systemMetadataBytesMax: 2 * KiB,
  objectTagsMax: 10,
  bucketTagsMax: 50,
  tagKeyCharsMax: 128,
  tagValueCharsMax: 256,

  // Sizes of objects and parts.
  putBytesMax: 5 * GiB,
  partBytesMax: 5 * GiB,
  partBytesMin: 5 * MiB,
  objectBytesMax: 50 * 1024 * GiB,
  partNumberMax: 10_000,

  // Notifications.
  notificationRulesMax: 100,
  notificationIdCharsMax: 255,
  notificationArnCharsMax: 256,

  // Events for webhooks.
  /** How often queues are looked at, how many events are read, posted and removed at once, and how long a webhook may take to answer. */
  eventLookMs: 250,
  eventsReadAtOnce: 200,
  eventsSentAtOnce: 16,
  eventsForgottenAtOnce: 64,
  eventAnswerMs: 10_000,
  /** The pause before an event is posted again: at first, and at most. */
  eventRetryMsMin: 1_000,
  eventRetryMsMax: 60_000,
  /** So many failures in a row end a look at a queue. The pause before the next look grows up to this. */
  eventFailuresMax: 16,
  eventPauseMsMax: 10_000,
  /** Events that wait for a time of their own, for each webhook. */
  eventsDelayedMax: 1000,
  /** How often a webhook that takes others may refuse one event before it is given up. */
  eventRefusalsMax: 5,
  eventKeptMs: 3 * 24 * 60 * 60 * 1000,
  eventExpiryEveryMs: 60 * 60 * 1000,

  // Object Lock.
  retentionDaysMax: 36_500,
  retentionYearsMax: 100,
  /** The most that the machine's clock can step ahead of the measured time in total, and the measured time after which this allowance is full again. */
  lockClockStepsMs: 24 * 60 * 60 * 1000,
  lockClockStepsAgainMs: 30 * 24 * 60 * 60 * 1000,
  /** The same for time while the machine is off, which nothing measures. */
  lockClockDowntimeMs: 4 * 24 * 60 * 60 * 1000,
  lockClockDowntimeAgainMs: 4 * 24 * 60 * 60 * 1000,
  /** How often the lock clock is advanced when processes on other hosts follow it. They lag by at most as much. */
  lockClockFollowedMs: 2_000,
  /** When the machine's clock is not trusted and is further ahead than this, an operator has to confirm it. */
  lockClockLagMs: 60 * 1000,

  // Access control lists, as AWS S3 documents them.
  aclGrantsMax: 100,

  // Policies, as AWS S3 documents bucket policies.
  policyBytesMax: 20 * KiB,

  // Pages.
  listKeysMax: 1000,
  listUploadsMax: 1000,
  listPartsMax: 1000,
  listBucketsMax: 10_000,
  deleteObjectsMax: 1000,

  // Proxies. While no signature matches, each endpoint costs one more comparison.
  publicEndpointsMax: 8,

  // CORS.
  corsRulesMax: 100,
  corsRuleIdCharsMax: 255,
  /** Names in `Access-Control-Request-Headers`. Pages send a dozen. */
  corsRequestHeadersMax: 256,

  // Websites, as AWS S3 documents them.
  websiteDocumentBytesMax: 128 * KiB,
  routingRulesMax: 50,

  // Lifecycle rules, as AWS S3 documents them.
  lifecycleRulesMax: 1000,
  lifecycleRuleIdCharsMax: 255,
  lifecycleNewerVersionsMax: 100,
  lifecycleDaysMax: 2 ** 31 - 1,
  /** So many share transactions, and leave room for those of clients. */
  lifecycleRemovalsAtOnce: 32,

  // Request bodies that are read whole before they are parsed.
  xmlBodyBytesMax: 2 * MiB,
  xmlDepthMax: 16,
  /** Memory that the XML writer keeps between documents. */
  xmlBytesKept: 4 * MiB,
  /** Elements, attributes, comments and CDATA sections of a document. A Complete of 10,000 parts with checksums has 40,001. */
  xmlNodesMax: 50_000,
  /** For one element: more than any name, tag or condition needs. */
  xmlTextCharsMax: 8 * KiB,
  /** References and line ends of a document: enough for a Delete of 1,000 keys with 300 ampersands each. */
  xmlReplacedCharsMax: 300_000,
  completeBodyBytesMax: 4 * MiB,
  corsDocumentBytesMax: 64 * KiB,
  headerSectionBytesMax: 32 * KiB,

  // Form posts.
  /** Everything before the file's bytes, which S3 limits: fields (the policy is one of them), their headers, boundaries. */
  formFieldsBytesMax: 20 * KiB,
  /** Fields after the file, which are ignored. */
  formTailBytesMax: 64 * KiB,
  /** The longest file that is kept in memory to find out its length. */
  formFileBytesHeld: 256 * KiB,

  // Signatures.
  clockSkewMsMax: 15 * 60 * 1000,
  presignedExpirySecondsMax: 604_800,
  credentialCharsMax: 256,
  /** Longest Authorization header, up to its signature, that is remembered. */
  claimCharsMax: 1 * KiB,
  signingKeysMax: 1024,
  /** Temporary keys whose tokens a process remembers, and the longest token. */
  sessionsRemembered: 1024,
  sessionTokenCharsMax: 20 * KiB,

  // Temporary keys: requests for them, and issuers of OpenID Connect.
  stsBodyBytesMax: 64 * KiB,
  oidcAnswerMs: 5_000,
  oidcDocumentBytesMax: 256 * KiB,
  oidcKeysKeptMs: 10 * 60 * 1000,
  oidcKeysCooldownMs: 30_000,
  oidcClockToleranceSeconds: 5,
  oidcSubjectCharsMax: 255,
  /** For one token, because its claims become part of the session token. */
  oidcClaimsBytesMax: 8 * KiB,
  signedChunkBytesMin: 8 * KiB,
  awsChunkHeaderBytesMax: 1 * KiB,
  trailerBytesMax: 16 * KiB,

  // Connections.
  keepAliveMs: 75_000,
  tlsHandshakeTimeoutMs: 10_000,
  headersTimeoutMs: 60_000,
  idleBodyTimeoutMs: 60_000,
  clientBytesPerSecondMin: 512,
  unreadBodyDrainBytesMax: 1 * MiB,
  lingerMs: 2_000,
  retryAfterSeconds: 1,
  wholeAnswerBytesMax: 64 * KiB,
  /** The most connections of all clients to one server. Its workers share the limit. */
  connectionsMax: 16_384,
  /** Connections that wait to be accepted. In a burst beyond this, every further connection waits a second. */
  connectionsQueued: 4096,
  requestsInFlightMax: 4096,
  clientBytesMax: 256 * MiB,
  /** Bytes that a streaming upload keeps in memory while it waits for its client. */
  uploadBytesHeld: 128 * KiB,
  pipelinedRequestsMax: 64,
  /** Refusals of unsigned requests: up to a hundred a second for one peer, and two hundred at once, are sent without delay. */
  refusalCostMs: 10,
  refusalForgivenMs: 2_000,
  refusalDelayMsMax: 2_000,
  slowAnswerAfterMs: 5_000,
  slowAnswerEveryMs: 5_000,
  drainOnShutdownMs: 30_000,

  // Data path.
  smallShardBytesMax: 256 * KiB,
  /** Larger shards have files of their own in a directory. */
  recordPayloadBytesMax: 1 * MiB,
  checksumBlockBytes: 64 * KiB,
  encryptionSegmentBytes: 64 * KiB,
  readChunkBytes: 1 * MiB,
  blockingReadBytesMax: 128 * KiB,
  blockingCallMsMax: 0.5,
  blockingCallsPause: 256,
  workInlineBytesMax: 256 * KiB,
  workChunkBytes: 512 * KiB,
  threadsMax: 4,
  chunksInSlab: 16,
  /** For one pool: beyond this, chunks are small and nothing is read ahead. */
  chunkBytesPlenty: 64 * MiB,
  smallChunkBytes: 64 * KiB,
  /** A client that takes longer for a chunk is slow. */
  slowChunkMs: 100,
  /** Memory and threads that have been unused for this long are released. */
  idleMemoryMs: 5_000,
  threadIdleMs: 10_000,
  segmentBytesMax: 128 * MiB,
  segmentGrowBytes: 8 * MiB,
  shardDescriptionBytesMax: 64 * KiB,
  storeReserveBytes: 64 * MiB,
  segmentGroupBytesMax: 4 * MiB,
  /** Groups of at least this size extend their segment. Smaller groups use room that was prepared, because extending a file costs the disk one more write. */
  unpreparedGroupBytesMin: 256 * KiB,
  segmentGroupJoinedBytesMax: 512 * KiB,
  segmentQueueBytesMax: 64 * MiB,
  segmentHandlesMax: 128,
  fileHandlesMax: 256,
  fileFootersBytesMax: 4 * MiB,
  batchFilesMax: 4096,
  batchIdleMs: 60 * 60 * 1000,

  // Stores and locations.
  storesMax: 256,
  locationShardsMax: 32,
  /** How many earlier definitions of each location the metadata remembers. */
  formerDefinitionsMax: 16,
  /** How often a process looks for changed locations where the metadata is shared. */
  placementLookMs: 1_000,
  /** Errors in a row after which a store is left out. */
  storeErrorsMax: 3,
  storeProbeMs: 5_000,
  /** The longest that a failed write waits for a check of the store. */
  storeLookMsMax: 1_000,
  /** A store that was full or read-only is tried again after this time. */
  storeFullMs: 10_000,
  /** A store that takes or gives no bytes for this long is left out, if others can replace it. */
  storeStallMs: 30_000,
  /** A copy that has not begun to answer within this time is raced by another copy. */
  readRaceMs: 250,
  // Stores of type s3.
  remoteConnectMs: 3_000,
  /** How long an endpoint can take to receive a request and begin its answer. Less than `storeStallMs`, so that the endpoint's own error is reported. */
  remoteAnswerMs: 25_000,
  /** The same for small requests that other requests wait for. */
  remoteProbeMs: 5_000,
  remoteSocketsMax: 1024,
  remoteRequestsAtOnce: 16,
  /** Bytes under way to endpoints. Enough for all shards of any one blob. */
  remoteWriteBytesMax: 384 * MiB,
  remoteWriteWaitMs: 10_000,
  /** Pages of listings, to find out how much is used. */
  remoteUsagePagesMax: 100,
  // Erasure coding.
  dataShardsMax: 32,
  parityShardsMax: 8,
  stripeUnitBytes: 64 * KiB,
  stripeMemoryBytes: 64 * MiB,

  // Metadata.
  /** Below this share of a quota, with room for so many writes of its size, a write goes by a count that may be a moment old. Others commit one after the other. */
  quotaRelaxedShare: 0.9,
  quotaRelaxedWrites: 64,
  quotaCountAgeMs: 250,
  /** Changes of a bucket's usage that one process leaves until it adds them to the total, and that are read at once. */
  usageChangesMax: 500,
  commitRetriesMax: 200,
  /** The longest wait between two attempts at a commit that conflicts with others. */
  commitBackoffMsMax: 8,
  bucketRecordsRememberedMax: 1024,
  kvKeyBytesMax: 1978,
  kvValueBytesMax: 8 * MiB,
  /** Parts that a GET looks up before it sends its first byte. */
  partEntriesFirst: 64,
  /** Parts that it looks up at a time after that. */
  partEntriesMax: 1024,
  kvBatchBytesMax: 16 * MiB,
  /** Reserved after LMDB's last page, for commits on a full disk. */
  kvRoomBytesMin: 1 * MiB,
  kvRoomBytesMax: 64 * MiB,
  kvRoomPieceBytes: 1 * MiB,
  kvRoomLookMs: 1_000,
  /** An estimate of what a transaction writes in addition to values, such as branch pages. */
  kvCommitBytesAbout: 64 * KiB,
  /** The longest that writes wait for a check of the metadata to end. */
  checkedWriteWaitMs: 10_000,

  /** How long a process that starts waits for the database of the metadata, and how long between two attempts. */
  metadataPatienceMs: 10_000,
  metadataRetryMs: 250,
  /** How long a command that is under way waits for that database. */
  commandPatienceMs: 60_000,
  /** How often a server checks whether that database answers. */
  metadataLookMs: 500,

  /** The size of a piece of a metadata snapshot before it is packed. */
  snapshotPieceBytes: 4 * MiB,
  snapshotIntervalMs: 60 * 60 * 1000,
  snapshotsKept: 3,
  snapshotsKeptMax: 100,

  // Identities: accounts, users, policies and keys that are created at run time. Sizes are those of AWS IAM, without whitespace.
  /** How often a process checks whether identities have changed. */
  identityLookMs: 500,
  /** The greatest age of the identities that a request is verified against. */
  identityLeaseMs: 3_000,
  /** Bounded because every process reads all of them after each change. */
  identitiesMax: 20_000,
  accountNameCharsMax: 256,
  userNameCharsMax: 64,
  policyNameCharsMax: 128,
  policyCharsMax: 6_144,
  /** For all inline policies of a user together, and for a key's own policy. */
  inlinePolicyCharsMax: 2_048,
  attachedPoliciesMax: 20,
  userTagsMax: 50,
  keyDescriptionCharsMax: 256,
  secretCharsMax: 256,

  // Background jobs.
  reclaimGraceMs: 60 * 60 * 1000,
  reclaimIntervalMs: 60_000,
  /** Orphans leave quarantine after this. */
  quarantineMs: 7 * 24 * 60 * 60 * 1000,
  /** The time between two checks of all metadata, and the time until the next one after a check that found a fault. */
  selfCheckIntervalMs: 24 * 60 * 60 * 1000,
  selfCheckAgainMs: 10 * 60 * 1000,
  reclaimBatch: 256,
  abandonedUploadMs: 7 * 24 * 60 * 60 * 1000,
  /** Limits the space of deleted records to a third of that of live ones. */
  compactBelowLiveRatio: 0.75,
  /** Moves that wait together form one group. Each group wastes half a page on average, but clients wait meanwhile. */
  compactMovesInFlightMax: 32,
  compactMoveBytesMax: 8 * MiB,
  mergeSegmentsMin: 8,
  /** How often requests for long tasks are looked for, and the progress of running ones is saved. */
  taskPollMs: 1_000,
  /** How long the result of a task can be looked up. */
  endedTaskKeptMs: 30 * 24 * 60 * 60 * 1000,
  moveBlobsInFlightMax: 8,
  /** The longest that other jobs wait for repair. */
  repairPatienceMs: 30_000,
  /** A move to stores that accept no data now is retried after this time, and fails after this many retries. */
  moveRetryMs: 10_000,
  moveRetriesMax: 30,
  /** Blobs with too few shards left are examined again after this. */
  lostLookMs: 60 * 60 * 1000,
  scrubBlobsAtOnce: 16,
  scrubBytesAtOnce: 1 * MiB,
  scrubIntervalMs: 30 * 24 * 60 * 60 * 1000,
  scrubBytesPerSecond: 20 * MiB,
  /** After a pause, the rate of this much time is available at once. */
  paceBurstMs: 100,
} as const
