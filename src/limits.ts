/** Every number that bounds something. Units come last in the name. */

const KiB = 1024
const MiB = 1024 * KiB
const GiB = 1024 * MiB

export const limits = {
  // Names and metadata, as AWS S3 documents them.
  bucketNameCharsMax: 63,
  keyBytesMax: 1024,
  userMetadataBytesMax: 2 * KiB,
  redirectLocationBytesMax: 2 * KiB,
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

  // Object Lock.
  retentionDaysMax: 36_500,
  retentionYearsMax: 100,
  /** A machine's clock further ahead of the last time that was known frees no lock until an operator confirms it. */
  lockClockStepMs: 24 * 60 * 60 * 1000,

  // Pages.
  listKeysMax: 1000,
  listUploadsMax: 1000,
  listPartsMax: 1000,
  listBucketsMax: 10_000,
  deleteObjectsMax: 1000,

  // Request bodies that are read whole before they are parsed.
  xmlBodyBytesMax: 2 * MiB,
  xmlDepthMax: 16,
  /** Memory that the writer of documents keeps from one to the next. */
  xmlBytesKept: 4 * MiB,
  xmlElementsMax: 100_000,
  completeBodyBytesMax: 8 * MiB,
  headerSectionBytesMax: 32 * KiB,

  // Signatures.
  clockSkewMsMax: 15 * 60 * 1000,
  presignedExpirySecondsMax: 604_800,
  credentialCharsMax: 256,
  /** Of an Authorization header before its signature, for it to be remembered. */
  claimCharsMax: 1 * KiB,
  signingKeysMax: 1024,
  signedChunkBytesMin: 8 * KiB,
  awsChunkHeaderBytesMax: 1 * KiB,
  awsChunkBytesMax: 16 * MiB,
  trailerBytesMax: 16 * KiB,

  // Connections.
  keepAliveMs: 75_000,
  tlsHandshakeTimeoutMs: 10_000,
  headersTimeoutMs: 60_000,
  idleBodyTimeoutMs: 60_000,
  idleBodyBytesMin: 1 * KiB,
  unreadBodyDrainBytesMax: 1 * MiB,
  lingerMs: 2_000,
  retryAfterSeconds: 1,
  wholeAnswerBytesMax: 64 * KiB,
  requestsInFlightMax: 4096,
  slowAnswerAfterMs: 5_000,
  slowAnswerEveryMs: 5_000,
  drainOnShutdownMs: 30_000,

  // Data path.
  smallShardBytesMax: 256 * KiB,
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
  /** Memory and threads that nobody used for so long are let go of. */
  idleMemoryMs: 5_000,
  threadIdleMs: 10_000,
  segmentBytesMax: 128 * MiB,
  segmentGrowBytes: 8 * MiB,
  shardDescriptionBytesMax: 64 * KiB,
  storeReserveBytes: 64 * MiB,
  segmentGroupBytesMax: 4 * MiB,
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
  /** Errors in a row after which a store is left out. */
  storeErrorsMax: 3,
  storeProbeMs: 5_000,
  /** A write that met an error waits so long, at most, for a look at the store. */
  storeLookMsMax: 1_000,
  /** A store that was full, or read-only, is asked again after this. */
  storeFullMs: 10_000,
  /** A store that takes or gives nothing for so long is left out, if others can do without it. */
  storeStallMs: 30_000,
  /** A copy that has not begun to answer by then is raced by another. */
  readRaceMs: 250,
  // Stores of type s3.
  remoteConnectMs: 3_000,
  /** Until an endpoint has taken a request and begun to answer; less than `storeStallMs`, so that it says itself what is wrong. */
  remoteAnswerMs: 25_000,
  /** For small requests that others wait for. */
  remoteProbeMs: 5_000,
  remoteSocketsMax: 1024,
  remoteRequestsAtOnce: 16,
  /** What is being sent; enough for all shards of any one blob. */
  remoteWriteBytesMax: 384 * MiB,
  remoteWriteWaitMs: 10_000,
  /** Of listings, to find out how much is used. */
  remoteUsagePagesMax: 100,
  // Erasure coding.
  dataShardsMax: 32,
  parityShardsMax: 8,
  stripeUnitBytes: 64 * KiB,
  stripeMemoryBytes: 64 * MiB,

  // Metadata.
  commitRetriesMax: 200,
  bucketRecordsRememberedMax: 1024,
  kvKeyBytesMax: 1978,
  kvValueBytesMax: 8 * MiB,
  kvBatchBytesMax: 16 * MiB,

  /** Of a piece of a metadata snapshot, before it is packed. */
  snapshotPieceBytes: 4 * MiB,
  snapshotIntervalMs: 60 * 60 * 1000,
  snapshotsKept: 3,
  snapshotsKeptMax: 100,

  // Processes and credentials.
  heapGrowingPercent: 200,
  /** A process that works less than this is idle. */
  idleCpuPercent: 2,
  idleLookMs: 5_000,
  idleLooksMin: 4,
  /** Of CPU time: what a process has to have worked for a collection when it is idle to be worth it. */
  collectAfterWorkMs: 1_000,
  keyPairLookMs: 2_000,
  workersMax: 64,
  workerRestartsMax: 5,
  workerRestartWindowMs: 30_000,
  workerRestartDelayMsMax: 5_000,
  instanceTakeoverMs: 5_000,
  /** A command that holds the data directory for work that others can go on with ends within this when a server starts. */
  giveWayMs: 30_000,
  secretCharsMin: 8,
  accessKeyCharsMax: 128,

  // Background jobs.
  reclaimGraceMs: 60 * 60 * 1000,
  reclaimIntervalMs: 60_000,
  reclaimBatch: 256,
  abandonedUploadMs: 7 * 24 * 60 * 60 * 1000,
  /** Bounds what deleted records take to a third of what lives. */
  compactBelowLiveRatio: 0.75,
  /** Those that wait together become one group, and each group ends with half an empty page on average; but clients wait beside them. */
  compactMovesInFlightMax: 32,
  compactMoveBytesMax: 8 * MiB,
  mergeSegmentsMin: 8,
  /** Long work: a request for it is seen, and its progress saved, within this. */
  taskPollMs: 1_000,
  /** What came of it can be looked up for so long. */
  endedTaskKeptMs: 30 * 24 * 60 * 60 * 1000,
  moveBlobsInFlightMax: 8,
  /** Other jobs wait so long for repair. */
  repairPatienceMs: 30_000,
  /** A move to stores that take nothing for now tries again after this, and ends when it was in vain so often. */
  moveRetryMs: 10_000,
  moveRetriesMax: 30,
  /** What has too few shards left is looked at again after this. */
  lostLookMs: 60 * 60 * 1000,
  scrubBlobsAtOnce: 16,
  scrubBytesAtOnce: 1 * MiB,
  scrubIntervalMs: 30 * 24 * 60 * 60 * 1000,
  scrubBytesPerSecond: 20 * MiB,
  /** Of a rate, given at once after a pause. */
  paceBurstMs: 100,
} as const
