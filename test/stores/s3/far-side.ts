/** A bucket of a real server in this process, to keep shards in: looked at, damaged and filled up from behind. */
import {
  CreateBucketCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import { pino } from 'pino'
import { openCredentials } from '../../../src/auth/credentials.ts'
import { openBlobs } from '../../../src/blobs/blobs.ts'
import { systemClock } from '../../../src/clock.ts'
import { memoryKv } from '../../../src/kv/memory.ts'
import { limits } from '../../../src/limits.ts'
import { openEndpoint } from '../../../src/opening/endpoint.ts'
import { memoryShardStore } from '../../../src/stores/memory.ts'
import type { BucketAddress } from '../../../src/stores/s3/bucket.ts'
import { openS3Store, type S3StoreOptions } from '../../../src/stores/s3/s3-store.ts'
import type { ShardId, ShardStore } from '../../../src/stores/shard-store.ts'
import { noThreads } from '../../../src/threads/threads.ts'
import { testKeys } from '../../objects/fixture.ts'
import { seededClock, seededRandom, type TestClock } from '../../support/seeded.ts'
import { ownedBy } from '../owners.ts'
import type { StoreUnderTest } from '../suite.ts'

export const credentials = { accessKeyId: 'test-access-key', secretAccessKey: 'canary-secret-of-tests' }
// The store finds its key where the SDK looks for it first.
process.env.AWS_ACCESS_KEY_ID = credentials.accessKeyId
process.env.AWS_SECRET_ACCESS_KEY = credentials.secretAccessKey

export interface FarSide {
  address: BucketAddress
  client: S3Client
  /** Everything in the bucket, whole objects and unfinished ones. */
  keys(): Promise<string[]>
  read(key: string): Promise<Buffer>
  write(key: string, bytes: Buffer): Promise<void>
  makeBucket(name: string): Promise<void>
  fill(): Promise<void>
  empty(): Promise<void>
  close(): Promise<void>
}

export async function openFarSide(): Promise<FarSide> {
  const kv = memoryKv()
  const shards = memoryShardStore({ bytesMax: 256 * limits.readChunkBytes })
  const blobs = openBlobs([{ name: 'default', version: 1, scheme: 'replica', stores: [shards] }])
  const endpoint = await openEndpoint({
    accountBlocks: undefined,
    backend: { kv, blobs, clock: systemClock, keys: testKeys, threads: noThreads() },
    credentials: openCredentials([{ id: 'main', name: 'Main', keys: [credentials] }]),
    listen: { host: '127.0.0.1', port: 0 },
    domains: [],
    corsAllowOrigin: [],
    region: 'us-east-1',
    keyPair: undefined,
    allowCustomerKeysOverHttp: false,
    defaultChecksum: 'none',
    sigv2: 'presigned',
    log: pino({ level: 'silent' }),
  })
  const side = farSideAt(endpoint.url)
  await side.makeBucket('bucket')
  const fillers: ShardId[] = []
  return {
    ...side,
    async fill() {
      const bytes = Buffer.alloc((await shards.usage()).freeBytes ?? 0)
      const payload = { size: bytes.length, drain: async () => {}, read: async () => bytes, cancel: () => {} }
      fillers.push(await shards.put({ payload, describe: () => Buffer.alloc(0) }))
    },
    empty: () => shards.delete(fillers.splice(0)),
    async close() {
      side.client.destroy()
      await endpoint.close()
      await shards.close()
      await kv.close()
    },
  }
}

/** Another server, which is already there. */
export function farSideAt(endpoint: string, bucket = 'bucket'): Omit<FarSide, 'fill' | 'empty' | 'close'> {
  const address = { endpoint, bucket, prefix: 'a/b/', region: 'us-east-1', pathStyle: true }
  const client = new S3Client({ endpoint, region: address.region, credentials, forcePathStyle: true })
  const Bucket = address.bucket
  return {
    address,
    client,
    async keys() {
      const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket }))
      const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket }))
      return [...Contents.map(({ Key = '' }) => Key), ...Uploads.map(({ Key = '' }) => `${Key} (unfinished)`)]
    },
    async read(Key) {
      const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }))
      return Buffer.from((await Body?.transformToByteArray()) ?? [])
    },
    async write(Key, Body) {
      await client.send(new PutObjectCommand({ Bucket, Key, Body }))
    },
    async makeBucket(name) {
      await client.send(new CreateBucketCommand({ Bucket: name }))
    },
  }
}

/** For `describeShardStore`. */
export async function remoteUnderTest(openSide: () => Promise<FarSide>): Promise<StoreUnderTest> {
  const side = await openSide()
  const { store, clock } = await openRemote(side.address)
  return {
    store,
    clock,
    fill: side.fill,
    empty: side.empty,
    fileNames: side.keys,
    dispose: async () => {
      await store.close()
      await side.close()
    },
  }
}

export interface OpenedRemote {
  store: ShardStore
  clock: TestClock
  warnings: string[]
}

export async function openRemote(address: BucketAddress, options: Partial<S3StoreOptions> = {}): Promise<OpenedRemote> {
  const clock = seededClock(seededRandom(1))
  const warnings: string[] = []
  const warn = (message: string): unknown => warnings.push(message)
  const store = await openS3Store({
    address,
    clock,
    create: true,
    ownership: ownedBy('tests'),
    firstOpener: true,
    warn,
    ...options,
  })
  return { store, clock, warnings }
}
