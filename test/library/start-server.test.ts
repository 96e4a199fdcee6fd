import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  CreateBucketCommand,
  GetObjectCommand,
  ListBucketsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import { expect, test } from 'vitest'
import { type Server, startServer } from '../../src/index.ts'
import { presignVersion2 } from '../support/signer-version2.ts'

async function withClient<T>(server: Server, use: (client: S3Client) => Promise<T>): Promise<T> {
  const client = new S3Client(server.clientConfig())
  try {
    return await use(client)
  } finally {
    client.destroy()
  }
}

const bucketNames = (server: Server) =>
  withClient(
    server,
    async (client) => (await client.send(new ListBucketsCommand({}))).Buckets?.map(({ Name }) => Name) ?? [],
  )

const put = (server: Server, key: string, body: string | Buffer) =>
  withClient(server, (client) => client.send(new PutObjectCommand({ Bucket: 'one', Key: key, Body: body })))

test('serves from memory on a free port for as long as its scope lasts', async () => {
  let endpoint: string
  {
    await using server = await startServer({ buckets: ['one', 'two'] })
    endpoint = server.endpoint
    expect(server.port).toBeGreaterThan(0)
    expect(await bucketNames(server)).toEqual(['one', 'two'])
    await put(server, 'key', 'body')
  }
  await expect(fetch(endpoint)).rejects.toThrow()
})

test('several servers in one process know nothing of each other', async () => {
  await using first = await startServer({ buckets: ['one'] })
  await using second = await startServer({ buckets: ['one'] })
  await put(first, 'key', 'body')
  expect(first.credentials).not.toEqual(second.credentials)
  const keys = (server: Server) =>
    withClient(server, async (client) => (await client.send(new ListObjectsV2Command({ Bucket: 'one' }))).KeyCount)
  expect([await keys(first), await keys(second)]).toEqual([1, 0])
})

test('objects get a checksum by default where that is asked for', async () => {
  for (const [defaultChecksum, expected] of [
    [undefined, undefined],
    ['CRC64NVME', 'rosUhgp5mIg='],
  ] as const) {
    await using server = await startServer({ buckets: ['one'], ...(defaultChecksum && { defaultChecksum }) })
    await withClient(server, async (client) => {
      client.config.requestChecksumCalculation = async () => 'WHEN_REQUIRED'
      const { ChecksumCRC64NVME } = await client.send(
        new PutObjectCommand({ Bucket: 'one', Key: 'a', Body: '123456789' }),
      )
      expect(ChecksumCRC64NVME).toBe(expected)
    })
  }
})

test('reset empties everything, makes the first buckets again, and keeps the keys', async () => {
  await using server = await startServer({ buckets: ['one'] })
  await server.identities.users.create('main', { name: 'ann' })
  const { accessKeyId } = await server.identities.keys.add({ accountId: 'main', user: 'ann' })
  await put(server, 'small', 'body')
  await put(server, 'large', Buffer.alloc(1_000_000))
  await withClient(server, (client) => client.send(new CreateBucketCommand({ Bucket: 'later' })))
  await server.reset()
  expect(await bucketNames(server)).toEqual(['one'])
  const listed = await withClient(server, (client) => client.send(new ListObjectsV2Command({ Bucket: 'one' })))
  expect(listed.KeyCount).toBe(0)
  await put(server, 'small', 'again')
  expect(await server.identities.keys.get(accessKeyId)).toMatchObject({ user: 'ann' })
})

test('a data directory outlives the server, with its key, and holds after a reset', async () => {
  const data = await mkdtemp(join(tmpdir(), 'holdfast-library-'))
  try {
    let credentials: Server['credentials']
    {
      await using server = await startServer({ data, buckets: ['one'] })
      credentials = server.credentials
      await put(server, 'gone', 'body')
      await server.reset()
      await put(server, 'key', 'body')
      await expect(startServer({ data })).rejects.toThrow('in use by process')
    }
    await using server = await startServer({ data, buckets: ['one'] })
    expect(server.credentials).toEqual(credentials)
    const { Body } = await withClient(server, (client) =>
      client.send(new GetObjectCommand({ Bucket: 'one', Key: 'key' })),
    )
    expect(await Body?.transformToString()).toBe('body')
  } finally {
    await rm(data, { recursive: true, force: true })
  }
})

test('what a server is given is checked, and a failed start leaves nothing open', async () => {
  await expect(startServer({ buckets: ['Not A Bucket'] })).rejects.toThrow()
  await expect(startServer({ credentials: { accessKeyId: 'abc', secretAccessKey: 'short' } })).rejects.toThrow(
    'too weak',
  )
  await using server = await startServer()
  await expect(startServer({ oidc: [{ issuer: 'http://id.example.com', clientId: 'a' }] })).rejects.toThrow(
    'oidc[0].issuer: must be an https URL',
  )
  await expect(startServer({ port: server.port })).rejects.toThrow('another process listens there already')
})

test('close is idempotent, and leaves no signal handler behind', async () => {
  const handlers = process.listenerCount('SIGTERM')
  const server = await startServer()
  expect(process.listenerCount('SIGTERM')).toBe(handlers)
  await server.close()
  await server.close()
})

test.each([
  ['by default', {}, 200],
  ['not where version 2 of signatures is off', { sigv2: 'off' }, 400],
] as const)('takes URLs as boto3 presigns them, %s', async (_, options, status) => {
  await using server = await startServer({ buckets: ['one'], ...options })
  await put(server, 'key', 'body')
  const request = { method: 'GET', host: `127.0.0.1:${server.port}`, path: '/one/key' }
  const signing = { key: server.credentials, expires: Math.floor(Date.now() / 1000) + 60 }
  const reply = await fetch(new URL(presignVersion2(request, signing).target, server.endpoint))
  expect(reply.status).toBe(status)
  await reply.arrayBuffer()
})

test.each([
  [{ buckets: ['photos', 'x'] }, /^buckets\[1\]: "x" can't be the name of a bucket/],
  [{ domains: ['s3.test', '..'] }, /^domains: .*not '\.\.'$/],
  [{ corsAllowOrigin: ['app.test'] }, /^corsAllowOrigin: .*not 'app.test'$/],
  [{ region: 'bad region' }, /^region: .*not 'bad region'$/],
  [{ kmsKeys: ['a b'] }, /^kmsKeys: .*not 'a b'$/],
  [{ port: 99_999 }, /^port: .*not 99999$/],
])('what is wrong with an option is said with its value: %j', async (options, message) => {
  await expect(startServer(options)).rejects.toThrow(message)
})
