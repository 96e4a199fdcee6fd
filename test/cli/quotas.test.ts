/** Quotas as an operator sets them: by the command, over a server with one process and with several. */
import {
  CreateBucketCommand,
  DeleteObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3'
import { describe, expect, test } from 'vitest'
import { keyVariables, lastEvent, type Outcome, run, serve } from './holdfast-process.ts'
import { openWorkplace } from './workplace.ts'

const place = openWorkplace('quotas')
const Bucket = 'photos'
const bytes = 1000
const Body = Buffer.alloc(bytes, 'x')

interface Started {
  running: Awaited<ReturnType<typeof serve>>
  s3: S3Client
  quotas(...words: string[]): Promise<Outcome>
}

async function start(workers: string): Promise<Started> {
  const words = ['serve', '--data', place.path('data'), '--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0']
  const running = await serve([...words, '--workers', workers])
  const { endpoint, adminEndpoint = '' } = running.ready
  return {
    running,
    s3: place.clientOf(endpoint),
    quotas: (...asked) => run(['quotas', ...asked, '--admin-endpoint', adminEndpoint], keyVariables).ended,
  }
}

const put = (s3: S3Client, Key: string): Promise<string> =>
  s3.send(new PutObjectCommand({ Bucket, Key, Body })).then(
    () => 'ok',
    (error: Error) => error.name,
  )

/** What a client finds. */
async function held(s3: S3Client): Promise<{ bytes: number; objects: number }> {
  const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket }))
  return { bytes: Contents.reduce((sum, { Size = 0 }) => sum + Size, 0), objects: Contents.length }
}

async function used({ quotas }: Started): Promise<unknown> {
  return lastEvent(await quotas('show', Bucket, '--json')).quota.used
}

test('the command sets, shows, lists and removes them', async () => {
  const started = await start('1')
  const { s3, quotas } = started
  await s3.send(new CreateBucketCommand({ Bucket }))
  await put(s3, 'before')
  expect((await quotas()).stdout).toBe('')
  expect((await quotas('set', Bucket, '--bytes', '2KiB', '--objects', '5')).stdout).toBe(
    'photos  main  1000 bytes of 2.0 KiB  1 of 5 objects\n',
  )
  expect([await put(s3, 'fits'), await put(s3, 'late')]).toEqual(['ok', 'QuotaExceeded'])
  expect((await quotas()).stdout).toBe('photos  main  2.0 KiB of 2.0 KiB  2 of 5 objects\n')
  expect((await quotas('set', Bucket, '--objects', '2')).stdout).toBe('photos  main  any bytes  2 of 2 objects  full\n')
  expect(await quotas('remove', Bucket)).toMatchObject({ code: 0, stdout: 'photos has no quota any more\n' })
  expect(await put(s3, 'late')).toBe('ok')
  expect(await quotas('show', Bucket)).toMatchObject({ code: 1, stderr: expect.stringContaining('NoSuchQuota') })
  expect(await quotas('set', Bucket)).toMatchObject({ code: 2, stderr: expect.stringContaining('--bytes 10GiB') })
  expect(await quotas('set', Bucket, '--bytes', '10MB')).toMatchObject({ code: 2 })
  expect(await quotas('set', Bucket, '--objects', 'many')).toMatchObject({ code: 2 })
})

describe.each(['1', '3'])('a server with --workers %s', (workers) => {
  test('takes what its quota admits from many clients at once, and knows what it holds after it was killed', async () => {
    const started = await start(workers)
    const { s3, quotas, running } = started
    await s3.send(new CreateBucketCommand({ Bucket }))
    await quotas('set', Bucket, '--bytes', String(60 * bytes))
    // A connection each, so that all workers get some.
    const clients = Array.from({ length: 8 }, () => place.clientOf(running.ready.endpoint))
    const writing = clients.map(async (client, c) => {
      const codes: string[] = []
      for (let i = 0; i < 20; i++) {
        codes.push(await put(client, `${c} ${i}`))
        if (i % 10 === 9) await client.send(new DeleteObjectCommand({ Bucket, Key: `${c} ${i - 5}` }))
      }
      return codes
    })
    const codes = new Set((await Promise.all(writing)).flat())
    expect(codes).toEqual(new Set(['ok', 'QuotaExceeded']))
    const full = await held(s3)
    expect(full.bytes).toBeLessThanOrEqual(60 * bytes)
    expect(await used(started)).toEqual(full)

    let isKilled = false
    const changing = clients.map(async (client, c) => {
      for (let i = 0; !isKilled; i++) {
        if (c === 0 && i === 25) isKilled = running.child.kill('SIGKILL')
        const Key = `${c} ${i % 30}`
        await client.send(new DeleteObjectCommand({ Bucket, Key })).catch(() => {})
        await put(client, Key)
      }
    })
    await Promise.all([running.ended, ...changing])
    const again = await start(workers)
    expect(await used(again)).toEqual(await held(again.s3))
  })
})
