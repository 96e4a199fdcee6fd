/** A server over three disks whose metadata gets lost, and all that a client can see of it, before and after. */
import { createHash } from 'node:crypto'
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  CompleteMultipartUploadCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetBucketLocationCommand,
  GetBucketVersioningCommand,
  GetObjectCommand,
  GetObjectTaggingCommand,
  HeadObjectCommand,
  ListBucketsCommand,
  ListObjectVersionsCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  type PutObjectCommandInput,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { environmentKey, keyVariables, type Outcome, run, serve } from './holdfast-process.ts'
import { testClient } from './workplace.ts'

export const schemes = {
  'two copies': 'scheme = "replica"\ncopies = 2\n',
  '2 + 1 shards': 'scheme = "erasure"\ndata = 2\nparity = 1\nreplicateBelow = 0\n',
} as const

export const disks = ['disk1', 'disk2', 'disk3']

/** The server's own key, and the one that it shows to stores elsewhere. */
const variables = {
  ...keyVariables,
  AWS_ACCESS_KEY_ID: environmentKey.accessKeyId,
  AWS_SECRET_ACCESS_KEY: environmentKey.secretAccessKey,
}

const onDisk = (name: string): string => `type = "directory"\npath = "${name}"\n`

export class RecoverWorld {
  readonly root: string
  readonly #config: string

  /** Of the configuration: three disks, or what is in their place, and a location over them. */
  readonly stores: string
  readonly location: string

  /** Its data directory has no metadata. */
  readonly #isShared: boolean
  readonly #variables: Record<string, string>

  private constructor(root: string, scheme: string, storeOf: (name: string) => string, url: string | undefined) {
    this.root = root
    this.#isShared = url !== undefined
    this.#variables = { ...variables, ...(url === undefined ? {} : { HOLDFAST_METADATA_URL: url }) }
    this.stores = disks.map((name) => `[stores.${name}]\n${storeOf(name)}`).join('')
    this.location = `[locations.safe]\n${scheme}stores = ${JSON.stringify(disks)}\n`
    this.#config = join(root, 'holdfast.toml')
  }

  /** `url`: the database that has the metadata. */
  static async make(scheme: string, storeOf = onDisk, url?: string): Promise<RecoverWorld> {
    const world = new RecoverWorld(await mkdtemp(join(tmpdir(), 'holdfast-recover-')), scheme, storeOf, url)
    await world.configure(world.stores + world.location)
    return world
  }

  configure = (placement: string): Promise<void> =>
    writeFile(
      this.#config,
      `data = "data"\nlisten = "127.0.0.1:0"\n${this.#isShared ? 'defaultLocation = "safe"\n' : ''}[snapshots]\ninterval = "never"\n${placement}`,
    )
  path = (...names: string[]): string => join(this.root, ...names)
  command = (...words: string[]): Promise<Outcome> => run([...words, '--config', this.#config], this.#variables).ended
  running = (...words: string[]) => run([...words, '--config', this.#config], this.#variables)

  async recovered(...words: string[]): Promise<Record<string, unknown>> {
    const { code, stdout, stderr } = await this.command('recover', '--json', ...words)
    if (code !== 0) throw new Error(stderr)
    return JSON.parse(stdout.trim().split('\n').at(-1) ?? '')
  }

  /** `end`: the signal that ends the server. */
  async serving<T>(use: (s3: S3Client) => Promise<T>, end: NodeJS.Signals = 'SIGTERM'): Promise<T> {
    const server = await serve(['serve', '--config', this.#config], this.#variables)
    // On a busy machine, a store elsewhere can take too long for an answer, and is out of use then until it is probed.
    const s3 = testClient(server.ready.endpoint, { maxAttempts: 10 })
    try {
      return await use(s3)
    } finally {
      s3.destroy()
      server.child.kill(end)
      await server.ended
    }
  }

  /** `meta` alone, as when its disk is lost and the data directory's store is not. */
  loseMetadata = (): Promise<void> => rm(this.path('data', 'meta'), { recursive: true })
  /** Uses another database from now on. */
  useDatabase(url: string): void {
    this.#variables.HOLDFAST_METADATA_URL = url
  }
  loseDisk = (name: string): Promise<void> => rename(this.path(name), this.path(`${name}-lost`))
  dispose = (): Promise<void> => rm(this.root, { recursive: true, force: true, maxRetries: 20 })
}

export async function makeBuckets(s3: S3Client): Promise<void> {
  const CreateBucketConfiguration = { LocationConstraint: 'safe' as 'eu-west-1' }
  await s3.send(new CreateBucketCommand({ Bucket: 'plain', CreateBucketConfiguration }))
  await s3.send(new CreateBucketCommand({ Bucket: 'versioned', CreateBucketConfiguration }))
  const VersioningConfiguration = { Status: 'Enabled' as const }
  await s3.send(new PutBucketVersioningCommand({ Bucket: 'versioned', VersioningConfiguration }))
  await s3.send(
    new CreateBucketCommand({ Bucket: 'locked', CreateBucketConfiguration, ObjectLockEnabledForBucket: true }),
  )
  // The data directory's own store, if there is one.
  await s3.send(new CreateBucketCommand({ Bucket: 'ordinary' }))
}

const put = (
  s3: S3Client,
  Bucket: string,
  Key: string,
  Body: string | Buffer,
  more: Partial<PutObjectCommandInput> = {},
) => s3.send(new PutObjectCommand({ Bucket, Key, Body, ...more }))

const tomorrow = new Date(Date.UTC(2040, 0, 1))

/** Some of everything, told apart by `name`. */
export async function fill(s3: S3Client, name: string): Promise<void> {
  for (let i = 0; i < 4; i++) {
    await put(s3, 'plain', `${name}-${i % 2}`, `${name} ${i}`, { Metadata: { i: `${i}` }, ContentType: 'text/plain' })
    await put(s3, 'versioned', `${name}-${i % 2}`, `${name} ${i}`, { Tagging: `i=${i}&name=${name}` })
  }
  await put(s3, 'versioned', 'shared', `${name} in all`)
  await put(s3, 'plain', 'shared', `${name} in all`)
  await put(s3, 'plain', `${name}-empty`, '')
  await put(s3, 'plain', `${name}-large`, Buffer.alloc(400_000, name), { ChecksumAlgorithm: 'SHA256' })
  await put(s3, 'plain', `${name}-sealed`, `${name} sealed`, { ServerSideEncryption: 'AES256' })
  await put(s3, 'versioned', `${name}-kms`, Buffer.alloc(300_000, name), { ServerSideEncryption: 'aws:kms' })
  await put(s3, 'locked', `${name}-held`, 'held', { ObjectLockLegalHoldStatus: 'ON', ChecksumAlgorithm: 'CRC32' })
  await put(s3, 'locked', `${name}-kept`, 'kept', {
    ObjectLockMode: 'COMPLIANCE',
    ObjectLockRetainUntilDate: tomorrow,
    ChecksumAlgorithm: 'CRC32',
  })
  await put(s3, 'ordinary', `${name}-here`, `${name} here`)
  await sendInParts(s3, 'plain', `${name}-parts`, name)
  await sendInParts(s3, 'versioned', 'shared-parts', name)
}

async function sendInParts(s3: S3Client, Bucket: string, Key: string, name: string): Promise<void> {
  const { UploadId } = await s3.send(
    new CreateMultipartUploadCommand({
      Bucket,
      Key,
      Metadata: { name },
      Tagging: `parts=${name}`,
      ServerSideEncryption: 'AES256',
    }),
  )
  const Parts = []
  // The second number was never sent, the last is not listed.
  for (const [PartNumber, bytes] of [
    [1, 5 * 1024 * 1024],
    [3, 1000],
    [7, 1000],
  ] as const) {
    const Body = Buffer.alloc(bytes, `${name} ${PartNumber}`)
    const { ETag } = await s3.send(new UploadPartCommand({ Bucket, Key, UploadId, PartNumber, Body }))
    if (PartNumber !== 7) Parts.push({ PartNumber, ETag })
  }
  await s3.send(new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts } }))
}

export const removeVersion = (s3: S3Client, Bucket: string, Key: string) =>
  s3.send(new DeleteObjectCommand({ Bucket, Key }))

/** What a client sees of every version in every bucket. Times of writing are apart: a shard tells its own. */
export async function everything(s3: S3Client): Promise<Record<string, unknown>> {
  const { Buckets = [] } = await s3.send(new ListBucketsCommand({}))
  const seen = await Promise.all(Buckets.map(({ Name }) => bucketOf(s3, `${Name}`)))
  return Object.assign({}, ...seen)
}

async function bucketOf(s3: S3Client, Bucket: string): Promise<Record<string, unknown>> {
  const { Status } = await s3.send(new GetBucketVersioningCommand({ Bucket }))
  const { LocationConstraint } = await s3.send(new GetBucketLocationCommand({ Bucket }))
  const { Versions = [], DeleteMarkers = [] } = await s3.send(new ListObjectVersionsCommand({ Bucket }))
  const seen: Record<string, unknown> = { [Bucket]: { Status, LocationConstraint } }
  for (const { Key, VersionId, IsLatest } of DeleteMarkers) seen[`${Bucket}/${Key} ${VersionId}`] = { IsLatest }
  await Promise.all(
    Versions.map(async ({ LastModified, Owner, ...listed }) => {
      const version = { Bucket, Key: listed.Key, VersionId: listed.VersionId }
      seen[`${Bucket}/${listed.Key} ${listed.VersionId}`] = { listed, ...(await versionOf(s3, version)) }
    }),
  )
  return seen
}

async function versionOf(
  s3: S3Client,
  version: { Bucket: string | undefined; Key: string | undefined; VersionId: string | undefined },
) {
  const { $metadata, LastModified, ...head } = await s3.send(
    new HeadObjectCommand({ ...version, ChecksumMode: 'ENABLED' }),
  )
  const { TagSet } = await s3.send(new GetObjectTaggingCommand(version))
  const { Body } = await s3.send(new GetObjectCommand(version))
  const bytes = (await Body?.transformToByteArray()) ?? new Uint8Array()
  return { head, TagSet, sha256: createHash('sha256').update(bytes).digest('hex') }
}
