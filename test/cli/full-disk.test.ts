/** A server on a file system that something else fills to the last byte: what must go on, what is refused, and that it comes back by itself. */
import { closeSync, openSync, statfsSync, writeSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import {
  CreateBucketCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  PutObjectLegalHoldCommand,
  PutObjectRetentionCommand,
  PutObjectTaggingCommand,
  type S3Client,
} from '@aws-sdk/client-s3'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { mayMount, mayMountExt4, mountExt4, mountMemory, unmountLazily } from '../support/mounts.ts'
import { patternBytes } from '../support/seeded.ts'
import { keyVariables, killLeftovers, type Running, run, serve } from './holdfast-process.ts'
import { testClient } from './workplace.ts'

const MiB = 1024 * 1024
const hourMs = 60 * 60 * 1000
let root: string
let disk: string

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'holdfast-full-'))
  disk = join(root, 'disk')
})
afterEach(async () => {
  await killLeftovers()
  try {
    unmountLazily(disk)
  } catch {
    // The test mounted nothing.
  }
  await rm(root, { recursive: true, force: true, maxRetries: 20 })
})

const filler = (): string => join(disk, 'filler')

/** To the last byte, also of what only root may use. Ext4 keeps some blocks for itself all the same: gives how many are free. */
function fill(): number {
  const file = openSync(filler(), 'w')
  for (const size of [MiB, 4096, 1]) {
    const bytes = Buffer.alloc(size, 1)
    try {
      for (;;) writeSync(file, bytes)
    } catch (error) {
      expect(error).toMatchObject({ code: 'ENOSPC' })
    }
  }
  closeSync(file)
  const { bfree, bavail } = statfsSync(disk)
  expect(bavail).toBe(0)
  return bfree
}

const serving = (): Promise<Running & { ready: { endpoint: string } }> =>
  serve(['serve', '--data', join(disk, 'data'), '--listen', '127.0.0.1:0'])

const clientOf = ({ ready: { endpoint } }: { ready: { endpoint: string } }): S3Client =>
  testClient(endpoint, { maxAttempts: 1 })

const refused = { name: 'ServiceUnavailable', $metadata: { httpStatusCode: 503 } }
const Bucket = 'bucket'
const smallKeys = Array.from({ length: 40 }, (_, i) => `small-${i}`)
const sizeOf = (key: string): number => (key.startsWith('small') ? 20_000 : 3 * MiB)

async function put(client: S3Client, Key: string): Promise<string | undefined> {
  const Body = patternBytes(Key.length, sizeOf(Key))
  return (await client.send(new PutObjectCommand({ Bucket, Key, Body }))).VersionId
}

async function reads(client: S3Client, Key: string): Promise<void> {
  const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }))
  const bytes = Buffer.from((await Body?.transformToByteArray()) ?? [])
  expect(bytes.equals(patternBytes(Key.length, sizeOf(Key))), Key).toBe(true)
}

/** The server asks the file system once a second; until then small objects go into room that was taken before. */
async function untilRefused(client: S3Client, key: string): Promise<void> {
  for (let taken = 0; ; taken++) {
    try {
      await put(client, key)
    } catch (error) {
      expect(error).toMatchObject(refused)
      return
    }
    expect(taken).toBeLessThan(600)
    await delay(100)
  }
}

async function takesAgain(client: S3Client, key: string): Promise<void> {
  for (let waitedMs = 0; ; waitedMs += 100) {
    try {
      await put(client, key)
      return
    } catch (error) {
      expect(error).toMatchObject(refused)
      expect(waitedMs).toBeLessThan(60_000)
      await delay(100)
    }
  }
}

const fileSystems = [
  ['tmpfs', mayMount, () => mountMemory(disk, 200)],
  ['ext4', mayMountExt4, () => mountExt4(disk, 256)],
] as const

describe.each(fileSystems)('%s, full to the last byte', (name, mayMountIt, mount) => {
  test.skipIf(!mayMountIt)(
    `reads, deletes and locks go on, writes are refused, and kill -9 loses nothing (skipped where ${name} can't be mounted)`,
    async () => {
      mount()
      let server = await serving()
      let client = clientOf(server)
      await client.send(new CreateBucketCommand({ Bucket, ObjectLockEnabledForBucket: true }))
      const versions = new Map<string, string | undefined>()
      for (const key of [...smallKeys, 'large-1', 'large-2']) versions.set(key, await put(client, key))
      fill()

      for (const key of ['small-0', 'large-1']) await reads(client, key)
      for (const key of ['small-new', 'large-new']) await untilRefused(client, key)
      await client.send(new DeleteObjectCommand({ Bucket, Key: 'small-1' }))
      await client.send(new DeleteObjectCommand({ Bucket, Key: 'small-2', VersionId: versions.get('small-2') }))
      await client.send(new PutObjectLegalHoldCommand({ Bucket, Key: 'small-3', LegalHold: { Status: 'ON' } }))
      const Retention = { Mode: 'COMPLIANCE', RetainUntilDate: new Date(Date.now() + hourMs) } as const
      await client.send(new PutObjectRetentionCommand({ Bucket, Key: 'small-4', Retention }))

      // What adds to the metadata is refused before the room for deletes is used up.
      const Tagging = (i: number) => ({
        TagSet: Array.from({ length: 10 }, (_, tag) => ({ Key: `${tag}`, Value: `${i}`.padEnd(250, 'x') })),
      })
      const growing = async (): Promise<void> => {
        for (let i = 0; i < 20_000; i++) {
          await Promise.all(
            smallKeys
              .slice(5)
              .map((Key) => client.send(new PutObjectTaggingCommand({ Bucket, Key, Tagging: Tagging(i) }))),
          )
          await client.send(new CreateBucketCommand({ Bucket: `bucket-${i}` }))
        }
      }
      await expect(growing()).rejects.toMatchObject(refused)
      for (const Key of smallKeys.slice(5, 15)) {
        await client.send(new DeleteObjectCommand({ Bucket, Key, VersionId: versions.get(Key) }))
      }

      server.child.kill('SIGKILL')
      await server.ended
      client.destroy()
      server = await serving()
      client = clientOf(server)
      await expect(reads(client, 'small-1')).rejects.toMatchObject({ name: 'NoSuchKey' })
      for (const Key of smallKeys.slice(5, 15))
        await expect(reads(client, Key)).rejects.toMatchObject({ name: 'NoSuchKey' })
      for (const key of ['small-0', 'small-3', 'small-20', 'large-1']) await reads(client, key)
      for (const Key of ['small-3', 'small-4']) {
        const removal = client.send(new DeleteObjectCommand({ Bucket, Key, VersionId: versions.get(Key) }))
        await expect(removal).rejects.toMatchObject({ name: 'AccessDenied' })
      }
      await untilRefused(client, 'small-new')

      await rm(filler())
      await takesAgain(client, 'small-new')
      await takesAgain(client, 'large-new')
      for (const key of ['small-new', 'large-new']) await reads(client, key)
      client.destroy()
      server.child.kill('SIGTERM')
      expect(await server.ended).toMatchObject({ code: 0 })
    },
    300_000,
  )

  test.skipIf(!mayMountIt)(
    `what is deleted is reclaimed, small and large (skipped where ${name} can't be mounted)`,
    async () => {
      mount()
      const server = await serving()
      const client = clientOf(server)
      await client.send(new CreateBucketCommand({ Bucket }))
      await client.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status: 'Suspended' } }))
      for (const key of smallKeys) await put(client, key)
      await put(client, 'large-1')
      const freeBlocks = fill()
      const Objects = smallKeys.map((Key) => ({ Key }))
      expect(await client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }))).not.toHaveProperty('Errors')
      client.destroy()
      server.child.kill('SIGTERM')
      await server.ended
      const outcome = await run(['reclaim', '--data', join(disk, 'data'), '--json'], keyVariables).ended
      expect(outcome, outcome.stderr).toMatchObject({ code: 0 })
      expect(JSON.parse(outcome.stdout.trim().split('\n').at(-1) ?? '')).toMatchObject({
        blobsRemoved: smallKeys.length,
      })
      expect(statfsSync(disk).bfree).toBeGreaterThan(freeBlocks)
    },
    300_000,
  )
})
