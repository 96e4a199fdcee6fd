/** Limits of an import. */
const KiB = 1024
const MiB = 1024 * KiB

export const importLimits = {
  /** Keys that are copied at the same time, and parts of one object. */
  parallelInitial: 16,
  parallelMax: 256,
  partsAtOnce: 4,
  /** S3's largest object in one request, and most parts of an object. */
  putBytesMax: 5 * 1024 * MiB,
  partsMax: 10_000,
  /** The least size of parts where the source does not tell the original ones. */
  partBytesMin: 64 * MiB,
  /** Failures of a bucket that are printed one by one. */
  failuresListedMax: 20,
} as const
