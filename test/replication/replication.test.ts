/** Copies of objects in other buckets, here and on another server, as clients of both see them. */
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  DeleteObjectTaggingCommand,
  GetObjectTaggingCommand,
  ListObjectVersionsCommand,
  PutObjectTaggingCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { describe, expect, it } from 'vitest'
import { patternBytes } from '../support/seeded.ts'
import {
  from,
  head,
  history,
  local,
  openReplicationWorld,
  put,
  read,
  remote,
  replicate,
  ruleTo,
  to,
  whenCopied,
} from './replication-world.ts'

const world = openReplicationWorld()
const destinations = [
  { where: 'a bucket of another server', arn: remote },
  { where: 'a bucket of the same server', arn: local },
]
const target = (arn: string) => (arn === remote ? world.far : world.s3)

async function timesIn(client: S3Client, Bucket: string) {
  const { Versions = [], DeleteMarkers = [] } = await client.send(new ListObjectVersionsCommand({ Bucket }))
  return [...Versions, ...DeleteMarkers].map(({ LastModified }) => LastModified)
}

describe.each(destinations)('to $where', ({ arn }) => {
  it('copies keep the times of versions and delete markers', async () => {
    await replicate(world.s3, from, ruleTo(arn))
    await put(world.s3, 'a', 'hidden')
    await world.s3.send(new DeleteObjectCommand({ Bucket: from, Key: 'a' }))
    await put(world.s3, 'a', 'in sight')
    await whenCopied(world.s3, 'a')
    expect(await timesIn(target(arn), to)).toEqual(await timesIn(world.s3, from))
  })

  it('copies bytes, headers, metadata, tags and storage class', async () => {
    await replicate(world.s3, from, ruleTo(arn))
    const sent = {
      ContentType: 'text/plain',
      ContentEncoding: 'identity',
      ContentDisposition: 'inline',
      ContentLanguage: 'de',
      CacheControl: 'no-cache',
      Metadata: { who: 'me' },
      Tagging: 'a=1&b=%C3%BC%20%2B%3D',
      StorageClass: 'STANDARD_IA',
      WebsiteRedirectLocation: '/elsewhere',
      ChecksumAlgorithm: 'SHA256',
    } as const
    await put(world.s3, 'a key/ü&?', 'hello', sent)
    const original = await whenCopied(world.s3, 'a key/ü&?')
    const copy = await head(target(arn), to, 'a key/ü&?')
    expect(await read(target(arn), 'a key/ü&?')).toBe('hello')
    const { Tagging: _, ChecksumAlgorithm: __, ...shown } = sent
    expect(copy).toMatchObject({
      ...shown,
      TagCount: 2,
      ReplicationStatus: 'REPLICA',
      ETag: original.ETag,
    })
    const { TagSet } = await target(arn).send(new GetObjectTaggingCommand({ Bucket: to, Key: 'a key/ü&?' }))
    expect(TagSet).toEqual([
      { Key: 'a', Value: '1' },
      { Key: 'b', Value: 'ü +=' },
    ])
  })

  it.each([0, 1, 70_000, 3_000_000])('copies an object of %i bytes', async (size) => {
    await replicate(world.s3, from, ruleTo(arn))
    const body = patternBytes(size, size)
    await put(world.s3, 'a', body)
    const { ETag } = await whenCopied(world.s3, 'a')
    expect(await history(target(arn))).toEqual({ a: [ETag] })
  })

  it.each(['FULL_OBJECT', 'COMPOSITE'] as const)(
    'copies a multipart object part by part, with a checksum of type %s',
    async (ChecksumType) => {
      await replicate(world.s3, from, ruleTo(arn))
      const address = { Bucket: from, Key: 'a' }
      const ChecksumAlgorithm = 'CRC32' as const
      const { UploadId } = await world.s3.send(
        new CreateMultipartUploadCommand({ ...address, ChecksumAlgorithm, ChecksumType, Metadata: { who: 'me' } }),
      )
      const bodies = [patternBytes(1, 5 * 1024 * 1024), patternBytes(2, 100)]
      const Parts = []
      for (const [i, Body] of bodies.entries()) {
        const part = { ...address, UploadId, PartNumber: i + 1, Body, ChecksumAlgorithm }
        const { ETag, ChecksumCRC32 } = await world.s3.send(new UploadPartCommand(part))
        Parts.push({ ETag, ChecksumCRC32, PartNumber: i + 1 })
      }
      await world.s3.send(new CompleteMultipartUploadCommand({ ...address, UploadId, MultipartUpload: { Parts } }))
      const { ETag } = await whenCopied(world.s3, 'a')
      expect(await history(target(arn))).toEqual({ a: [ETag] })
      expect(await head(target(arn), to, 'a')).toMatchObject({ Metadata: { who: 'me' }, ReplicationStatus: 'REPLICA' })
    },
  )

  it('keeps the order of versions and delete markers', async () => {
    await replicate(world.s3, from, ruleTo(arn))
    const wanted: string[] = []
    for (let i = 0; i < 6; i++) {
      if (i === 3) {
        await world.s3.send(new DeleteObjectCommand({ Bucket: from, Key: 'a' }))
        wanted.unshift('marker')
      } else wanted.unshift((await put(world.s3, 'a', `version ${i}`)).ETag ?? '')
    }
    await whenCopied(world.s3, 'a')
    expect(await history(target(arn))).toEqual({ a: wanted })
  })

  it('gives copies the tags that their originals get later, of each version its own', async () => {
    await replicate(world.s3, from, ruleTo(arn))
    const { VersionId } = await put(world.s3, 'a', 'old', { Tagging: 'a=1' })
    await put(world.s3, 'a', 'new', { Tagging: 'a=2' })
    await whenCopied(world.s3, 'a')
    const tagging = { Bucket: from, Key: 'a', VersionId, Tagging: { TagSet: [{ Key: 'b', Value: 'x/y: @+=' }] } }
    await world.s3.send(new PutObjectTaggingCommand(tagging))
    await whenCopied(world.s3, 'a', VersionId)
    await world.s3.send(new DeleteObjectTaggingCommand({ Bucket: from, Key: 'a' }))
    await whenCopied(world.s3, 'a')
    const found = await target(arn).send(new GetObjectTaggingCommand({ Bucket: to, Key: 'a' }))
    expect(found.TagSet).toEqual([])
    const { VersionId: second } = await head(target(arn), to, 'a')
    const versions = await history(target(arn))
    expect(versions.a).toHaveLength(2)
    const older = { Bucket: to, Key: 'a', VersionId: await olderId(target(arn), second) }
    expect((await target(arn).send(new GetObjectTaggingCommand(older))).TagSet).toEqual([
      { Key: 'b', Value: 'x/y: @+=' },
    ])
  })
})

async function olderId(client: typeof world.s3, newest: string | undefined): Promise<string | undefined> {
  const { Versions = [] } = await client.send(new ListObjectVersionsCommand({ Bucket: to }))
  return Versions.find(({ VersionId }) => VersionId !== newest)?.VersionId
}
