/** Access logs end to end: what clients did with a bucket, as the objects of another bucket tell it. */
import { once } from 'node:events'
import { get } from 'node:http'
import {
  CopyObjectCommand,
  CreateBucketCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutBucketLoggingCommand,
  PutBucketPolicyCommand,
  PutBucketWebsiteCommand,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Server, startServer } from '../../src/index.ts'

const Bucket = 'photos'
const logs = 'logs'
const owner = 'main'

let server: Server
let s3: S3Client
let warnings: string[]

beforeEach(async () => {
  warnings = []
  const ignore = (): void => {}
  const warn = (...parts: unknown[]): void => void warnings.push(parts.map(String).join(' '))
  const log = { level: 'warn', isLevelEnabled: () => false, debug: ignore, info: ignore, warn, error: warn }
  server = await startServer({ buckets: [Bucket, logs], websiteDomains: ['web.test'], log })
  s3 = clientOf(server.credentials)
  await logTo(logs)
})
afterEach(async () => {
  s3.destroy()
  await server.close()
})

const clientOf = (credentials: Server['credentials']): S3Client =>
  new S3Client({ ...server.clientConfig(), credentials: { ...credentials }, maxAttempts: 1 })
const logTo = (TargetBucket: string, client = s3) =>
  client.send(
    new PutBucketLoggingCommand({
      Bucket,
      BucketLoggingStatus: { LoggingEnabled: { TargetBucket, TargetPrefix: 'log/' } },
    }),
  )

async function userWhoMay(...Action: string[]): Promise<S3Client> {
  const { users, keys } = server.identities
  await users.create(owner, { name: 'ann' })
  const document = JSON.stringify({ Version: '2012-10-17', Statement: [{ Effect: 'Allow', Action, Resource: '*' }] })
  await users.putInlinePolicy(owner, 'ann', { name: 'may', document })
  return clientOf(await keys.add({ accountId: owner, user: 'ann' }))
}

/** Fields of a line. Those in quotes or brackets are one each. */
const fieldsOf = (line: string): string[] => line.match(/"[^"]*"|\[[^\]]*\]|\S+/g) ?? []

/** All lines so far. */
async function lines(): Promise<string[]> {
  const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket: logs, Prefix: 'log/' }))
  const texts = Contents.map(async ({ Key }) => {
    const { Body } = await s3.send(new GetObjectCommand({ Bucket: logs, Key }))
    return (await Body?.transformToString()) ?? ''
  })
  return (await Promise.all(texts)).join('').split('\n').slice(0, -1)
}

/** The lines of one operation, once there are as many. */
async function linesOf(operation: string, count = 1): Promise<string[][]> {
  const found = async () => (await lines()).map(fieldsOf).filter((fields) => fields[6] === operation)
  await expect.poll(async () => (await found()).length, { timeout: 60_000, interval: 100 }).toBe(count)
  return found()
}

const put = (Key: string, Body = 'hello') => s3.send(new PutObjectCommand({ Bucket, Key, Body }))

describe('the access log of a bucket', () => {
  it('has a line with 27 fields for each request, as S3 writes them', async () => {
    await put('a b/ü"\n.txt')
    const [fields = []] = await linesOf('REST.PUT.OBJECT')
    const [bucketOwner, bucket, time, remote, requester, requestId, , key, uri, status, code, ...rest] = fields
    expect(fields).toHaveLength(27)
    expect([bucketOwner, bucket, remote, requester]).toEqual([owner, Bucket, '127.0.0.1', owner])
    expect(time).toMatch(/^\[\d\d\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d \+0000\]$/)
    expect(requestId).toMatch(/^[0-9A-F]{16}$/)
    expect(key).toBe('a%20b/%C3%BC%22%0A.txt')
    expect(uri).toBe('"PUT /photos/a%20b/%C3%BC%22%0A.txt?x-id=PutObject HTTP/1.1"')
    expect([status, code]).toEqual(['200', '-'])
    const [sent, size, total, turnaround, referer, agent, version, hostId, signature, cipher, form, host] = rest
    expect([sent, size, referer, version]).toEqual(['-', '5', '"-"', '-'])
    expect([total, turnaround].every((ms) => /^\d+$/.test(ms ?? ''))).toBe(true)
    expect(agent).toContain('aws-sdk-js/')
    expect(hostId).not.toBe('-')
    expect([signature, cipher, form, host]).toEqual(['SigV4', '-', 'AuthHeader', `127.0.0.1:${server.port}`])
    expect(rest.slice(12)).toEqual(['-', '-', '-', server.region])
  })

  it('tells the size of an object and of what was sent of it', async () => {
    await put('a', '0123456789')
    const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key: 'a', Range: 'bytes=2-4' }))
    await Body?.transformToString()
    const [fields = []] = await linesOf('REST.GET.OBJECT')
    expect(fields.slice(9, 13)).toEqual(['206', '-', '3', '10'])
  })

  it('does not let its readers repeat a presigned request', async () => {
    const url = await getSignedUrl(s3, new GetObjectCommand({ Bucket, Key: 'a' }))
    await put('a')
    await (await fetch(url.replace('X-Amz-Signature', 'X-Amz-Signatur%65'))).arrayBuffer()
    const [fields = []] = await linesOf('REST.GET.OBJECT')
    expect(fields[9]).toBe('200')
    expect(fields[8]).toContain('X-Amz-Signatur%65=-&')
    expect(fields.join(' ')).not.toContain(new URL(url).searchParams.get('X-Amz-Signature'))
    expect(fields[21]).toBe('QueryString')
  })

  it('has refused requests, with their errors, and who was not known as a dash', async () => {
    await put('a')
    const forged = clientOf({ ...server.credentials, secretAccessKey: 'x'.repeat(40) })
    await expect(forged.send(new ListObjectsV2Command({ Bucket }))).rejects.toThrow()
    forged.destroy()
    await (await fetch(`${server.endpoint}/${Bucket}/secret`)).arrayBuffer()
    const [listed = []] = await linesOf('REST.GET.BUCKET')
    expect([listed[4], listed[9], listed[10]]).toEqual(['-', '403', 'SignatureDoesNotMatch'])
    const [got = []] = await linesOf('REST.GET.OBJECT')
    expect([got[4], got[7], got[9], got[10]]).toEqual(['-', 'secret', '403', 'AccessDenied'])
  })

  it('has a line for each object that DeleteObjects names, deleted or not', async () => {
    await put('a')
    const Objects = [{ Key: 'a' }, { Key: 'b', ETag: '"0"' }]
    await s3.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects, Quiet: true } }))
    const deleted = await linesOf('BATCH.DELETE.OBJECT', 2)
    expect(deleted.map((fields) => [fields[7], fields[8], fields[9], fields[10]])).toEqual([
      ['a', '-', '204', '-'],
      ['b', '-', '404', 'NoSuchKey'],
    ])
    expect(await linesOf('REST.POST.MULTI_OBJECT_DELETE')).toHaveLength(1)
  })

  it('tells of a copy at its source, too', async () => {
    await s3.send(new CreateBucketCommand({ Bucket: 'copies' }))
    await put('a ä')
    await s3.send(
      new CopyObjectCommand({ Bucket: 'copies', Key: 'b', CopySource: `${Bucket}/${encodeURIComponent('a ä')}` }),
    )
    const [fields = []] = await linesOf('REST.COPY.OBJECT_GET')
    expect([fields[1], fields[7], fields[9]]).toEqual([Bucket, 'a%20%C3%A4', '200'])
  })

  it('names a user by the ARN, and visitors of a website by nothing', async () => {
    const ann = await userWhoMay('s3:GetObject')
    await put('index.html')
    await ann.send(new GetObjectCommand({ Bucket, Key: 'index.html' }))
    ann.destroy()
    const [read = []] = await linesOf('REST.GET.OBJECT')
    expect(read[4]).toBe(`arn:aws:iam::${owner}:user/ann`)
    await s3.send(
      new PutBucketWebsiteCommand({ Bucket, WebsiteConfiguration: { IndexDocument: { Suffix: 'index.html' } } }),
    )
    // `fetch` sends no Host of one's own.
    const [visited] = await once(get(server.endpoint, { headers: { host: `${Bucket}.web.test` } }), 'response')
    visited.resume()
    const [visit = []] = await linesOf('WEBSITE.GET.OBJECT')
    expect(visit[4]).toBe('-')
  })

  it('cannot be forged by what a request says of itself', async () => {
    const headers = { 'user-agent': 'x" 200 - "y', referer: 'http://a/"\t"b' }
    await (await fetch(`${server.endpoint}/${Bucket}/a?x="z`, { headers })).arrayBuffer()
    const [fields = []] = await linesOf('REST.GET.OBJECT')
    expect(fields).toHaveLength(27)
    expect(fields.slice(15, 17)).toEqual(['"http://a/%22%09%22b"', '"x%22 200 - %22y"'])
  })

  it('says nothing of its own objects, also where a bucket logs to itself', async () => {
    await s3.send(
      new PutBucketLoggingCommand({
        Bucket: logs,
        BucketLoggingStatus: { LoggingEnabled: { TargetBucket: logs, TargetPrefix: 'own/' } },
      }),
    )
    await put('a')
    await linesOf('REST.PUT.OBJECT')
    const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket: logs, Prefix: 'log/' }))
    expect((await lines()).join('\n')).not.toContain(Contents[0]?.Key)
  })
})

describe('the target of an access log', () => {
  const serviceArn = { Service: 'logging.s3.amazonaws.com' }
  const allow = (Principal: object, Effect: 'Allow' | 'Deny', Condition?: object) =>
    s3.send(
      new PutBucketPolicyCommand({
        Bucket: logs,
        Policy: JSON.stringify({
          Version: '2012-10-17',
          Statement: [
            {
              Effect,
              Principal,
              Action: 's3:PutObject',
              Resource: `arn:aws:s3:::${logs}/log/*`,
              ...(Condition && { Condition }),
            },
          ],
        }),
      }),
    )
  const fromSource = {
    ArnLike: { 'aws:SourceArn': `arn:aws:s3:::${Bucket}` },
    StringEquals: { 'aws:SourceAccount': owner },
  }

  it('must let the service write, or the sender', async () => {
    const ann = await userWhoMay('s3:PutBucketLogging')
    await expect(logTo(logs, ann)).rejects.toThrow('not authorized to perform: s3:PutObject')
    await allow(serviceArn, 'Allow', fromSource)
    await expect(logTo(logs, ann)).resolves.toBeDefined()
    ann.destroy()
  })

  it('gets no log that its policy denies to the service', async () => {
    await put('a')
    await linesOf('REST.PUT.OBJECT')
    await allow(serviceArn, 'Deny', fromSource)
    await put('b')
    await expect.poll(() => warnings.join('\n'), { timeout: 60_000 }).toContain('lines lost')
    expect((await linesOf('REST.PUT.OBJECT')).map((fields) => fields[7])).toEqual(['a'])
    await expect(logTo(logs)).rejects.toThrow('denies s3:PutObject to the service logging.s3.amazonaws.com')
  })

  it("cannot be another account's", async () => {
    await server.identities.accounts.create({ id: 'other' })
    const other = clientOf(await server.identities.keys.add({ accountId: 'other' }))
    await other.send(new CreateBucketCommand({ Bucket: 'elsewhere' }))
    other.destroy()
    await expect(logTo('elsewhere')).rejects.toThrow('must be the same')
  })
})
