/** Two servers in this process, one of which copies buckets to the other, and what tests ask of them. */
import {
  CreateBucketCommand,
  GetObjectCommand,
  HeadObjectCommand,
  type HeadObjectCommandOutput,
  ListObjectVersionsCommand,
  PutBucketReplicationCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  type PutObjectCommandInput,
  type ReplicationRule,
  S3Client,
} from '@aws-sdk/client-s3'
import { pino } from 'pino'
import { afterEach, beforeEach, expect } from 'vitest'
import { type Server, type StartOptions, startServer } from '../../src/index.ts'

export const from = 'originals'
export const to = 'copies'
export const remote = `arn:aws:s3:::paris/${to}`
export const local = `arn:aws:s3:::${to}`

export interface ReplicationWorld {
  /** It copies. */
  here: Server
  /** It takes copies, as the site `paris`. */
  there: Server
  s3: S3Client
  far: S3Client
  /** What the operator was told. */
  warnings: string[]
}

/** Before each test: both buckets, with versions, on both servers. */
export function openReplicationWorld(options: StartOptions = {}): ReplicationWorld {
  const world = { warnings: [] as string[] } as ReplicationWorld
  beforeEach(async () => {
    world.there = await startServer({ buckets: [from, to] })
    world.warnings.length = 0
    world.here = await startServer({
      buckets: [from, to],
      sites: { paris: { endpoint: world.there.endpoint, ...world.there.credentials } },
      log: logTo(world.warnings),
      ...options,
    })
    world.s3 = clientOf(world.here)
    world.far = clientOf(world.there)
    for (const client of [world.s3, world.far]) for (const Bucket of [from, to]) await version(client, Bucket)
  })
  afterEach(async () => {
    world.s3.destroy()
    world.far.destroy()
    await world.here.close()
    await world.there.close()
  })
  return world
}

export const clientOf = (server: Server): S3Client => new S3Client({ ...server.clientConfig(), maxAttempts: 1 })

export const version = (client: S3Client, Bucket: string): Promise<unknown> =>
  client.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status: 'Enabled' } }))

const logTo = (warnings: string[]) =>
  pino({ level: 'warn' }, { write: (line: string) => void warnings.push(JSON.parse(line).msg) })

export async function makeBucket(client: S3Client, Bucket: string, ObjectLockEnabledForBucket = false): Promise<void> {
  await client.send(new CreateBucketCommand({ Bucket, ObjectLockEnabledForBucket }))
  await version(client, Bucket)
}

/** A rule that copies everything, and delete markers. */
export const ruleTo = (Bucket: string, more: Partial<ReplicationRule> = {}): ReplicationRule => ({
  ID: Bucket,
  Priority: 1,
  Status: 'Enabled',
  Filter: { Prefix: '' },
  DeleteMarkerReplication: { Status: 'Enabled' },
  Destination: { Bucket },
  ...more,
})

export const replicate = (client: S3Client, Bucket: string, ...Rules: ReplicationRule[]): Promise<unknown> =>
  client.send(new PutBucketReplicationCommand({ Bucket, ReplicationConfiguration: { Role: '', Rules } }))

export const put = (client: S3Client, Key: string, Body: PutObjectCommandInput['Body'], more = {}) =>
  client.send(new PutObjectCommand({ Bucket: from, Key, Body, ...more }))

export const head = (client: S3Client, Bucket: string, Key: string, VersionId?: string) =>
  client.send(new HeadObjectCommand({ Bucket, Key, VersionId }))

/** Resolves with the original when it says that its copies are done. */
export function whenCopied(client: S3Client, Key: string, VersionId?: string): Promise<HeadObjectCommandOutput> {
  return whenStatus(client, Key, 'COMPLETED', VersionId)
}

async function whenStatus(client: S3Client, Key: string, status: string, VersionId?: string) {
  return expect
    .poll(async () => (await head(client, from, Key, VersionId)).ReplicationStatus, { interval: 20 })
    .toBe(status)
    .then(() => head(client, from, Key, VersionId))
}

export async function read(client: S3Client, Key: string, Bucket = to): Promise<string> {
  const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }))
  return (await Body?.transformToString()) ?? ''
}

/** The versions of a bucket, the newest of each key first: ETags, or `marker`. */
export async function history(client: S3Client, Bucket = to): Promise<Record<string, string[]>> {
  const { Versions = [], DeleteMarkers = [] } = await client.send(new ListObjectVersionsCommand({ Bucket }))
  const all = [
    ...Versions.map((one) => ({ ...one, what: one.ETag ?? '' })),
    ...DeleteMarkers.map((one) => ({ ...one, what: 'marker' })),
  ]
  // Ids begin with the place of a version among those of its key.
  all.sort((one, other) => ((one.VersionId ?? '') < (other.VersionId ?? '') ? 1 : -1))
  const found: Record<string, string[]> = {}
  for (const { Key = '', what } of all) found[Key] = [...(found[Key] ?? []), what]
  return found
}
