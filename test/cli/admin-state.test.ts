/** What the admin port of a server with several workers says: sums over all workers, and changes that reach all of them. */
import { readFile } from 'node:fs/promises'
import {
  CreateBucketCommand,
  DeleteBucketCommand,
  GetObjectCommand,
  PutBucketTaggingCommand,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import { afterEach, describe, expect, test } from 'vitest'
import { sign } from '../support/signer.ts'
import { environmentKey, keyVariables, lastEvent, run, serve } from './holdfast-process.ts'
import { openWorkplace } from './workplace.ts'

const place = openWorkplace('admin-state')

type Server = Awaited<ReturnType<typeof serve>>
let server: Server | undefined

afterEach(async () => {
  server?.child.kill('SIGTERM')
  await server?.ended
})

async function start(...more: string[]): Promise<{ s3: S3Client; admin: string; running: Server }> {
  const words = ['serve', '--data', place.path('data'), '--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0']
  server = await serve([...words, ...more])
  const { endpoint, adminEndpoint = '' } = server.ready
  const credentials = environmentKey
  const s3 = new S3Client({ endpoint, region: 'us-east-1', credentials, forcePathStyle: true, maxAttempts: 1 })
  return { s3, admin: adminEndpoint, running: server }
}

async function ask(
  admin: string,
  method: string,
  path: string,
  input?: unknown,
): Promise<{ status: number; json: unknown }> {
  const { host } = new URL(admin)
  const body = input === undefined ? undefined : JSON.stringify(input)
  const signed = sign({ method, path, host, ...(body === undefined ? {} : { body }) }, { key: environmentKey })
  const reply = await fetch(admin + signed.target, {
    method,
    headers: Object.fromEntries(signed.headers),
    ...(body === undefined ? {} : { body }),
  })
  const text = await reply.text()
  return { status: reply.status, json: text === '' ? undefined : JSON.parse(text) }
}

const counted = async (admin: string, operation: string): Promise<number> => {
  const text = await (await fetch(`${admin}/metrics`)).text()
  const lines = text.split('\n').filter((line) => line.startsWith(`holdfast_requests_total{operation="${operation}"`))
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}

/** Opens a connection for each request, so that all workers get some. */
async function getOnFreshConnections(count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const config = { endpoint: server?.ready.endpoint ?? '', region: 'us-east-1', credentials: environmentKey }
    const fresh = new S3Client({ ...config, forcePathStyle: true })
    const { Body } = await fresh.send(new GetObjectCommand({ Bucket: 'photos', Key: 'k' }))
    await Body?.transformToString()
    fresh.destroy()
  }
}

describe('a server with two workers', () => {
  test('counts the requests of both, also after one of them was killed', async () => {
    const { s3, admin, running } = await start('--workers', '2')
    await s3.send(new CreateBucketCommand({ Bucket: 'photos' }))
    await s3.send(new PutObjectCommand({ Bucket: 'photos', Key: 'k', Body: 'hello' }))
    await getOnFreshConnections(8)
    await expect.poll(() => counted(admin, 'GetObject')).toBe(8)
    const children = await readFile(`/proc/${running.child.pid}/task/${running.child.pid}/children`, 'utf8')
    process.kill(Number(children.trim().split(' ')[0]), 'SIGKILL')
    await running.logged((line) => line.includes('a worker died'))
    expect(await counted(admin, 'GetObject')).toBe(8)
    await getOnFreshConnections(4)
    await expect.poll(() => counted(admin, 'GetObject')).toBe(12)
  })

  test('shows the requests of both, and changes the log level of both', async () => {
    const { s3, admin, running } = await start('--workers', '2', '--log-level', 'error')
    await s3.send(new CreateBucketCommand({ Bucket: 'photos' }))
    await s3.send(new PutObjectCommand({ Bucket: 'photos', Key: 'k', Body: 'hello' }))
    await getOnFreshConnections(4)
    const listed = async () => {
      const { json } = await ask(admin, 'GET', '/v1/requests')
      const { requests } = json as { requests: { operation: string }[] }
      return requests.filter(({ operation }) => operation === 'GetObject').length
    }
    await expect.poll(listed).toBe(4)
    expect(running.output.stderr).not.toContain('GetObject')
    expect((await ask(admin, 'PUT', '/v1/log/level', { level: 'info' })).status).toBe(200)
    // A worker that is busy gets no new connection.
    const loggedBy = async () => {
      await getOnFreshConnections(2)
      return new Set([...running.output.stderr.matchAll(/"pid":(\d+),[^\n]*GetObject/g)].map(([, pid]) => pid)).size
    }
    await expect.poll(loggedBy).toBe(2)
  })

  test('writes down changes of buckets before they are answered, whoever made them', async () => {
    const path = place.path('audit.jsonl')
    const { s3 } = await start('--workers', '2', '--audit-log', path)
    const lines = async () =>
      (await readFile(path, 'utf8'))
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
    await s3.send(new CreateBucketCommand({ Bucket: 'photos' }))
    expect(await lines()).toEqual([
      expect.objectContaining({
        port: 's3',
        operation: 'CreateBucket',
        accessKeyId: environmentKey.accessKeyId,
        account: 'main',
        target: { bucket: 'photos' },
      }),
    ])
    await s3.send(new PutBucketTaggingCommand({ Bucket: 'photos', Tagging: { TagSet: [{ Key: 'a', Value: 'b' }] } }))
    await s3.send(new PutObjectCommand({ Bucket: 'photos', Key: 'k', Body: 'hello' }))
    await expect(s3.send(new DeleteBucketCommand({ Bucket: 'photos' }))).rejects.toMatchObject({
      name: 'BucketNotEmpty',
    })
    expect((await lines()).map(({ operation }) => operation)).toEqual(['CreateBucket', 'PutBucketTagging'])
  })
})

test('a server whose audit log can’t be written serves objects and changes no bucket', async () => {
  const first = await start()
  await first.s3.send(new CreateBucketCommand({ Bucket: 'photos' }))
  server?.child.kill('SIGTERM')
  await server?.ended
  const { s3 } = await start('--audit-log', place.path('missing/audit.jsonl'))
  await s3.send(new PutObjectCommand({ Bucket: 'photos', Key: 'k', Body: 'hello' }))
  await expect(s3.send(new CreateBucketCommand({ Bucket: 'other' }))).rejects.toMatchObject({
    name: 'ServiceUnavailable',
  })
})

test('a running server reclaims for the command, keeping its own grace', async () => {
  const { s3, admin } = await start('--reclaim-grace', '0')
  await s3.send(new CreateBucketCommand({ Bucket: 'photos' }))
  await s3.send(new PutObjectCommand({ Bucket: 'photos', Key: 'k', Body: 'x'.repeat(1_000_000) }))
  await s3.send(new PutObjectCommand({ Bucket: 'photos', Key: 'k', Body: 'y' }))
  const outcome = await run(
    ['reclaim', '--data', place.path('data'), '--admin-endpoint', admin, '--json'],
    keyVariables,
  ).ended
  expect([outcome.code, outcome.stderr]).toEqual([0, ''])
  expect(lastEvent(outcome)).toMatchObject({ event: 'reclaimed', blobsRemoved: 1 })
  // Without an address, the command finds that the data directory is in use, and that the configuration has no admin port.
  const refused = await run(['reclaim', '--data', place.path('data')], keyVariables).ended
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(/could not be asked[\s\S]*stop it first/)])
})

test('the console’s origin, and no other, may use the S3 port from a page', async () => {
  const { s3, admin, running } = await start()
  await s3.send(new CreateBucketCommand({ Bucket: 'photos' }))
  const preflight = (origin: string) =>
    fetch(`${running.ready.endpoint}/photos/k`, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'PUT', 'access-control-request-headers': 'authorization' },
    })
  const own = await preflight(admin)
  expect([own.status, own.headers.get('access-control-allow-origin')]).toEqual([200, admin])
  for (const origin of ['http://evil.example', admin.replace('http:', 'https:'), `${admin}0`, 'null']) {
    expect([origin, (await preflight(origin)).status]).toEqual([origin, 403])
  }
})
