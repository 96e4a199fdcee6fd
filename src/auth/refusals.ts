/** Refusals that all signature versions share: unknown keys, wrong times, and signatures that do not match. */
import { S3Error } from '../errors.ts'
import { limits } from '../limits.ts'
import { formatTimestamp } from './sigv4.ts'

export function unknownAccessKey(accessKeyId: string): S3Error {
  return new S3Error('InvalidAccessKeyId', { details: { AWSAccessKeyId: accessKeyId } })
}

/** Throws RequestTimeTooSkewed. */
export function checkTime(timeMs: number, nowMs: number): void {
  if (Math.abs(nowMs - timeMs) <= limits.clockSkewMsMax) return
  throw new S3Error('RequestTimeTooSkewed', {
    details: {
      RequestTime: formatTimestamp(timeMs),
      ServerTime: isoTime(nowMs),
      MaxAllowedSkewMilliseconds: String(limits.clockSkewMsMax),
    },
  })
}

export const isoTime = (ms: number): string => new Date(ms).toISOString().replace(/\.\d{3}/, '')

/** Whether a text holds a customer encryption key. These are the client's secrets, and errors that repeat a header or query may be logged. */
export const holdsCustomerKey = (text: string): boolean => /-customer-key[:=]/i.test(text)
