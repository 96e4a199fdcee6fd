import { join } from 'node:path'
import {
  AbortMultipartUploadCommand,
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  PutObjectCommand,
  PutObjectLegalHoldCommand,
  type S3Client,
} from '@aws-sdk/client-s3'
import { beforeEach, expect, test } from 'vitest'
import { run, serve } from '../cli/holdfast-process.ts'
import { openWorkplace, testClient } from '../cli/workplace.ts'
import { seededRandom } from '../support/seeded.ts'
import { leftovers } from './storm-end.ts'
import { Expectations, StormWriter, violations } from './storm-writer.ts'
import { VaultWriter } from './vault-writer.ts'

const scale = Number(process.env.HOLDFAST_TRUST_SCALE ?? '1')
const cycles = scale === 1 ? 8 : 20 * scale
const writers = 16
/** Of them, how many work with versions and locks. */
const vaultWriters = 5
const keysEach = 6
const bucket = 'storm'
const vault = 'storm-vault'

const place = openWorkplace('storm')
let data: string

beforeEach(() => {
  data = place.path('data')
})

function clientOf(endpoint: string): S3Client {
  // A retry would hide which attempt it was that the server acknowledged.
  return testClient(endpoint, { maxAttempts: 1 })
}

const start = (workers = 1) => serve(['serve', '--data', data, '--listen', '127.0.0.1:0', '--workers', String(workers)])

async function stop(server: Awaited<ReturnType<typeof start>>): Promise<void> {
  server.child.kill('SIGTERM')
  expect(await server.ended).toMatchObject({ code: 0 })
}

test(
  `${cycles} times killed under ${writers} writers, it keeps every acknowledged change and leaves nothing behind`,
  async () => {
    const seed = Number(process.env.HOLDFAST_STORM_SEED ?? Math.floor(Math.random() * 2 ** 31))
    console.info(`storm seed: HOLDFAST_STORM_SEED=${seed}`)
    const random = seededRandom(seed)
    const expectations = new Expectations()
    const vaultCrew = Array.from(
      { length: vaultWriters },
      (_, w) => new VaultWriter(vault, `vault-${w}`, seededRandom(seed - w - 1)),
    )
    const crew = Array.from({ length: writers - vaultWriters }, (_, w) => {
      const keys = Array.from({ length: keysEach }, (_, k) => `writer-${w}/key-${k}`)
      return new StormWriter(bucket, keys, seededRandom(seed + w + 1), expectations)
    })

    const allViolations = async (client: S3Client): Promise<string[]> => {
      const ofVaults = await Promise.all(vaultCrew.map((writer) => writer.violations(client)))
      return [...(await violations(client, bucket, expectations)), ...ofVaults.flat()]
    }

    let acknowledgedInAll = 0
    for (let cycle = 0; cycle < cycles; cycle++) {
      // Two workers make their own commits, the primary makes those of three.
      const server = await start(1 + Math.floor(random() * 3))
      const client = clientOf(server.ready.endpoint)
      if (cycle === 0) {
        await client.send(new CreateBucketCommand({ Bucket: bucket }))
        await client.send(new CreateBucketCommand({ Bucket: vault, ObjectLockEnabledForBucket: true }))
      }
      expect(await allViolations(client), `cycle ${cycle}, seed ${seed}`).toEqual([])

      let untilKill = 20 + Math.floor(random() * 200)
      const onAcknowledged = (): void => {
        acknowledgedInAll += 1
        untilKill -= 1
        if (untilKill === 0) server.child.kill('SIGKILL')
      }
      await Promise.all([...crew, ...vaultCrew].map((writer) => writer.work(client, onAcknowledged)))
      expect((await server.ended).signal).toBe('SIGKILL')
      client.destroy()
    }
    expect(acknowledgedInAll).toBeGreaterThan(20 * cycles)

    await reclaim()
    const server = await start()
    const client = clientOf(server.ready.endpoint)
    expect(await allViolations(client), `after reclaim, seed ${seed}`).toEqual([])
    await removeEverything(client)
    client.destroy()
    await stop(server)
    await reclaim()
    expect(await leftovers([join(data, 'store')])).toEqual([])
  },
  10 * 60_000 * scale,
)

test('the check notices a change that was lost, an object that came back, and wrong bytes', async () => {
  const server = await start()
  const client = clientOf(server.ready.endpoint)
  await client.send(new CreateBucketCommand({ Bucket: bucket }))
  const expectations = new Expectations()
  await client.send(new PutObjectCommand({ Bucket: bucket, Key: 'other-bytes', Body: 'x'.repeat(100) }))
  await client.send(new PutObjectCommand({ Bucket: bucket, Key: 'came-back', Body: 'x' }))
  expectations.acknowledged('other-bytes', { seed: 1, size: 100, tag: undefined })
  expectations.acknowledged('came-back', undefined)
  expectations.acknowledged('lost', { seed: 1, size: 100, tag: undefined })
  expectations.acknowledged('rightly-absent', undefined)
  const found = await violations(client, bucket, expectations)
  expect(found.map((sentence) => sentence.split(':')[0])).toEqual(['other-bytes', 'came-back', 'lost'])
  client.destroy()
  await stop(server)
})

/** All jobs, offline, with no grace. Twice: what the first run makes garbage the second removes. */
async function reclaim(): Promise<void> {
  for (let i = 0; i < 2; i++) {
    expect(await run(['reclaim', '--data', data, '--grace', '0', '--quarantine', '0', '--json']).ended).toMatchObject({
      code: 0,
    })
  }
}

async function removeEverything(client: S3Client): Promise<void> {
  while (true) {
    const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: bucket }))
    if (Contents.length === 0) break
    await Promise.all(Contents.map(({ Key }) => client.send(new DeleteObjectCommand({ Bucket: bucket, Key }))))
  }
  const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: bucket }))
  for (const { Key, UploadId } of Uploads) {
    await client.send(new AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId }))
  }
  await client.send(new DeleteBucketCommand({ Bucket: bucket }))
  await emptyVault(client)
  await client.send(new DeleteBucketCommand({ Bucket: vault }))
}

/** Lifts every hold, and passes over every retention. */
async function emptyVault(client: S3Client): Promise<void> {
  while (true) {
    const { Versions = [], DeleteMarkers = [] } = await client.send(new ListObjectVersionsCommand({ Bucket: vault }))
    if (Versions.length + DeleteMarkers.length === 0) return
    for (const { Key, VersionId } of Versions) {
      const LegalHold = { Status: 'OFF' } as const
      await client.send(new PutObjectLegalHoldCommand({ Bucket: vault, Key, VersionId, LegalHold }))
    }
    for (const { Key, VersionId } of [...Versions, ...DeleteMarkers]) {
      const version = { Bucket: vault, Key, VersionId }
      await client.send(new DeleteObjectCommand({ ...version, BypassGovernanceRetention: true }))
    }
  }
}

/** Files that the store keeps, but for its identity. */

test('the check notices a version that was lost from under its lock', async () => {
  const server = await start()
  const client = clientOf(server.ready.endpoint)
  await client.send(new CreateBucketCommand({ Bucket: vault, ObjectLockEnabledForBucket: true }))
  const writer = new VaultWriter(vault, 'vault-0', seededRandom(1))
  let changes = 0
  await writer.work(client, () => {
    changes += 1
    if (changes === 40) throw new Error('enough')
  })
  expect(await writer.violations(client)).toEqual([])
  await emptyVault(client)
  const found = await writer.violations(client)
  expect(found.length).toBeGreaterThan(0)
  expect(found.every((sentence) => sentence.endsWith('is lost'))).toBe(true)
  client.destroy()
  await stop(server)
})
