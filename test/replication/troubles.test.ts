/** Replication while the other server is away, busy, refuses, or loses answers: nothing is lost, and nothing is copied twice. */
import { mkdtemp, open, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteBucketCommand,
  DeleteBucketReplicationCommand,
  DeleteObjectCommand,
  ListMultipartUploadsCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { expect, it } from 'vitest'
import { startServer } from '../../src/index.ts'
import { patternBytes } from '../support/seeded.ts'
import {
  clientOf,
  from,
  head,
  history,
  local,
  makeBucket,
  openReplicationWorld,
  put,
  remote,
  replicate,
  ruleTo,
  to,
  version,
  whenCopied,
} from './replication-world.ts'

const world = openReplicationWorld()

it('waits for a server that is away, and says so once', async () => {
  await replicate(world.s3, from, ruleTo(remote))
  const { port, credentials } = world.there
  await world.there.close()
  const { ETag } = await put(world.s3, 'a', 'a')
  await expect.poll(() => world.warnings.join()).toContain('is paused')
  expect(await head(world.s3, from, 'a')).toMatchObject({ ReplicationStatus: 'PENDING' })
  world.there = await startServer({ port, credentials, buckets: [to] })
  world.far = clientOf(world.there)
  await version(world.far, to)
  await whenCopied(world.s3, 'a')
  expect(await history(world.far)).toEqual({ a: [ETag] })
  expect(world.warnings).toHaveLength(1)
})

it.each([
  ['PutObject', 'a'],
  ['DeleteObject', 'a'],
] as const)('makes nothing twice when the answer to %s gets lost', async (operation, Key) => {
  await replicate(world.s3, from, ruleTo(remote))
  const wanted = [(await put(world.s3, Key, 'first')).ETag]
  await whenCopied(world.s3, Key)
  const failure = world.there.fail({ operation, disconnect: 'after' })
  if (operation === 'DeleteObject') {
    await world.s3.send(new DeleteObjectCommand({ Bucket: from, Key }))
    wanted.unshift('marker')
    await expect.poll(() => failure.met).toBe(1)
  }
  wanted.unshift((await put(world.s3, Key, 'second')).ETag)
  await whenCopied(world.s3, Key)
  expect(failure.met).toBe(1)
  expect(await history(world.far)).toEqual({ a: wanted })
})

it('makes a multipart object once when the answer to its completion gets lost, and leaves no upload open', async () => {
  await replicate(world.s3, from, ruleTo(remote))
  const address = { Bucket: from, Key: 'a' }
  const failures = [
    world.there.fail({ operation: 'UploadPart', error: 'InternalError' }),
    world.there.fail({ operation: 'CompleteMultipartUpload', disconnect: 'after' }),
  ]
  const { UploadId } = await world.s3.send(new CreateMultipartUploadCommand(address))
  const Parts = []
  for (const PartNumber of [1, 2]) {
    const Body = patternBytes(PartNumber, PartNumber === 1 ? 5 * 1024 * 1024 : 10)
    const { ETag } = await world.s3.send(new UploadPartCommand({ ...address, UploadId, PartNumber, Body }))
    Parts.push({ ETag, PartNumber })
  }
  await world.s3.send(new CompleteMultipartUploadCommand({ ...address, UploadId, MultipartUpload: { Parts } }))
  const { ETag } = await whenCopied(world.s3, 'a')
  expect(failures.map(({ met }) => met)).toEqual([1, 1])
  expect(await history(world.far)).toEqual({ a: [ETag] })
  expect((await world.far.send(new ListMultipartUploadsCommand({ Bucket: to }))).Uploads).toBeUndefined()
})

it('holds up only the versions behind one that is refused, and fails it after some tries', async () => {
  await makeBucket(world.s3, 'vault', true)
  await replicate(world.s3, 'vault', ruleTo(remote))
  const ObjectLockRetainUntilDate = new Date(Date.now() + 3_600_000)
  // The other bucket has no lock.
  const { VersionId } = await put(world.s3, 'a', 'locked', {
    Bucket: 'vault',
    ObjectLockMode: 'GOVERNANCE',
    ObjectLockRetainUntilDate,
  })
  await put(world.s3, 'b', 'free', { Bucket: 'vault' })
  const status = (Key: string) => async () => (await head(world.s3, 'vault', Key)).ReplicationStatus
  await expect.poll(status('b')).toBe('COMPLETED')
  expect(await status('a')()).toBe('PENDING')
  await put(world.s3, 'a', 'free again', { Bucket: 'vault' })
  await expect.poll(status('a'), { timeout: 60_000 }).toBe('COMPLETED')
  expect((await head(world.s3, 'vault', 'a', VersionId)).ReplicationStatus).toBe('FAILED')
  expect(await history(world.far)).toEqual({ a: [expect.anything()], b: [expect.anything()] })
  expect(world.warnings.join()).toContain('refused a version')
})

it('goes on with other buckets while a destination is gone, and forgets what waited in a bucket that is removed', async () => {
  await makeBucket(world.far, 'short-lived')
  await makeBucket(world.s3, 'other')
  await replicate(world.s3, 'other', ruleTo('arn:aws:s3:::paris/short-lived'))
  await replicate(world.s3, from, ruleTo(local))
  await world.far.send(new DeleteBucketCommand({ Bucket: 'short-lived' }))
  const { VersionId } = await put(world.s3, 'x', 'x', { Bucket: 'other' })
  await put(world.s3, 'a', 'a')
  await whenCopied(world.s3, 'a')
  expect(await head(world.s3, 'other', 'x')).toMatchObject({ ReplicationStatus: 'PENDING' })
  await world.s3.send(new DeleteObjectCommand({ Bucket: 'other', Key: 'x', VersionId }))
  await world.s3.send(new DeleteBucketCommand({ Bucket: 'other' }))
  await makeBucket(world.far, 'short-lived')
  await makeBucket(world.s3, 'other')
  await replicate(world.s3, 'other', ruleTo('arn:aws:s3:::paris/short-lived'))
  const { ETag } = await put(world.s3, 'x', 'y', { Bucket: 'other' })
  await expect.poll(() => history(world.far, 'short-lived'), { timeout: 60_000 }).toEqual({ x: [ETag] })
})

it('copies failed versions once the rule is set again, but not over a newer version', async () => {
  await replicate(world.s3, from, ruleTo(remote))
  // Four times, each of three versions is refused.
  const failure = world.there.fail({ operation: 'PutObject', error: 'InvalidRequest', times: 12 })
  const first = await put(world.s3, 'hidden', 'first')
  await put(world.s3, 'alone', 'alone')
  await put(world.s3, 'another', 'another')
  for (const Key of ['hidden', 'alone', 'another']) {
    await expect
      .poll(async () => (await head(world.s3, from, Key)).ReplicationStatus, { timeout: 60_000 })
      .toBe('FAILED')
  }
  expect(failure.met).toBe(12)
  const { ETag } = await put(world.s3, 'hidden', 'second')
  await whenCopied(world.s3, 'hidden')
  await replicate(world.s3, from, ruleTo(remote, { ExistingObjectReplication: { Status: 'Enabled' } }))
  await whenCopied(world.s3, 'alone')
  await whenCopied(world.s3, 'another')
  expect((await history(world.far)).hidden).toEqual([ETag])
  expect((await head(world.s3, from, 'hidden', first.VersionId)).ReplicationStatus).toBe('FAILED')
})

it('forgets what waits for a site when no rule names it any more', async () => {
  const { port, credentials } = world.there
  await replicate(world.s3, from, ruleTo(remote))
  await world.there.close()
  await put(world.s3, 'a', 'a')
  await expect.poll(() => world.warnings.join()).toContain('is paused')
  await world.s3.send(new DeleteBucketReplicationCommand({ Bucket: from }))
  await expect
    .poll(async () => (await head(world.s3, from, 'a')).ReplicationStatus, { timeout: 60_000 })
    .toBeUndefined()
  world.there = await startServer({ port, credentials, buckets: [to] })
})

it('goes on beside an original that is damaged, and fails it', async () => {
  const data = await mkdtemp(join(tmpdir(), 'holdfast-damaged-original-'))
  const { endpoint, credentials } = world.there
  const own = await startServer({ data, buckets: [from], sites: { paris: { endpoint, ...credentials } } })
  const s3 = clientOf(own)
  try {
    await version(s3, from)
    await put(s3, 'a', patternBytes(1, 100_000))
    await put(s3, 'b', patternBytes(2, 100_000))
    await damage(join(data, 'store'), patternBytes(1, 100_000).subarray(0, 64))
    await replicate(s3, from, ruleTo(remote, { ExistingObjectReplication: { Status: 'Enabled' } }))
    const status = (Key: string) => async () => (await head(s3, from, Key)).ReplicationStatus
    await expect.poll(status('b')).toBe('COMPLETED')
    await expect.poll(status('a'), { timeout: 60_000 }).toBe('FAILED')
    expect(Object.keys(await history(world.far))).toEqual(['b'])
  } finally {
    s3.destroy()
    await own.close()
    await rm(data, { recursive: true, force: true })
  }
})

/** Changes one byte of what begins with `start`, in whichever file below the directory it lies. */
async function damage(directory: string, start: Buffer): Promise<void> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  for (const entry of entries.filter((one) => one.isFile())) {
    const path = join(entry.parentPath, entry.name)
    const at = (await readFile(path)).indexOf(start)
    if (at < 0) continue
    const file = await open(path, 'r+')
    await file.write(Buffer.from([0xff ^ (start[10] ?? 0)]), 0, 1, at + 10)
    return file.close()
  }
  throw new Error('no file holds it')
}
