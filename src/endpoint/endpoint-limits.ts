/** Limits of requests to other endpoints. */
const KiB = 1024
const MiB = 1024 * KiB

export const endpointLimits = {
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
} as const
