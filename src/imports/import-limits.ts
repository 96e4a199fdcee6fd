/** Limits of an import. */
const KiB = 1024
const MiB = 1024 * KiB

export const importLimits = {
  /** Answers that are read whole: a page of 1,000 versions with long keys needs a few MiB. */
  answerBytesMax: 32 * MiB,
  /** Bodies up to this size are held in memory, so that their digest can be signed. */
  bufferedBytesMax: 4 * MiB,
  /** Time without a byte after which an endpoint counts as away. */
  silenceMs: 60_000,
  /** How often something is tried, and the pause after the first failure, which doubles. */
  attempts: 5,
  pauseMs: 200,
  pauseMaxMs: 5_000,
  /** Keys that are copied at the same time, and parts of one object. */
  parallelInitial: 16,
  parallelMax: 256,
  partsAtOnce: 4,
  /** S3's largest object in one request, and most parts of an object. */
  putBytesMax: 5 * 1024 * MiB,
  partsMax: 10_000,
  /** The least size of parts where the source does not tell its own. */
  partBytesMin: 64 * MiB,
  /** Failures of a bucket that are told one by one. */
  failuresToldMax: 20,
} as const
