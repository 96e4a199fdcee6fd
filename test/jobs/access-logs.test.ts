/** How the lines of access logs reach their bucket: what waits for what, what is kept after a failure, and what is lost. */
import { afterEach, beforeEach, expect, it } from 'vitest'
import { accessLogLimits } from '../../src/access-log-limits.ts'
import { S3Error } from '../../src/errors.ts'
import { AccessLogs } from '../../src/jobs/access-logs/access-logs.ts'
import { changeBucket, findBucket } from '../../src/objects/buckets.ts'
import { listObjects } from '../../src/objects/list-objects.ts'
import type { BucketLogging } from '../../src/records/bucket-logging.ts'
import { read, scope, storeWithBucket, type TestStore } from '../objects/fixture.ts'

const dayMs = 24 * 60 * 60 * 1000
/** The bucket logs to itself. */
const toItself: BucketLogging = { targetBucket: 'bucket', targetPrefix: 'log/' }

let made: TestStore
let logs: AccessLogs
let warnings: string[]
/** Thrown by the target. */
let refusal: Error | undefined

beforeEach(async () => {
  made = await storeWithBucket()
  warnings = []
  refusal = undefined
  logs = new AccessLogs({
    backend: made.backend,
    region: 'us-east-1',
    intervalMs: dayMs,
    admit: () => {
      if (refusal !== undefined) throw refusal
    },
    warn: (message) => warnings.push(message),
  })
  await logTo(toItself)
})
afterEach(() => logs.close())

async function logTo(logging: BucketLogging | undefined): Promise<void> {
  await changeBucket(made.backend, scope, (bucket) => ({ ...bucket, logging }))
  await findBucket(made.backend, scope)
}

/** The texts of the objects, in the order of their keys. */
async function written(): Promise<string[]> {
  const { page } = await listObjects(made.backend, scope, { prefix: 'log/', delimiter: '', max: 100, start: undefined })
  return Promise.all(page.entries.map(async ({ key }) => (await read(made, key)).toString()))
}

const away = (): Error => new S3Error('ServiceUnavailable')

it('is of the bucket whose last known record has a log', async () => {
  expect([logs.ownerOf('bucket'), logs.ownerOf('another')]).toEqual(['main', undefined])
  await logTo(undefined)
  expect(logs.ownerOf('bucket')).toBeUndefined()
})

it('writes the lines since the last delivery as one object', async () => {
  logs.add('bucket', 'one')
  logs.add('bucket', 'two')
  expect(await written()).toEqual([])
  await logs.deliver()
  expect(await written()).toEqual(['one\ntwo\n'])
  await logs.deliver()
  expect(await written()).toHaveLength(1)
  made.clock.advance(1000)
  logs.add('bucket', 'three')
  await logs.deliver()
  expect(await written()).toEqual(['one\ntwo\n', 'three\n'])
})

it('does not wait for the interval once an object is full', async () => {
  const line = 'x'.repeat(accessLogLimits.objectBytes / 4)
  for (let i = 0; i < 4; i++) logs.add('bucket', line)
  await expect.poll(written, { timeout: 60_000 }).toEqual([`${line}\n`.repeat(4)])
})

it('keeps lines that cannot be written now, before newer ones, and says so once', async () => {
  refusal = away()
  logs.add('bucket', 'one')
  await logs.deliver()
  await logs.deliver()
  logs.add('bucket', 'two')
  expect(warnings).toEqual([
    expect.stringMatching(/^the access log of bucket cannot be written now, because .*: its lines are kept/),
  ])
  refusal = undefined
  await logs.deliver()
  expect(await written()).toEqual(['one\ntwo\n'])
})

it.each([
  ['the target refuses', new S3Error('AccessDenied')],
  ['the target is gone', new S3Error('NoSuchBucket')],
])('loses lines where %s, and says so', async (_, error) => {
  refusal = error
  logs.add('bucket', 'one')
  await logs.deliver()
  refusal = undefined
  await logs.deliver()
  expect(warnings).toEqual([expect.stringMatching(/^lines lost of the access log of bucket, because .*: 1$/)])
  expect(await written()).toEqual([])
})

it('writes nothing for a bucket whose log was turned off, or that is gone', async () => {
  logs.add('bucket', 'one')
  logs.add('gone', 'two')
  await logTo(undefined)
  await logs.deliver()
  expect([await written(), warnings]).toEqual([[], []])
})

it('holds a bounded number of lines, and says how many it lost', async () => {
  refusal = away()
  const line = 'x'.repeat(accessLogLimits.bucketBytesMax / 8)
  logs.add('bucket', 'first')
  await logs.deliver()
  for (let i = 0; i < 10; i++) logs.add('bucket', line)
  refusal = undefined
  await logs.deliver()
  expect(warnings.at(-1)).toBe('lines lost of the access log of bucket, for lack of room: 3')
  expect((await written()).join('').split('\n')).toHaveLength(9)
})

it('bounds the lines of all buckets together', async () => {
  const line = 'x'.repeat(accessLogLimits.objectBytes / 2)
  const buckets = Array.from({ length: 20 }, (_, i) => `bucket-${i}`)
  for (const bucket of buckets) logs.add(bucket, line)
  await logs.deliver()
  expect(warnings).toHaveLength(buckets.length - Math.floor(accessLogLimits.bytesMax / (line.length + 1)))
  logs.add('bucket', 'there is room again')
  await logs.deliver()
  expect(await written()).toEqual(['there is room again\n'])
})

it('separates days where keys tell the day of the requests', async () => {
  await logTo({ ...toItself, keyFormat: 'EventTime' })
  logs.add('bucket', 'today')
  made.clock.advance(dayMs)
  logs.add('bucket', 'tomorrow')
  await logs.deliver()
  expect(await written()).toEqual(['today\n', 'tomorrow\n'])
})

it('writes what waits when the server stops, or says that it is lost', async () => {
  logs.add('bucket', 'one')
  await logs.close()
  expect(await written()).toEqual(['one\n'])
  refusal = away()
  logs.add('bucket', 'two')
  await logs.close()
  expect(warnings.at(-1)).toBe('lines lost of the access log of bucket, because the server stopped: 1')
})
