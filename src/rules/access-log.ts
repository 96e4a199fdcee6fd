/** The keys of the objects that hold the access log of a bucket. Pure. */
import { checkKeyLength } from '../key-length.ts'
import type { BucketLogging } from '../records/bucket-logging.ts'
import { isoTime } from '../time-text.ts'

export interface LoggedBucket {
  name: string
  /** Account id. */
  owner: string
  region: string
}

export interface LogTimes {
  deliveredMs: number
  /** When the first request of the object was logged. */
  eventMs: number
}

/** Of what tells apart objects of the same second. */
export const logNameChars = 16

/** `unique`: tells apart objects of the same second. The forms are S3's. */
export function logKey(
  { targetPrefix, keyFormat = 'simple' }: BucketLogging,
  { name, owner, region }: LoggedBucket,
  { deliveredMs, eventMs }: LogTimes,
  unique: string,
): string {
  if (keyFormat === 'simple') return `${targetPrefix}${secondsOf(deliveredMs)}-${unique}`
  // S3 says midnight where the requests' day counts.
  const second = keyFormat === 'EventTime' ? `${dayOf(eventMs)}-00-00-00` : secondsOf(deliveredMs)
  const day = second.slice(0, 'YYYY-MM-DD'.length).replaceAll('-', '/')
  return `${targetPrefix}${owner}/${region}/${name}/${day}/${second}-${unique}`
}

/** `2026-11-27`, in UTC. Requests of different days are in different objects where keys tell the day. */
export const dayOf = (ms: number): string => isoTime(ms).slice(0, 'YYYY-MM-DD'.length)

const secondsOf = (ms: number): string => isoTime(ms).slice(0, 'YYYY-MM-DDThh:mm:ss'.length).replaceAll(/[T:]/g, '-')

/** Throws KeyTooLongError where no key could be made. */
export function checkLogPrefix(logging: BucketLogging, bucket: LoggedBucket): void {
  checkKeyLength(logKey(logging, bucket, { deliveredMs: 0, eventMs: 0 }, '0'.repeat(logNameChars)))
}
