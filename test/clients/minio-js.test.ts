import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { buildARN, Client, NotificationConfig, ObjectCreatedAll, QueueConfig } from 'minio'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Server, startServer } from '../../src/index.ts'
import { type EventReceiver, openEventReceiver } from '../support/event-receiver.ts'
import { patternBytes } from '../support/seeded.ts'

const MiB = 1024 * 1024
let server: Server
let client: Client
let receiver: EventReceiver

beforeAll(async () => {
  receiver = await openEventReceiver()
  server = await startServer({ buckets: ['bucket'], webhooks: { primary: { url: receiver.url } } })
  const { accessKeyId: accessKey, secretAccessKey: secretKey } = server.credentials
  client = new Client({
    endPoint: '127.0.0.1',
    port: server.port,
    useSSL: false,
    accessKey,
    secretKey,
    partSize: 5 * MiB,
  })
})
afterAll(async () => {
  await server.close()
  await receiver[Symbol.asyncDispose]()
})

it('makes, finds, lists and removes buckets', async () => {
  await client.makeBucket('made-by-minio', 'eu-central-1')
  expect(await client.bucketExists('made-by-minio')).toBe(true)
  expect(await client.bucketExists('never-made')).toBe(false)
  expect((await client.listBuckets()).map(({ name }) => name)).toEqual(['bucket', 'made-by-minio'])
  await client.removeBucket('made-by-minio')
})

it('puts and gets an object with its metadata', async () => {
  await client.putObject('bucket', 'small/ключ', Buffer.from('data'), 4, {
    'Content-Type': 'text/plain',
    color: 'blue',
  })
  expect((await buffer(await client.getObject('bucket', 'small/ключ'))).toString()).toBe('data')
  expect((await buffer(await client.getPartialObject('bucket', 'small/ключ', 1, 2))).toString()).toBe('at')
  expect(await client.statObject('bucket', 'small/ключ')).toMatchObject({
    size: 4,
    metaData: { 'content-type': 'text/plain', color: 'blue' },
  })
})

it('uploads a stream of unknown length in parts', async () => {
  const body = patternBytes(7, 11 * MiB + 3)
  await client.putObject('bucket', 'streamed', Readable.from([body.subarray(0, MiB), body.subarray(MiB)]))
  expect((await buffer(await client.getObject('bucket', 'streamed'))).equals(body)).toBe(true)
})

it('copies, lists and removes many', async () => {
  for (const name of ['list/a', 'list/b', 'list/c/d']) await client.putObject('bucket', name, Buffer.from(name))
  await client.copyObject('bucket', 'list/copy', '/bucket/list/a')
  const found: (string | undefined)[] = []
  for await (const item of client.listObjectsV2('bucket', 'list/', false)) found.push(item.name ?? item.prefix)
  expect(found.toSorted()).toEqual(['list/a', 'list/b', 'list/c/', 'list/copy'])
  await client.removeObjects('bucket', ['list/a', 'list/b', 'list/c/d', 'list/copy'])
  const left: unknown[] = []
  for await (const item of client.listObjects('bucket', 'list/', true)) left.push(item)
  expect(left).toEqual([])
})

it('keeps tags, and presigns', async () => {
  await client.putObject('bucket', 'tagged', Buffer.from('t'))
  await client.setObjectTagging('bucket', 'tagged', { a: 'b' })
  expect(await client.getObjectTagging('bucket', 'tagged')).toEqual([{ Key: 'a', Value: 'b' }])
  const put = await client.presignedPutObject('bucket', 'presigned', 60)
  expect((await fetch(put, { method: 'PUT', body: 'by url' })).status).toBe(200)
  expect(await (await fetch(await client.presignedGetObject('bucket', 'presigned', 60))).text()).toBe('by url')
})

it('sets, shows and removes lifecycle rules', async () => {
  const Rule = [{ ID: 'old', Status: 'Enabled', Filter: { Prefix: 'logs/' }, Expiration: { Days: 30 } }]
  await client.setBucketLifecycle('bucket', { Rule })
  expect(await client.getBucketLifecycle('bucket')).toMatchObject({
    Rule: { ID: 'old', Status: 'Enabled', Filter: { Prefix: 'logs/' }, Expiration: { Days: 30 } },
  })
  await client.removeBucketLifecycle('bucket')
  await expect(client.getBucketLifecycle('bucket')).rejects.toThrow('lifecycle')
})

it('asks to be told of events', async () => {
  const queue = new QueueConfig(buildARN('minio', 'sqs', '', 'primary', 'webhook'))
  queue.addFilterPrefix('in/')
  queue.addFilterSuffix('.jpg')
  queue.addEvent(ObjectCreatedAll)
  const config = new NotificationConfig()
  config.add(queue)
  await client.setBucketNotification('bucket', config)
  expect(await client.getBucketNotification('bucket')).toMatchObject({
    QueueConfiguration: [{ Queue: 'arn:minio:sqs::primary:webhook', Event: ['s3:ObjectCreated:*'] }],
  })
  for (const key of ['in/a.png', 'in/a.jpg']) await client.putObject('bucket', key, Buffer.from('a'))
  await receiver.until((taken) => taken.some(({ message }) => message.Key === 'bucket/in/a.jpg'))
  await client.removeAllBucketNotification('bucket')
  expect(await client.getBucketNotification('bucket')).toMatchObject({ QueueConfiguration: [] })
  expect(receiver.taken.map(({ message }) => message.Key ?? message.Event)).not.toContain('bucket/in/a.png')
})

it('lists and removes an upload that was left', async () => {
  await client.initiateNewMultipartUpload('bucket', 'left', {})
  await client.removeIncompleteUpload('bucket', 'left')
  const left: unknown[] = []
  for await (const upload of client.listIncompleteUploads('bucket', '', true)) left.push(upload)
  expect(left).toEqual([])
})
