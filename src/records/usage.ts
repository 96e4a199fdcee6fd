/** What buckets with a quota may hold, and what they hold. */

/** Includes noncurrent versions and uploads that are still open. Delete markers are free. */
export interface Usage {
  /** As clients sent them. A location's copies and parity are not counted. */
  bytes: number
  /** Versions that are objects, and open uploads. */
  objects: number
}

/** The most that a bucket may hold. Has one of the two at least. */
export type BucketQuota = { [Of in keyof Usage]?: number | undefined }

/** The total, or a change that is not yet added to it. */
export interface UsageRecord extends Usage {
  /** Of the total: the bucket's name. */
  bucket?: string
  /** Of the total: what the bucket held when counting began is still missing from it. Names the count. */
  counting?: string | undefined
}
