/** Imports between two servers, end to end: what arrives is read with the AWS SDK. */
import { hash } from 'node:crypto'
import {
  CompleteMultipartUploadCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  PutBucketCorsCommand,
  PutBucketLifecycleConfigurationCommand,
  PutBucketPolicyCommand,
  PutBucketTaggingCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  type PutObjectCommandInput,
  PutObjectLegalHoldCommand,
  PutObjectLockConfigurationCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type FaultProxy, openFaultProxy } from '../stores/s3/fault-proxy.ts'
import { patternBytes } from '../support/seeded.ts'
import { contentsOf, type ImportWorld, listedIn, openImportWorld, settingsOf } from './import-world.ts'

const Bucket = 'photos'
const md5 = (data: string | Buffer): string => hash('md5', data, 'base64')
const inAnHour = (): Date => new Date(Date.now() + 3_600_000)

let world: ImportWorld
/** On the way to the server that is filled, and to the one that is read. */
let way: FaultProxy
let wayThere: FaultProxy

beforeEach(async () => {
  world = await openImportWorld({
    target: async (endpoint) => {
      way = await openFaultProxy(endpoint)
      return way.endpoint
    },
    theirs: async (endpoint) => {
      wayThere = await openFaultProxy(endpoint)
      return wayThere.endpoint
    },
  })
})
afterEach(async () => {
  await world[Symbol.asyncDispose]()
  await Promise.all([way.close(), wayThere.close()])
})

const makeBucket = (how: { ObjectLockEnabledForBucket?: boolean } = {}) =>
  world.there.send(new CreateBucketCommand({ Bucket, ...how }))
const version = (Status: 'Enabled' | 'Suspended') =>
  world.there.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status } }))
const put = (Key: string, Body: PutObjectCommandInput['Body'], how: Partial<PutObjectCommandInput> = {}) =>
  world.there.send(new PutObjectCommand({ Bucket, Key, Body, ...how }))
const remove = (Key: string) => world.there.send(new DeleteObjectCommand({ Bucket, Key }))

async function putParts(Key: string, how: { ChecksumAlgorithm?: 'SHA256'; ChecksumType?: 'COMPOSITE' } = {}) {
  const asked = { Bucket, Key }
  const { UploadId } = await world.there.send(new CreateMultipartUploadCommand({ ...asked, ...how }))
  const Parts = []
  for (const PartNumber of [1, 2, 3]) {
    const Body = patternBytes(PartNumber, PartNumber === 3 ? 77 : 5 * 1024 * 1024 + PartNumber)
    const { ETag, ChecksumSHA256 } = await world.there.send(
      new UploadPartCommand({ ...asked, UploadId, PartNumber, Body, ChecksumAlgorithm: how.ChecksumAlgorithm }),
    )
    Parts.push({ PartNumber, ETag, ChecksumSHA256 })
  }
  await world.there.send(new CompleteMultipartUploadCommand({ ...asked, UploadId, MultipartUpload: { Parts } }))
}

async function expectSame(): Promise<void> {
  expect(await contentsOf(world.here, Bucket)).toEqual(await contentsOf(world.there, Bucket))
}

describe('an import of objects', () => {
  beforeEach(() => makeBucket())

  it('takes all that is known of them', async () => {
    const text = { ContentType: 'text/plain; charset=utf-8', ContentLanguage: 'de', ContentEncoding: 'gzip' }
    const more = { CacheControl: 'max-age=5', ContentDisposition: 'inline; filename="a b"', Expires: inAnHour() }
    await put('headers', 'x', { ...text, ...more, StorageClass: 'STANDARD_IA', WebsiteRedirectLocation: '/other' })
    await put('metadata', 'x', { Metadata: { name: 'value', empty: '', spaced: 'a  b' } })
    await put('tags', 'x', { Tagging: 'a=b%20c&d=&%C3%A4=%2B%3D' })
    await put('sha', 'x', { ChecksumAlgorithm: 'SHA256' })
    await put('crc', 'x', { ChecksumAlgorithm: 'CRC64NVME' })
    await put('empty', '')
    await put('large', patternBytes(9, 9 * 1024 * 1024))
    await putParts('parts')
    await putParts('parts with checksums', { ChecksumAlgorithm: 'SHA256', ChecksumType: 'COMPOSITE' })
    for (const key of ['a/b', 'a', '//', '/x/../y', 'a b+c%20%', 'ä€\u{1f600}', 'quote\'"<&>', '.']) await put(key, key)

    expect(await world.import(Bucket)).toMatchObject({ copied: 17, same: 0, failed: 0 })
    expect(world.told).toEqual([])
    await expectSame()
    expect(await world.import(Bucket)).toMatchObject({ copied: 0, same: 17, failed: 0 })
  })

  it('goes on from page to page on both sides', { timeout: 600_000 }, async () => {
    const keys = Array.from({ length: 1_203 }, (_, i) => `dir ${i % 3}/${i}`)
    await Promise.all(keys.map((key) => put(key, key)))
    expect(await world.import(Bucket)).toMatchObject({ copied: 1_203 })
    await remove(keys[600] ?? '')
    await put('dir 1/new', '')
    expect(await world.import(Bucket)).toMatchObject({ copied: 1, same: 1_202 })
    expect(await world.import(Bucket, { deleteMissing: true, dryRun: true })).toMatchObject({ deleted: 1 })
    expect(await world.import(Bucket, { dryRun: true })).toMatchObject({ copied: 0, same: 1_203 })
    expect(await world.import(Bucket, { deleteMissing: true })).toMatchObject({ deleted: 1, same: 1_203 })
    expect(await listedIn(world.here, Bucket)).toEqual(await listedIn(world.there, Bucket))
  })

  it('leaves alone what is newer here, unless it is told to overwrite', async () => {
    await put('both', 'theirs')
    await world.import(Bucket)
    await world.here.send(new PutObjectCommand({ Bucket, Key: 'both', Body: 'ours, and longer' }))
    expect(await world.import(Bucket)).toMatchObject({ copied: 0, newerHere: 1, failed: 0 })
    expect(world.told).toEqual(['both: newer here'])
    expect(await world.import(Bucket, { overwrite: true })).toMatchObject({ copied: 1, newerHere: 0 })
    await expectSame()
  })

  it('copies only keys with a prefix, and writes nothing in a dry run', async () => {
    for (const key of ['a/1', 'a/2', 'b/1']) await put(key, key)
    expect(await world.import(Bucket, { dryRun: true })).toMatchObject({ copied: 3, bytes: 9 })
    await expect(contentsOf(world.here, Bucket)).rejects.toThrow(/does not exist/)
    expect(await world.import(Bucket, { prefix: 'a/' })).toMatchObject({ copied: 2 })
    expect(await contentsOf(world.here, Bucket)).toMatchObject([{ Key: 'a/1' }, { Key: 'a/2' }])
  })

  it('copies settings, those that act on objects last, and leaves settings that are here already', async () => {
    const Statement = [
      { Effect: 'Allow', Principal: '*', Action: 's3:GetObject', Resource: `arn:aws:s3:::${Bucket}/*` },
    ]
    const Policy = JSON.stringify({ Version: '2012-10-17', Statement })
    await world.there.send(new PutBucketPolicyCommand({ Bucket, Policy }))
    const CORSRules = [{ AllowedMethods: ['GET'], AllowedOrigins: ['https://example.com'] }]
    await world.there.send(new PutBucketCorsCommand({ Bucket, CORSConfiguration: { CORSRules } }))
    await world.there.send(new PutBucketTaggingCommand({ Bucket, Tagging: { TagSet: [{ Key: 'a', Value: 'b' }] } }))
    const Rules = [{ ID: 'tmp', Status: 'Enabled', Filter: { Prefix: 'tmp/' }, Expiration: { Days: 3 } }] as const
    const LifecycleConfiguration = { Rules: [...Rules] }
    await world.there.send(new PutBucketLifecycleConfigurationCommand({ Bucket, LifecycleConfiguration }))
    await put('key', 'x')

    await world.import(Bucket)
    expect(world.told).toEqual([])
    expect(await settingsOf(world.here, Bucket)).toEqual(await settingsOf(world.there, Bucket))
    const order = way.seen.filter((request) => request.startsWith('PUT'))
    expect(order.map((request) => request.split('/')[2] ?? request.split('?')[1])).toMatchObject({
      0: undefined,
      [order.length - 1]: 'lifecycle=',
    })

    await world.here.send(new PutBucketTaggingCommand({ Bucket, Tagging: { TagSet: [{ Key: 'ours', Value: '' }] } }))
    await world.import(Bucket)
    expect(await settingsOf(world.here, Bucket)).toMatchObject({
      tags: { TagSet: [{ Key: 'ours', Value: '' }] },
    })
  })

  it('names a setting that is refused here, and goes on', async () => {
    way.decide((method, url) => (method === 'PUT' && url.includes('?tagging') ? 501 : 'pass'))
    await world.there.send(new PutBucketTaggingCommand({ Bucket, Tagging: { TagSet: [{ Key: 'a', Value: 'b' }] } }))
    await put('key', 'x')
    expect(await world.import(Bucket)).toMatchObject({ copied: 1 })
    expect(world.told).toEqual([expect.stringMatching(/^tags: .*NotImplemented/)])
  })
})

describe('an import of versions', () => {
  it('copies all of them in order, with delete markers, locks and default retention', async () => {
    await makeBucket({ ObjectLockEnabledForBucket: true })
    const digest = { ChecksumAlgorithm: 'CRC32' } as const
    for (const key of ['a', 'b', 'c']) {
      await put(key, 'first')
      await put(key, 'retained', { ...digest, ObjectLockMode: 'COMPLIANCE', ObjectLockRetainUntilDate: inAnHour() })
      await remove(key)
      await put(key, 'held', { ...digest, ObjectLockLegalHoldStatus: 'ON' })
    }
    await remove('b')
    const ObjectLockConfiguration = {
      ObjectLockEnabled: 'Enabled',
      Rule: { DefaultRetention: { Mode: 'GOVERNANCE', Days: 2 } },
    } as const
    await world.there.send(new PutObjectLockConfigurationCommand({ Bucket, ObjectLockConfiguration }))

    expect(await world.import(Bucket)).toMatchObject({ copied: 13, failed: 0 })
    await expectSame()
    expect(await settingsOf(world.here, Bucket)).toEqual(await settingsOf(world.there, Bucket))
    await put('a', 'later', digest)
    await remove('c')
    expect(await world.import(Bucket)).toMatchObject({ copied: 2, same: 1, failed: 0 })
    await expectSame()
  })

  it('copies locked objects of several parts, and large ones whose ETag is not a digest', async () => {
    await makeBucket({ ObjectLockEnabledForBucket: true })
    await putParts('parts', { ChecksumAlgorithm: 'SHA256', ChecksumType: 'COMPOSITE' })
    const hold = { LegalHold: { Status: 'ON' } } as const
    await putParts('parts without checksums')
    for (const Key of ['parts', 'parts without checksums']) {
      await world.there.send(new PutObjectLegalHoldCommand({ Bucket, Key, ...hold, ChecksumAlgorithm: 'CRC32' }))
    }
    const large = patternBytes(7, 9 * 1024 * 1024 + 1)
    const described = { ContentEncoding: 'gzip', Metadata: { a: 'b' } }
    await put('large', large, { ContentMD5: md5(large), ObjectLockLegalHoldStatus: 'ON', ...described })
    expect(await world.import(Bucket, { ignoreEtags: true })).toMatchObject({ copied: 3, failed: 0 })
    expect(world.told).toEqual([])
    const [here, there] = [await contentsOf(world.here, Bucket), await contentsOf(world.there, Bucket)]
    // What was sent with its CRC-32 keeps it.
    const without = ({ ChecksumCRC32: _sum, ChecksumType: _type, ...rest }: Record<string, unknown>) => rest
    expect(here.map(without)).toEqual(there.map(without))
  })

  it('gives a locked object a digest where the ETag of the source is none', async () => {
    await makeBucket({ ObjectLockEnabledForBucket: true })
    await put('a', 'x', { ContentMD5: md5('x'), ObjectLockLegalHoldStatus: 'ON' })
    expect(await world.import(Bucket, { ignoreEtags: true })).toMatchObject({ copied: 1, failed: 0 })
    await expectSame()
  })

  it('leaves out older versions on request', async () => {
    await makeBucket()
    await version('Enabled')
    await put('a', 'first')
    await put('a', 'second')
    await put('b', 'deleted')
    await remove('b')
    expect(await world.import(Bucket, { versions: 'current' })).toMatchObject({ copied: 1 })
    expect(await contentsOf(world.here, Bucket)).toMatchObject([{ Key: 'a', body: 'second' }])
  })

  it('ends with versions suspended where they are, and goes on from there', async () => {
    await makeBucket()
    await version('Enabled')
    await put('a', 'first')
    await version('Suspended')
    await put('a', 'second')
    await world.import(Bucket)
    expect(await settingsOf(world.here, Bucket)).toMatchObject({ versioning: { Status: 'Suspended' } })
    await version('Enabled')
    await put('a', 'third')
    await version('Suspended')
    expect(await world.import(Bucket)).toMatchObject({ copied: 1, failed: 0 })
    await expectSame()
  })

  it('names keys whose versions have no place here, and leaves them as they are', async () => {
    await makeBucket()
    await version('Enabled')
    await put('a', 'theirs')
    await put('b', 'theirs')
    await world.import(Bucket)
    await world.here.send(new PutObjectCommand({ Bucket, Key: 'a', Body: 'ours' }))
    await put('a', 'theirs again')
    const before = await contentsOf(world.here, Bucket)
    expect(await world.import(Bucket)).toMatchObject({ copied: 0, same: 1, failed: 1 })
    expect(world.told).toEqual([expect.stringMatching(/^a: its versions here do not come from the source/)])
    expect(await contentsOf(world.here, Bucket)).toEqual(before)
  })

  it('refuses a bucket here that lacks the lock', async () => {
    await makeBucket({ ObjectLockEnabledForBucket: true })
    await world.here.send(new CreateBucketCommand({ Bucket }))
    await expect(world.import(Bucket)).rejects.toThrow(/has Object Lock, but photos exists here without it/)
  })
})

describe('an import that meets trouble', () => {
  it('never makes a version twice, although answers get lost', async () => {
    await makeBucket()
    await version('Enabled')
    for (const key of ['a', 'b', 'c', 'd']) for (const body of ['1', '1', '2']) await put(key, body)
    await remove('d')
    let asked = 0
    // The request arrives, and every third answer does not.
    way.decide((method) => (method !== 'GET' && method !== 'HEAD' && asked++ % 3 === 1 ? 'cut' : 'pass'))
    expect(await world.import(Bucket)).toMatchObject({ failed: 0 })
    expect(asked).toBeGreaterThan(13)
    await expectSame()
  })

  it('goes on when the source breaks off, in objects of every size', async () => {
    await makeBucket()
    await put('small', 'x'.repeat(100))
    await put('middle', patternBytes(6, 2 * 1024 * 1024))
    await put('large', patternBytes(5, 9 * 1024 * 1024))
    await putParts('parts')
    const asked = new Set<string>()
    wayThere.decide((method, url) => {
      const isFirst = !asked.has(url)
      asked.add(url)
      return method === 'GET' && isFirst && /\/(?:small|middle|large|parts)/.test(url) ? 'cut' : 'pass'
    })
    expect(await world.import(Bucket)).toMatchObject({ copied: 4, failed: 0 })
    await expectSame()
    wayThere.decide((_, url) => (url.includes('/small') ? 'cut' : 'pass'))
    await world.here.send(new DeleteObjectCommand({ Bucket, Key: 'small' }))
    expect(await world.import(Bucket)).toMatchObject({ copied: 0, same: 3, failed: 1 })
  })

  it('never keeps bytes that were altered', async () => {
    await makeBucket()
    await put('small', 'x'.repeat(100))
    await put('large', patternBytes(4, 9 * 1024 * 1024))
    await putParts('parts')
    way.decide((method, url) => (method === 'PUT' && /small|large|partNumber=2/.test(url) ? 'corrupt' : 'pass'))
    expect(await world.import(Bucket)).toMatchObject({ copied: 0, failed: 3 })
    expect(world.told.toSorted()).toEqual([
      expect.stringMatching(/^large: .*BadDigest/),
      expect.stringMatching(/^parts: .*do not have the digest/),
      expect.stringMatching(/^small: .*XAmzContentSHA256Mismatch/),
    ])
    expect(await contentsOf(world.here, Bucket)).toEqual([])
    way.decide(() => 'pass')
    expect(await world.import(Bucket)).toMatchObject({ copied: 3, failed: 0 })
    await expectSame()
  })

  it('waits for a server that is busy', async () => {
    await makeBucket()
    await put('a', 'x')
    let refusals = 2
    way.decide((_, url) => (url.includes('/a') && refusals-- > 0 ? 503 : 'pass'))
    expect(await world.import(Bucket)).toMatchObject({ copied: 1, failed: 0 })
  })
})
