/** Where the access log of a bucket is written, as its record keeps it. */
export interface BucketLogging {
  /** A bucket of the same account. */
  targetBucket: string
  /** What the keys of the log's objects begin with. */
  targetPrefix: string
  /** How the rest of the keys is made, as the client said it. Absent: nothing was said, so it is `simple`. */
  keyFormat?: LogKeyFormat | undefined
}

/** `partitioned`: without a date source, which is then the time of delivery. */
export type LogKeyFormat = 'simple' | 'partitioned' | 'EventTime' | 'DeliveryTime'
