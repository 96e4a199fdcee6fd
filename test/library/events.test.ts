/** What buckets tell webhooks of, end to end: the AWS SDK asks, and an HTTP server hears. */
import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  DeleteObjectTaggingCommand,
  type Event,
  ListObjectVersionsCommand,
  PutBucketNotificationConfigurationCommand,
  PutBucketOwnershipControlsCommand,
  PutBucketVersioningCommand,
  PutObjectAclCommand,
  PutObjectCommand,
  PutObjectTaggingCommand,
  type QueueConfiguration,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Server, startServer } from '../../src/index.ts'
import { known } from '../../src/known.ts'
import { type EventReceiver, type EventRecord, openEventReceiver } from '../support/event-receiver.ts'

const Bucket = 'photos'
const everything: Event[] = ['s3:ObjectCreated:*', 's3:ObjectRemoved:*', 's3:ObjectTagging:*', 's3:ObjectAcl:Put']
const QueueArn = 'arn:aws:sqs:us-east-1:123456789012:primary'

let receiver: EventReceiver
let server: Server
let s3: S3Client

beforeEach(async () => {
  receiver = await openEventReceiver()
  const webhooks = { primary: { url: receiver.url, token: 'a-token-of-the-tests' } }
  server = await startServer({ buckets: [Bucket], region: 'eu-central-1', webhooks })
  s3 = new S3Client({ ...server.clientConfig(), maxAttempts: 1 })
})
afterEach(async () => {
  s3.destroy()
  await server.close()
  await receiver[Symbol.asyncDispose]()
})

async function tell(...rules: Partial<QueueConfiguration>[]): Promise<void> {
  const QueueConfigurations = rules.map((rule) => ({ QueueArn, Events: everything, ...rule }))
  const SkipDestinationValidation = true
  const NotificationConfiguration = { QueueConfigurations }
  await s3.send(
    new PutBucketNotificationConfigurationCommand({ Bucket, NotificationConfiguration, SkipDestinationValidation }),
  )
}
const version = (Status: 'Enabled' | 'Suspended') =>
  s3.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status } }))
const put = (Key: string, Body = Key) => s3.send(new PutObjectCommand({ Bucket, Key, Body }))

/** The records of all events, once there are so many. Two of the same time can come in any order. */
async function records(count: number): Promise<EventRecord[]> {
  await receiver.until((taken) => taken.length >= count)
  return receiver.taken
    .map(({ message }) => known(message.Records)[0])
    .sort((one, other) => (one.s3.object.sequencer < other.s3.object.sequencer ? -1 : 1))
}
const names = async (count: number): Promise<string[]> =>
  (await records(count)).map(({ eventName, s3: { object } }) => `${eventName} ${object.key}`)

describe('a bucket that tells everything', () => {
  it('says what S3 says of an event', async () => {
    await tell({ Id: 'all' })
    const { ETag, $metadata } = await put('a folder/ü+1.jpg', 'hello')
    const [record] = await records(1)
    expect(record).toEqual({
      eventVersion: '2.1',
      eventSource: 'aws:s3',
      awsRegion: 'eu-central-1',
      eventTime: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      eventName: 'ObjectCreated:Put',
      userIdentity: { principalId: 'main' },
      requestParameters: { sourceIPAddress: '127.0.0.1' },
      responseElements: { 'x-amz-request-id': $metadata.requestId },
      s3: {
        s3SchemaVersion: '1.0',
        configurationId: 'all',
        bucket: { name: Bucket, ownerIdentity: { principalId: 'main' }, arn: `arn:aws:s3:::${Bucket}` },
        object: {
          key: 'a+folder/%C3%BC%2B1.jpg',
          size: 5,
          eTag: JSON.parse(known(ETag)),
          sequencer: expect.stringMatching(/^[0-9A-F]{16}$/),
        },
      },
    })
    const [{ headers, message }] = receiver.taken as [(typeof receiver.taken)[0]]
    expect(headers).toMatchObject({ authorization: 'Bearer a-token-of-the-tests', 'content-type': 'application/json' })
    expect([message.EventName, message.Key]).toEqual(['s3:ObjectCreated:Put', `${Bucket}/a folder/ü+1.jpg`])
  })

  it('names what made and removed an object', async () => {
    const OwnershipControls = { Rules: [{ ObjectOwnership: 'ObjectWriter' as const }] }
    await s3.send(new PutBucketOwnershipControlsCommand({ Bucket, OwnershipControls }))
    await tell({})
    await put('put')
    await s3.send(new CopyObjectCommand({ Bucket, Key: 'copy', CopySource: `${Bucket}/put` }))
    const { UploadId } = await s3.send(new CreateMultipartUploadCommand({ Bucket, Key: 'parts' }))
    const part = { Bucket, Key: 'parts', UploadId, PartNumber: 1 }
    const { ETag } = await s3.send(new UploadPartCommand({ ...part, Body: 'part' }))
    const complete = new CompleteMultipartUploadCommand({
      ...part,
      MultipartUpload: { Parts: [{ ETag, PartNumber: 1 }] },
    })
    await s3.send(complete)
    // It is complete already, and tells nothing new.
    await s3.send(complete)
    const tagged = { Bucket, Key: 'put' }
    await s3.send(new PutObjectTaggingCommand({ ...tagged, Tagging: { TagSet: [{ Key: 'a', Value: 'b' }] } }))
    await s3.send(new DeleteObjectTaggingCommand(tagged))
    // Neither of them changes anything.
    await s3.send(new DeleteObjectTaggingCommand(tagged))
    await s3.send(new PutObjectAclCommand({ ...tagged, ACL: 'private' }))
    await s3.send(new PutObjectAclCommand({ ...tagged, ACL: 'public-read' }))
    await s3.send(new DeleteObjectCommand(tagged))
    const Objects = ['copy', 'parts', 'none'].map((Key) => ({ Key }))
    await s3.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }))
    const all = await names(9)
    expect(all.slice(0, 7)).toEqual([
      'ObjectCreated:Put put',
      'ObjectCreated:Copy copy',
      'ObjectCreated:CompleteMultipartUpload parts',
      'ObjectTagging:Put put',
      'ObjectTagging:Delete put',
      'ObjectAcl:Put put',
      'ObjectRemoved:Delete put',
    ])
    expect(all.slice(7).sort()).toEqual(['ObjectRemoved:Delete copy', 'ObjectRemoved:Delete parts'])
  })

  it('tells of markers and of versions by their ids', async () => {
    await tell({})
    await version('Enabled')
    const made = await put('key')
    const marked = await s3.send(new DeleteObjectCommand({ Bucket, Key: 'key' }))
    for (const { VersionId } of [marked, made])
      await s3.send(new DeleteObjectCommand({ Bucket, Key: 'key', VersionId }))
    const told = (await records(4)).map(({ eventName, s3: { object } }) => [eventName, object.versionId])
    expect(told.slice(0, 2)).toEqual([
      ['ObjectCreated:Put', made.VersionId],
      ['ObjectRemoved:DeleteMarkerCreated', marked.VersionId],
    ])
    expect(told.slice(2)).toEqual(
      expect.arrayContaining([
        ['ObjectRemoved:Delete', marked.VersionId],
        ['ObjectRemoved:Delete', made.VersionId],
      ]),
    )
  })

  it('tells nothing of what is refused, nor of what was not there', async () => {
    await tell({})
    await put('key')
    await expect(s3.send(new PutObjectCommand({ Bucket, Key: 'key', Body: 'b', IfNoneMatch: '*' }))).rejects.toThrow()
    await expect(
      s3.send(new PutObjectCommand({ Bucket, Key: 'key', Body: 'b', ContentMD5: 'AAAAAAAAAAAAAAAAAAAAAA==' })),
    ).rejects.toThrow()
    await s3.send(new DeleteObjectCommand({ Bucket, Key: 'none' }))
    await put('last')
    expect(await names(2)).toEqual(['ObjectCreated:Put key', 'ObjectCreated:Put last'])
  })

  it('says so once to a webhook that it did not name before', async () => {
    const QueueConfigurations = (['s3:ObjectCreated:*', 's3:ObjectRemoved:*'] as const).map((event) => ({
      QueueArn,
      Events: [event],
    }))
    const NotificationConfiguration = { QueueConfigurations }
    const ask = new PutBucketNotificationConfigurationCommand({ Bucket, NotificationConfiguration })
    for (let times = 0; times < 3; times++) await s3.send(ask)
    await put('key')
    await receiver.until((taken) => taken.length >= 2)
    expect(receiver.taken.map(({ message }) => message.Event ?? message.EventName)).toEqual([
      's3:TestEvent',
      's3:ObjectCreated:Put',
    ])
    expect(receiver.taken[0]?.message).toMatchObject({ Service: 'Amazon S3', Bucket })
  })

  it('orders the events of a key, however fast they come', async () => {
    await tell({})
    const keys = Array.from({ length: 20 }, (_, i) => `${i}`)
    await Promise.all(
      keys.map(async (Key) => {
        for (let times = 0; times < 4; times++) {
          await put(Key)
          await s3.send(new DeleteObjectCommand({ Bucket, Key }))
        }
        await put(Key)
      }),
    )
    const all = await records(keys.length * 9)
    expect(new Set(all.map(({ s3: { object } }) => object.sequencer)).size).toBe(all.length)
    for (const key of keys) {
      const told = all.filter(({ s3: { object } }) => object.key === key).map(({ eventName }) => eventName)
      expect(told).toEqual(
        Array.from({ length: 9 }, (_, i) => `ObjectCreated:Put ObjectRemoved:Delete`.split(' ')[i % 2]),
      )
    }
  })
})

describe('rules', () => {
  it('choose by event, prefix and suffix', async () => {
    const filter = (...FilterRules: { Name: 'prefix' | 'suffix'; Value: string }[]) => ({ Key: { FilterRules } })
    await tell(
      {
        Id: 'jpg',
        Events: ['s3:ObjectCreated:Put'],
        Filter: filter({ Name: 'prefix', Value: 'in/' }, { Name: 'suffix', Value: '.jpg' }),
      },
      { Id: 'gone', Events: ['s3:ObjectRemoved:*'] },
    )
    for (const key of ['in/a.jpg', 'in/a.png', 'out/a.jpg', 'in/.jpg']) await put(key)
    await s3.send(new CopyObjectCommand({ Bucket, Key: 'in/c.jpg', CopySource: `${Bucket}/in/a.jpg` }))
    await s3.send(new DeleteObjectCommand({ Bucket, Key: 'out/a.jpg' }))
    const told = (await records(3)).map(({ s3: { configurationId, object } }) => `${configurationId} ${object.key}`)
    expect(told).toEqual(['jpg in/a.jpg', 'jpg in/.jpg', 'gone out/a.jpg'])
  })

  it('end when they are removed, and concern their own bucket', async () => {
    await s3.send(new CreateBucketCommand({ Bucket: 'other' }))
    await tell({})
    await s3.send(new PutObjectCommand({ Bucket: 'other', Key: 'other', Body: '' }))
    await put('one')
    await tell()
    await put('two')
    await tell({})
    await put('three')
    expect(await names(2)).toEqual(['ObjectCreated:Put one', 'ObjectCreated:Put three'])
  })
})

describe('whoever follows all events', () => {
  type Step = { do: 'put' | 'delete' | 'remove'; key: string } | { do: 'version'; status: 'Enabled' | 'Suspended' }
  const key = fc.constantFrom('a', 'b', 'c')
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ do: fc.constant('put' as const), key }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('delete' as const, 'remove' as const), key }) },
    fc.record({
      do: fc.constant('version' as const),
      status: fc.constantFrom('Enabled' as const, 'Suspended' as const),
    }),
  )

  const versionsOf = async () => {
    const { Versions = [], DeleteMarkers = [] } = await s3.send(new ListObjectVersionsCommand({ Bucket }))
    return { Versions, DeleteMarkers }
  }
  async function take(one: Step): Promise<number> {
    if (one.do === 'version') {
      await version(one.status)
      return 0
    }
    if (one.do === 'put') {
      await put(one.key, String(Math.random()))
      return 1
    }
    const { Versions, DeleteMarkers } = await versionsOf()
    const own = [...Versions, ...DeleteMarkers].filter(({ Key }) => Key === one.key)
    if (one.do === 'delete') {
      await s3.send(new DeleteObjectCommand({ Bucket, Key: one.key }))
      return 1
    }
    const VersionId = own[0]?.VersionId
    if (VersionId === undefined) return 0
    await s3.send(new DeleteObjectCommand({ Bucket, Key: one.key, VersionId }))
    return 1
  }

  it('knows which versions there are', async () => {
    await version('Enabled')
    await tell({})
    let count = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        for (const one of steps) count += await take(one)
        const all = await records(count)
        expect(all).toHaveLength(count)
        // The null version is replaced, which tells only of the new one.
        const followed = new Map<string, string>()
        for (const {
          eventName,
          s3: { object },
        } of all) {
          const name = `${object.key} ${object.versionId}`
          if (eventName === 'ObjectRemoved:Delete') followed.delete(name)
          else followed.set(name, eventName === 'ObjectRemoved:DeleteMarkerCreated' ? 'marker' : known(object.eTag))
        }
        const { Versions, DeleteMarkers } = await versionsOf()
        const there = new Map([
          ...Versions.map(({ Key, VersionId, ETag }) => [`${Key} ${VersionId}`, JSON.parse(known(ETag))] as const),
          ...DeleteMarkers.map(({ Key, VersionId }) => [`${Key} ${VersionId}`, 'marker'] as const),
        ])
        expect(followed).toEqual(there)
      }),
      { numRuns: 15 },
    )
  })
})
