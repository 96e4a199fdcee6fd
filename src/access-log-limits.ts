/** Limits of the access logs of buckets. */
export const accessLogLimits = {
  /** How often a process writes what it has logged. */
  intervalMs: 5 * 60 * 1000,
  /** The same for a server in memory: a test waits for it. */
  inMemoryIntervalMs: 1000,
  /** A bucket's log that has so much to write does not wait for the interval. */
  objectBytes: 4 * 1024 * 1024,
  /** Lines that a process holds for one bucket, and for all together. More are lost. */
  bucketBytesMax: 8 * 1024 * 1024,
  bytesMax: 32 * 1024 * 1024,
  /** Of each header and URL in a line. */
  fieldCharsMax: 8 * 1024,
  /** Buckets whose logs are written at the same time. */
  bucketsAtOnce: 4,
} as const
