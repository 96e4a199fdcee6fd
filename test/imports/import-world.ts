/** Two servers, and an import from one to the other; what their buckets hold, in words that can be compared. */
import { hash } from 'node:crypto'
import { Agent } from 'node:http'
import {
  GetBucketCorsCommand,
  GetBucketLifecycleConfigurationCommand,
  GetBucketPolicyCommand,
  GetBucketTaggingCommand,
  GetBucketVersioningCommand,
  GetObjectCommand,
  GetObjectLockConfigurationCommand,
  GetObjectTaggingCommand,
  ListObjectVersionsCommand,
  type ListObjectVersionsCommandOutput,
  S3Client,
} from '@aws-sdk/client-s3'
import { systemClock } from '../../src/clock.ts'
import { Endpoint } from '../../src/endpoint/endpoint.ts'
import { type ImportCounts, type ImportOptions, importBucket } from '../../src/imports/import-bucket.ts'
import { type Server, startServer } from '../../src/index.ts'

export interface ImportWorld extends AsyncDisposable {
  there: S3Client
  here: S3Client
  /** What the last import told. */
  told: string[]
  /** From `bucket` there to `bucket` here. */
  import(bucket: string, how?: Partial<ImportOptions>): Promise<ImportCounts>
}

export interface Ends {
  /** A server that is not ours. */
  source?: { endpoint: string; key: { accessKeyId: string; secretAccessKey: string } }
  /** Made from the address of the server that the import reads. */
  theirs?: (endpoint: string) => Promise<string>
  /** Made from the address of the server that the import fills. */
  target?: (endpoint: string) => Promise<string>
}

export async function openImportWorld({ source, theirs: way, target }: Ends = {}): Promise<ImportWorld> {
  const hereServer = await startServer()
  const thereServer = source === undefined ? await startServer() : undefined
  const thereEnd = source ?? endOf(thereServer)
  const agent = new Agent({ keepAlive: true })
  const endpoint = (address: string, key: { accessKeyId: string; secretAccessKey: string }): Endpoint =>
    new Endpoint({ url: new URL(address), region: 'us-east-1', key, agent, clock: systemClock })
  const theirs = endpoint((await way?.(thereEnd.endpoint)) ?? thereEnd.endpoint, thereEnd.key)
  const ours = endpoint((await target?.(hereServer.endpoint)) ?? hereServer.endpoint, hereServer.credentials)
  const there = clientOf(thereEnd.endpoint, thereEnd.key)
  const here = clientOf(hereServer.endpoint, hereServer.credentials)
  const told: string[] = []
  return {
    there,
    here,
    told,
    import(bucket, how = {}) {
      told.length = 0
      return importBucket(
        { source: theirs, target: ours, from: bucket, to: bucket, clock: systemClock, ...usual, ...how },
        {
          counted() {},
          failed: (key, reason) => told.push(`${key}: ${reason}`),
          newerHere: (key) => told.push(`${key}: newer here`),
          settingSkipped: (setting, reason) => told.push(`${setting}: ${reason}`),
        },
      )
    },
    async [Symbol.asyncDispose]() {
      agent.destroy()
      there.destroy()
      here.destroy()
      await Promise.all([hereServer.close(), thereServer?.close()])
    },
  }
}

const usual = {
  prefix: '',
  versions: 'all',
  overwrite: false,
  ignoreEtags: false,
  deleteMissing: false,
  dryRun: false,
  parallel: 8,
} as const

function endOf(server: Server | undefined) {
  if (server === undefined) throw new Error('there is no server')
  return { endpoint: server.endpoint, key: server.credentials }
}

const clientOf = (endpoint: string, credentials: { accessKeyId: string; secretAccessKey: string }): S3Client =>
  new S3Client({
    endpoint,
    credentials,
    region: 'us-east-1',
    forcePathStyle: true,
    maxAttempts: 1,
    // Objects have a checksum only where a test asks for it.
    requestChecksumCalculation: 'WHEN_REQUIRED',
  })

/** Every version with all that a reader sees of it but its id, in the order of the listing. */
export async function contentsOf(client: S3Client, Bucket: string): Promise<Record<string, unknown>[]> {
  const found: Record<string, unknown>[] = []
  for await (const { Versions = [], DeleteMarkers = [] } of pagesOf(client, Bucket)) {
    for (const { Key, VersionId, IsLatest, LastModified } of Versions) {
      found.push({ Key, IsLatest, LastModified, ...(await readVersion(client, { Bucket, Key, VersionId })) })
    }
    for (const { Key, IsLatest, LastModified } of DeleteMarkers) {
      found.push({ Key, IsLatest, LastModified, marker: true })
    }
  }
  return found
}

/** Only what the listing says of objects: for many of them. */
export async function listedIn(client: S3Client, Bucket: string): Promise<unknown[]> {
  const found: unknown[] = []
  for await (const { Versions = [] } of pagesOf(client, Bucket)) {
    found.push(...Versions.map(({ Key, Size, ETag }) => ({ Key, Size, ETag })))
  }
  return found
}

async function* pagesOf(client: S3Client, Bucket: string): AsyncGenerator<ListObjectVersionsCommandOutput> {
  let at: { KeyMarker?: string | undefined; VersionIdMarker?: string | undefined } = {}
  for (;;) {
    const page: ListObjectVersionsCommandOutput = await client.send(new ListObjectVersionsCommand({ Bucket, ...at }))
    yield page
    if (page.IsTruncated !== true) return
    at = { KeyMarker: page.NextKeyMarker, VersionIdMarker: page.NextVersionIdMarker }
  }
}

async function readVersion(
  client: S3Client,
  named: { Bucket: string; Key: string | undefined; VersionId: string | undefined },
): Promise<object> {
  const { $metadata, Body, LastModified, VersionId, Expiration, ...said } = await client.send(
    new GetObjectCommand({ ...named, Key: named.Key ?? '', ChecksumMode: 'ENABLED' }),
  )
  const tags = await client.send(new GetObjectTaggingCommand({ ...named, Key: named.Key ?? '' }))
  const bytes = (await Body?.transformToByteArray()) ?? ''
  // Their digest is enough, and a difference can be read.
  return { ...said, tags: tags.TagSet, body: bytes.length > 100 ? hash('md5', bytes) : Buffer.from(bytes).toString() }
}

/** What reads each, or the name of its error. */
export async function settingsOf(client: S3Client, Bucket: string): Promise<Record<string, unknown>> {
  const asked = { Bucket }
  const answers = {
    cors: client.send(new GetBucketCorsCommand(asked)),
    lifecycle: client.send(new GetBucketLifecycleConfigurationCommand(asked)),
    policy: client.send(new GetBucketPolicyCommand(asked)),
    tags: client.send(new GetBucketTaggingCommand(asked)),
    versioning: client.send(new GetBucketVersioningCommand(asked)),
    lock: client.send(new GetObjectLockConfigurationCommand(asked)),
  }
  const found: Record<string, unknown> = {}
  for (const [name, answer] of Object.entries<Promise<object>>(answers)) {
    found[name] = await answer.then(
      (said) => ({ ...said, $metadata: undefined }),
      (error: Error) => error.name,
    )
  }
  return found
}
