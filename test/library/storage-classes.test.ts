/** Storage classes end to end: a server over two stores, of which one keeps a class, and the AWS SDK. */
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import {
  CreateBucketCommand,
  GetObjectCommand,
  HeadObjectCommand,
  type LifecycleRule,
  PutBucketLifecycleConfigurationCommand,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type Server, startServer } from '../../src/index.ts'
import { temporaryDirectory } from '../stores/directory/opened-store.ts'

const Bucket = 'photos'
const Body = Buffer.alloc(300_000, 'x')

let directory: Awaited<ReturnType<typeof temporaryDirectory>>
let server: Server
let s3: S3Client

beforeEach(async () => {
  directory = await temporaryDirectory()
  await start()
  await s3.send(new CreateBucketCommand({ Bucket, CreateBucketConfiguration: { LocationConstraint: 'fast' as never } }))
})
afterEach(async () => {
  await stop()
  await directory.remove()
})

async function start(): Promise<void> {
  const store = (name: string) => ({ type: 'directory' as const, path: join(directory.path, name) })
  const copy = { scheme: 'replica' as const, copies: 1 }
  server = await startServer({
    data: join(directory.path, 'data'),
    stores: { hot: store('hot'), cold: store('cold') },
    locations: {
      fast: { ...copy, stores: ['hot'] },
      archive: { ...copy, stores: ['cold'], storageClasses: ['GLACIER_IR'] },
    },
  })
  s3 = new S3Client({ ...server.clientConfig(), maxAttempts: 1 })
}

async function stop(): Promise<void> {
  s3.destroy()
  await server.close()
}

/** The bytes of all files below a store's directory. */
async function bytesIn(name: string): Promise<number> {
  const files = await readdir(join(directory.path, name), { recursive: true, withFileTypes: true })
  const sizes = await Promise.all(
    files.filter((file) => file.isFile()).map(async (file) => (await stat(join(file.parentPath, file.name))).size),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}

const setRule = (StorageClass: 'GLACIER' | 'GLACIER_IR') => {
  const rule: LifecycleRule = {
    ID: 'r',
    Status: 'Enabled',
    Filter: {},
    Transitions: [{ Date: new Date('2020-01-01'), StorageClass }],
  }
  return s3.send(new PutBucketLifecycleConfigurationCommand({ Bucket, LifecycleConfiguration: { Rules: [rule] } }))
}

it('an object of a class lies in the store that keeps it, and is read from there after another start', async () => {
  const [hot, cold] = [await bytesIn('hot'), await bytesIn('cold')]
  await s3.send(new PutObjectCommand({ Bucket, Key: 'a', Body, StorageClass: 'GLACIER_IR' }))
  expect(await bytesIn('hot')).toBe(hot)
  expect(await bytesIn('cold')).toBeGreaterThan(cold)
  await stop()
  await start()
  const { Body: found, StorageClass } = await s3.send(new GetObjectCommand({ Bucket, Key: 'a' }))
  expect(StorageClass).toBe('GLACIER_IR')
  expect(Buffer.from((await found?.transformToByteArray()) ?? []).equals(Body)).toBe(true)
})

it('a rule names classes that a location keeps, and no other', async () => {
  await setRule('GLACIER_IR')
  await expect(setRule('GLACIER')).rejects.toMatchObject({
    name: 'NotImplemented',
    message: "No location of this server keeps the storage class GLACIER, so lifecycle rules can't move objects to it.",
  })
  await s3.send(new PutObjectCommand({ Bucket, Key: 'a', Body, StorageClass: 'GLACIER' }))
  expect(await s3.send(new HeadObjectCommand({ Bucket, Key: 'a' }))).toMatchObject({ StorageClass: 'GLACIER' })
})
