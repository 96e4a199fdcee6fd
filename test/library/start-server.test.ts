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

test('reset empties everything, makes the first buckets again, and keeps the key', async () => {
  await using server = await startServer({ buckets: ['one'] })
  await put(server, 'small', 'body')
  await put(server, 'large', Buffer.alloc(1_000_000))
  await withClient(server, (client) => client.send(new CreateBucketCommand({ Bucket: 'later' })))
  await server.reset()
  expect(await bucketNames(server)).toEqual(['one'])
  const listed = await withClient(server, (client) => client.send(new ListObjectsV2Command({ Bucket: 'one' })))
  expect(listed.KeyCount).toBe(0)
  await put(server, 'small', 'again')
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
  await expect(startServer({ port: server.port })).rejects.toThrow('another process listens there already')
})

test('close is idempotent, and leaves no signal handler behind', async () => {
  const handlers = process.listenerCount('SIGTERM')
  const server = await startServer()
  expect(process.listenerCount('SIGTERM')).toBe(handlers)
  await server.close()
  await server.close()
})
