/** The keys of the objects of access logs: the forms that S3 documents. */
import { describe, expect, it } from 'vitest'
import type { LogKeyFormat } from '../../src/records/bucket-logging.ts'
import { checkLogPrefix, logKey } from '../../src/rules/access-log.ts'

const bucket = { name: 'photos', owner: '111122223333', region: 'eu-west-1' }
const times = { deliveredMs: Date.UTC(2026, 10, 27, 0, 5, 9), eventMs: Date.UTC(2026, 10, 26, 23, 59, 58) }
const keyOf = (keyFormat: LogKeyFormat | undefined): string =>
  logKey({ targetBucket: 'logs', targetPrefix: 'p/', keyFormat }, bucket, times, '0A1B2C3D4E5F6A7B')

describe('the key of an object of an access log', () => {
  it.each([
    [undefined, 'p/2026-11-27-00-05-09-0A1B2C3D4E5F6A7B'],
    ['simple', 'p/2026-11-27-00-05-09-0A1B2C3D4E5F6A7B'],
    ['DeliveryTime', 'p/111122223333/eu-west-1/photos/2026/11/27/2026-11-27-00-05-09-0A1B2C3D4E5F6A7B'],
    ['partitioned', 'p/111122223333/eu-west-1/photos/2026/11/27/2026-11-27-00-05-09-0A1B2C3D4E5F6A7B'],
    ['EventTime', 'p/111122223333/eu-west-1/photos/2026/11/26/2026-11-26-00-00-00-0A1B2C3D4E5F6A7B'],
  ] as const)('in the form %s is %s', (format, key) => {
    expect(keyOf(format)).toBe(key)
  })

  it.each([
    ['simple', 1024 - 36],
    ['EventTime', 1024 - 36 - '111122223333/eu-west-1/photos/2026/11/26/'.length],
  ] as const)('in the form %s has room for a prefix of %i bytes', (keyFormat, bytes) => {
    const check = (length: number) => () =>
      checkLogPrefix({ targetBucket: 'logs', targetPrefix: 'p'.repeat(length), keyFormat }, bucket)
    expect(check(bytes)).not.toThrow()
    expect(check(bytes + 1)).toThrow('Your key is too long')
  })
})
