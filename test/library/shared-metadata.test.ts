/** Servers of the library that share metadata in PostgreSQL, and options that the library refuses by name. */
import { join } from 'node:path'
import {
  GetObjectCommand,
  ListObjectsV2Command,
  PutBucketNotificationConfigurationCommand,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Server, type StartOptions, startServer } from '../../src/index.ts'
import { openWorkplace } from '../cli/workplace.ts'
import { openEventReceiver } from '../support/event-receiver.ts'
import { describeInstalled } from '../support/installed.ts'
import { PostgresServer, postgresProbe } from '../support/postgres.ts'
import { sharedServerOptions } from '../support/shared-server.ts'

const credentials = { accessKeyId: 'library-key', secretAccessKey: 'canary-secret-of-tests' }
const keyRing = `sse-s3 ${Buffer.alloc(32, 1).toString('base64')},aws/s3 ${Buffer.alloc(32, 2).toString('base64')}`
const Bucket = 'photos'

describeInstalled('servers of the library over PostgreSQL', [postgresProbe], () => {
  const place = openWorkplace('library')
  let postgres: PostgresServer
  let databases = 0
  beforeAll(async () => {
    postgres = await PostgresServer.start()
  })
  afterAll(() => postgres?.remove())
  const optionsOf = (url: string, host: string): StartOptions => sharedServerOptions(url, place.path(), host)
  const clientOf = (server: Server): S3Client => new S3Client({ ...server.clientConfig(), maxAttempts: 1 })

  it('share buckets and objects, know each other, and leave the data to those who stay', async () => {
    const url = await postgres.database(`library${++databases}`)
    await using a = await startServer({ ...optionsOf(url, 'a'), buckets: [Bucket] })
    const [one, other] = await (async () => {
      await using b = await startServer(optionsOf(url, 'b'))
      const clients = [clientOf(a), clientOf(b)] as const
      await clients[1].send(new PutObjectCommand({ Bucket, Key: 'k', Body: 'of b' }))
      return clients
    })()
    const { Body } = await one.send(new GetObjectCommand({ Bucket, Key: 'k' }))
    expect(await Body?.transformToString()).toBe('of b')
    await expect(a.reset()).rejects.toThrow('other servers')
    expect((await one.send(new ListObjectsV2Command({ Bucket }))).KeyCount).toBe(1)
    one.destroy()
    other.destroy()
  })

  it('tell webhooks of what any of them changes, also when one of them ends', async () => {
    await using receiver = await openEventReceiver()
    const url = await postgres.database(`library${++databases}`)
    const withWebhook = (host: string) => ({ ...optionsOf(url, host), webhooks: { primary: { url: receiver.url } } })
    await using b = await (async () => {
      await using a = await startServer({ ...withWebhook('a'), buckets: [Bucket] })
      const b = await startServer(withWebhook('b'))
      const [one, other] = [clientOf(a), clientOf(b)]
      const QueueConfigurations = [{ QueueArn: 'arn:aws:sqs:::primary', Events: ['s3:ObjectCreated:*' as const] }]
      await one.send(
        new PutBucketNotificationConfigurationCommand({ Bucket, NotificationConfiguration: { QueueConfigurations } }),
      )
      await one.send(new PutObjectCommand({ Bucket, Key: 'of a', Body: '' }))
      await other.send(new PutObjectCommand({ Bucket, Key: 'of b', Body: '' }))
      one.destroy()
      other.destroy()
      return b
    })()
    const last = clientOf(b)
    await last.send(new PutObjectCommand({ Bucket, Key: 'later', Body: '' }))
    last.destroy()
    const told = () => new Set(receiver.taken.map(({ message }) => message.Key ?? message.Event))
    await receiver.until(() => told().size === 4)
    expect(told()).toEqual(new Set(['s3:TestEvent', `${Bucket}/of a`, `${Bucket}/of b`, `${Bucket}/later`]))
  })

  it('need a key that all of them have, and a directory of their own', async () => {
    const url = await postgres.database(`library${++databases}`)
    const { credentials: _, ...keyless } = optionsOf(url, 'a')
    await expect(startServer(keyless)).rejects.toThrow('credentials: ')
    const { data: __, ...homeless } = optionsOf(url, 'a')
    await expect(startServer(homeless)).rejects.toThrow('data: ')
    const { stores, locations, defaultLocation, ...placeless } = optionsOf(url, 'a')
    await expect(startServer(placeless)).rejects.toThrow('[locations.shared]')
  })
})

describe('options of the library', () => {
  const refused = (options: object): Promise<unknown> => startServer(options as StartOptions)

  it.each([
    [{ bucket: ['a'] }, "bucket: there is no such option; did you mean 'buckets'?"],
    [{ regoin: 'eu-west-1' }, "did you mean 'region'?"],
    [{ metadata: { type: 'mysql', url: 'x' } }, 'metadata.type'],
    [{ metadata: { type: 'postgres', uri: 'x' } }, 'metadata.uri: there is no such option'],
    [{ data: 'd', credentials, metadata: { type: 'postgres', url: 'http://canary@x' } }, 'metadata.url: expects a URL'],
    [
      { data: 'd', credentials, metadata: { type: 'postgres', url: 'postgres://h/x', connections: 1 } },
      'metadata.connections',
    ],
    [{ data: 'd', stores: { a: { type: 'directory', place: '/x' } } }, 'stores.a'],
    [{ data: 'd', defaultLocation: 'far' }, "there is no location 'far'"],
    [{ data: 'd', stores: { a: { type: 'directory', path: join('d', 'in') } } }, 'overlap: one contains the other'],
    [{ keyRing }, 'keyRing: needs data'],
    [{ data: 5 }, 'data: expects a text, not 5'],
    [{ region: 3 }, 'region: expects a text, not 3'],
    [{ tls: true }, 'tls.cert: expects a text, not undefined'],
  ])('%j is refused by name', async (options, message) => {
    const error = await refused(options).then(
      () => undefined,
      (thrown: Error) => thrown,
    )
    expect(error).toMatchObject({ name: 'ConfigurationError', message: expect.stringContaining(message) })
    expect(error?.message).not.toContain('canary')
  })
})
