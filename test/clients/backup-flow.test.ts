/** What backup tools with immutable repositories do to a bucket, over the AWS SDK, and over a restart of the server. */
import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetBucketVersioningCommand,
  GetObjectCommand,
  GetObjectLockConfigurationCommand,
  GetObjectRetentionCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  PutObjectRetentionCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Server, startServer } from '../../src/index.ts'
import { patternBytes } from '../support/seeded.ts'

const MiB = 1024 * 1024
const dayMs = 86_400_000
const Bucket = 'repository'
/** Dates of locks go over the wire in seconds. */
const inDays = (days: number): Date => new Date(Math.floor(Date.now() / 1000) * 1000 + days * dayMs)
const compliance = (until: Date) => ({ ObjectLockMode: 'COMPLIANCE', ObjectLockRetainUntilDate: until }) as const

interface Stored {
  Key: string
  VersionId: string
  body: Buffer
}

describe('a backup tool with an immutable repository', () => {
  let data: string
  let server: Server
  let client: S3Client
  const stored: Stored[] = []

  const start = async (): Promise<void> => {
    server = await startServer({ data })
    client = new S3Client(server.clientConfig())
  }
  const stop = async (): Promise<void> => {
    client.destroy()
    await server.close()
  }
  beforeAll(async () => {
    data = await mkdtemp(join(tmpdir(), 'holdfast-backup-'))
    await start()
  })
  afterAll(async () => {
    await stop()
    await rm(data, { recursive: true, force: true, maxRetries: 20 })
  })

  const [week, month] = [inDays(7), inDays(30)]
  const refused = { name: 'AccessDenied', $metadata: { httpStatusCode: 403 } }

  /** Every version is listed, has its bytes and digests, and is locked until then. */
  async function expectAllKept(until: Date): Promise<void> {
    const { Versions = [] } = await client.send(new ListObjectVersionsCommand({ Bucket }))
    const listed = Versions.map(({ Key, VersionId }) => `${Key} ${VersionId}`)
    expect(listed.sort()).toEqual(stored.map(({ Key, VersionId }) => `${Key} ${VersionId}`).sort())
    for (const { Key, VersionId, body } of stored) {
      const found = await client.send(new GetObjectCommand({ Bucket, Key, VersionId, ChecksumMode: 'ENABLED' }))
      expect(Buffer.from((await found.Body?.transformToByteArray()) ?? []).equals(body)).toBe(true)
      expect([found.ObjectLockMode, found.ObjectLockRetainUntilDate]).toEqual(['COMPLIANCE', until])
    }
  }

  it('makes a bucket with Object Lock, and finds versioning on and no default retention', async () => {
    await client.send(new CreateBucketCommand({ Bucket, ObjectLockEnabledForBucket: true }))
    expect(await client.send(new GetBucketVersioningCommand({ Bucket }))).toMatchObject({ Status: 'Enabled' })
    const { ObjectLockConfiguration } = await client.send(new GetObjectLockConfigurationCommand({ Bucket }))
    expect(ObjectLockConfiguration).toEqual({ ObjectLockEnabled: 'Enabled' })
  })

  it('writes objects that are locked from the start, with MD5, with a checksum, and in parts', async () => {
    const block = patternBytes(1, 300_000)
    const md5 = createHash('md5').update(block).digest()
    const byMd5 = { Bucket, Key: 'blocks/md5', Body: block, ContentMD5: md5.toString('base64') }
    const first = await client.send(new PutObjectCommand({ ...byMd5, ...compliance(week) }))
    expect(first.ETag).toBe(`"${md5.toString('hex')}"`)
    stored.push({ Key: byMd5.Key, VersionId: first.VersionId ?? '', body: block })

    const bySum = { Bucket, Key: 'blocks/sha256', Body: patternBytes(2, 5000), ChecksumAlgorithm: 'SHA256' } as const
    const second = await client.send(new PutObjectCommand({ ...bySum, ...compliance(week) }))
    expect(second.ChecksumSHA256).toBe(createHash('sha256').update(bySum.Body).digest('base64'))
    stored.push({ Key: bySum.Key, VersionId: second.VersionId ?? '', body: bySum.Body })

    const parts = { Bucket, Key: 'blocks/parts', Body: patternBytes(3, 11 * MiB), ...compliance(week) }
    const third = await new Upload({ client, params: parts, partSize: 5 * MiB }).done()
    stored.push({ Key: parts.Key, VersionId: third.VersionId ?? '', body: parts.Body })
    await expectAllKept(week)
  })

  it('refuses to store what did not arrive whole', async () => {
    const ContentMD5 = createHash('md5').update('another').digest('base64')
    const damaged = { Bucket, Key: 'blocks/damaged', Body: 'x', ContentMD5, ...compliance(week) }
    await expect(client.send(new PutObjectCommand(damaged))).rejects.toMatchObject({ name: 'BadDigest' })
    await expectAllKept(week)
  })

  it('extends every lock, and cannot shorten one', async () => {
    for (const { body: _, ...version } of stored) {
      const Retention = { Mode: 'COMPLIANCE', RetainUntilDate: month } as const
      await client.send(new PutObjectRetentionCommand({ Bucket, ...version, Retention }))
      const back = { ...Retention, RetainUntilDate: week }
      const shorten = { Bucket, ...version, Retention: back, BypassGovernanceRetention: true }
      await expect(client.send(new PutObjectRetentionCommand(shorten))).rejects.toMatchObject(refused)
      const found = await client.send(new GetObjectRetentionCommand({ Bucket, ...version }))
      expect(found.Retention).toEqual(Retention)
    }
    await expectAllKept(month)
  })

  it('cannot delete a version in any way, also not after the server was started again', async () => {
    await stop()
    await start()
    const versions = stored.map(({ Key, VersionId }) => ({ Key, VersionId }))
    const BypassGovernanceRetention = true
    for (const version of versions) {
      const one = new DeleteObjectCommand({ Bucket, ...version, BypassGovernanceRetention })
      await expect(client.send(one)).rejects.toMatchObject(refused)
    }
    const many = new DeleteObjectsCommand({ Bucket, Delete: { Objects: versions }, BypassGovernanceRetention })
    const { Deleted, Errors = [] } = await client.send(many)
    expect([Deleted, Errors.map(({ Code }) => Code)]).toEqual([undefined, versions.map(() => 'AccessDenied')])
    const VersioningConfiguration = { Status: 'Suspended' } as const
    await expect(
      client.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration })),
    ).rejects.toMatchObject({ name: 'InvalidBucketState' })
    await expect(client.send(new DeleteBucketCommand({ Bucket }))).rejects.toMatchObject({ name: 'BucketNotEmpty' })
    await expectAllKept(month)
  })

  it('hides keys behind delete markers, and brings them back by removing those', async () => {
    const keys = [...new Set(stored.map(({ Key }) => Key))]
    for (const Key of keys) await client.send(new DeleteObjectCommand({ Bucket, Key }))
    expect((await client.send(new ListObjectsV2Command({ Bucket }))).KeyCount).toBe(0)
    await expectAllKept(month)

    const { DeleteMarkers = [] } = await client.send(new ListObjectVersionsCommand({ Bucket }))
    const Objects = DeleteMarkers.map(({ Key = '', VersionId = '' }) => ({ Key, VersionId }))
    const { Errors } = await client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }))
    expect(Errors).toBeUndefined()
    for (const { Key, VersionId } of stored) {
      expect(await client.send(new HeadObjectCommand({ Bucket, Key }))).toMatchObject({ VersionId })
    }
  })

  it('writes over a key, and still has what was there', async () => {
    const [{ Key } = { Key: '' }] = stored
    const body = patternBytes(4, 1000)
    const { VersionId = '' } = await client.send(
      new PutObjectCommand({ Bucket, Key, Body: body, ...compliance(month) }),
    )
    stored.push({ Key, VersionId, body })
    await expectAllKept(month)
  })
})
