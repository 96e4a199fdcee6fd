/** What replication rules choose, over real servers: which objects, which versions, and what is never copied. */
import {
  CreateMultipartUploadCommand,
  DeleteBucketReplicationCommand,
  DeleteObjectCommand,
  GetObjectRetentionCommand,
  GetObjectTaggingCommand,
  HeadObjectCommand,
  PutObjectLegalHoldCommand,
  PutObjectRetentionCommand,
  PutObjectTaggingCommand,
} from '@aws-sdk/client-s3'
import { expect, it } from 'vitest'
import { startServer } from '../../src/index.ts'
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

const world = openReplicationWorld({ kmsKeys: ['other'] })
const statusOf = async (Key: string) => (await head(world.s3, from, Key)).ReplicationStatus
/** Something that is copied after all that came before it in its key's order, and a little later than them. */
const until = async (Key: string) => {
  await put(world.s3, Key, 'the last')
  await whenCopied(world.s3, Key)
}

it('copies what has the prefix and the tags, by the rule with the greatest priority', async () => {
  const tagged = { And: { Prefix: 'in/', Tags: [{ Key: 'copy', Value: 'yes' }] } }
  const DeleteMarkerReplication = { Status: 'Disabled' } as const
  await replicate(
    world.s3,
    from,
    ruleTo(remote, { ID: 'tagged', Priority: 1, Filter: tagged, DeleteMarkerReplication }),
    ruleTo(remote, {
      ID: 'cold',
      Priority: 2,
      Filter: { Prefix: 'in/cold' },
      Destination: { Bucket: remote, StorageClass: 'GLACIER' },
    }),
    ruleTo(local, { ID: 'off', Priority: 3, Status: 'Disabled' }),
  )
  await put(world.s3, 'in/a', 'a')
  await put(world.s3, 'out/b', 'b', { Tagging: 'copy=yes' })
  await put(world.s3, 'in/c', 'c', { Tagging: 'copy=yes&more=1' })
  await put(world.s3, 'in/cold/d', 'd', { Tagging: 'copy=yes' })
  await whenCopied(world.s3, 'in/c')
  await whenCopied(world.s3, 'in/cold/d')
  expect([await statusOf('in/a'), await statusOf('out/b')]).toEqual([undefined, undefined])
  expect(Object.keys(await history(world.far)).sort()).toEqual(['in/c', 'in/cold/d'])
  expect(await head(world.far, to, 'in/cold/d')).toMatchObject({ StorageClass: 'GLACIER' })
  expect(await history(world.s3)).toEqual({})
})

it('copies to several buckets, and is done when all have it', async () => {
  await makeBucket(world.far, 'third')
  await replicate(
    world.s3,
    from,
    ruleTo(remote, { Priority: 1 }),
    ruleTo(local, { Priority: 2 }),
    ruleTo('arn:minio:replication::PARIS:third', { ID: 'third', Priority: 3 }),
  )
  const { ETag } = await put(world.s3, 'a', 'a')
  await whenCopied(world.s3, 'a')
  const all = await Promise.all([history(world.far), history(world.s3), history(world.far, 'third')])
  expect(all).toEqual([{ a: [ETag] }, { a: [ETag] }, { a: [ETag] }])
})

it('copies more buckets than have a place at the same time, each in its turn', async () => {
  const buckets = Array.from({ length: 20 }, (_, i) => `many-${i}`)
  for (const Bucket of buckets) {
    await makeBucket(world.s3, Bucket)
    await replicate(world.s3, Bucket, ruleTo(local))
  }
  await Promise.all(buckets.map((Bucket) => put(world.s3, Bucket, 'a', { Bucket })))
  await expect.poll(async () => Object.keys(await history(world.s3)).sort()).toEqual(buckets.toSorted())
})

it('does not copy copies, so that two buckets can replicate to each other', async () => {
  await replicate(world.s3, from, ruleTo(local))
  await replicate(world.s3, to, ruleTo(`arn:aws:s3:::${from}`, { ID: 'back' }))
  const { ETag } = await put(world.s3, 'a', 'a')
  await whenCopied(world.s3, 'a')
  await world.s3.send(new DeleteObjectCommand({ Bucket: from, Key: 'a' }))
  const there = await put(world.s3, 'b', 'b', { Bucket: to })
  await expect.poll(() => history(world.s3, from)).toMatchObject({ b: [there.ETag] })
  await until('z')
  await put(world.s3, 'y', 'the last there', { Bucket: to })
  await expect.poll(async () => (await head(world.s3, to, 'y')).ReplicationStatus).toBe('COMPLETED')
  await until('zz')
  const wanted = { a: ['marker', ETag], b: [there.ETag] }
  expect(await history(world.s3, from)).toMatchObject(wanted)
  expect(await history(world.s3, to)).toMatchObject(wanted)
  expect((await history(world.s3, from)).z).toHaveLength(1)
})

it('lets two servers replicate to each other', async () => {
  const { port, credentials } = world.there
  await world.there.close()
  const { endpoint } = world.here
  const sites = { rome: { endpoint, ...world.here.credentials } }
  world.there = await startServer({ port, credentials, buckets: [to], sites })
  world.far = clientOf(world.there)
  await version(world.far, to)
  await replicate(world.s3, from, ruleTo(remote))
  await replicate(world.far, to, ruleTo(`arn:aws:s3:::rome/${from}`))
  const { ETag } = await put(world.s3, 'a', 'a')
  await whenCopied(world.s3, 'a')
  await world.s3.send(new DeleteObjectCommand({ Bucket: from, Key: 'a' }))
  const back = await put(world.far, 'b', 'b', { Bucket: to })
  await expect.poll(() => history(world.far)).toMatchObject({ a: ['marker', ETag] })
  // What comes after in the order of keys, in both directions, and once more.
  for (const key of ['x', 'y']) {
    await until(key)
    await put(world.far, `${key}${key}`, 'there', { Bucket: to })
    await expect.poll(async () => (await head(world.far, to, `${key}${key}`)).ReplicationStatus).toBe('COMPLETED')
  }
  const wanted = { a: ['marker', ETag], b: [back.ETag] }
  expect([await history(world.s3, from), await history(world.far)]).toMatchObject([wanted, wanted])
})

it('copies what changes while the copy is under way', async () => {
  await replicate(world.s3, from, ruleTo(remote))
  const slow = world.there.fail({ operation: 'PutObject', delayMs: 1_000 })
  await put(world.s3, 'a', 'a')
  await expect.poll(() => slow.met, { interval: 10 }).toBe(1)
  const Tagging = { TagSet: [{ Key: 'late', Value: 'yes' }] }
  await world.s3.send(new PutObjectTaggingCommand({ Bucket: from, Key: 'a', Tagging }))
  await whenCopied(world.s3, 'a')
  const found = await world.far.send(new GetObjectTaggingCommand({ Bucket: to, Key: 'a' }))
  expect(found.TagSet).toEqual(Tagging.TagSet)
  expect((await history(world.far)).a).toHaveLength(1)
})

it('removes no versions from the destination', async () => {
  await replicate(world.s3, from, ruleTo(remote))
  const { VersionId, ETag } = await put(world.s3, 'a', 'a')
  await whenCopied(world.s3, 'a')
  await world.s3.send(new DeleteObjectCommand({ Bucket: from, Key: 'a', VersionId }))
  await put(world.s3, 'b', 'b')
  await until('b')
  expect((await history(world.far)).a).toEqual([ETag])
})

it('does not copy delete markers if the rule says so', async () => {
  await replicate(world.s3, from, ruleTo(remote, { DeleteMarkerReplication: { Status: 'Disabled' } }))
  const { ETag } = await put(world.s3, 'a', 'a')
  await whenCopied(world.s3, 'a')
  await world.s3.send(new DeleteObjectCommand({ Bucket: from, Key: 'a' }))
  await until('a')
  expect((await history(world.far)).a).toHaveLength(2)
  expect((await history(world.far)).a).toContain(ETag)
})

it('copies locks, and later changes of them', async () => {
  await makeBucket(world.s3, 'vault', true)
  await makeBucket(world.far, 'safe', true)
  await replicate(world.s3, 'vault', ruleTo('arn:aws:s3:::paris/safe'))
  const soon = new Date(Math.ceil(Date.now() / 1000) * 1000 + 3_600_000)
  const later = new Date(soon.getTime() + 3_600_000)
  const locked = { ObjectLockMode: 'GOVERNANCE', ObjectLockRetainUntilDate: soon, Bucket: 'vault' } as const
  await put(world.s3, 'a', 'a', locked)
  const copied = () =>
    expect.poll(async () => (await head(world.s3, 'vault', 'a')).ReplicationStatus, { interval: 20 }).toBe('COMPLETED')
  await copied()
  expect(await head(world.far, 'safe', 'a')).toMatchObject({
    ObjectLockMode: 'GOVERNANCE',
    ObjectLockRetainUntilDate: soon,
  })
  const Retention = { Mode: 'GOVERNANCE', RetainUntilDate: later } as const
  await world.s3.send(new PutObjectRetentionCommand({ Bucket: 'vault', Key: 'a', Retention }))
  await world.s3.send(new PutObjectLegalHoldCommand({ Bucket: 'vault', Key: 'a', LegalHold: { Status: 'ON' } }))
  await copied()
  const found = await world.far.send(new GetObjectRetentionCommand({ Bucket: 'safe', Key: 'a' }))
  expect(found.Retention).toEqual(Retention)
  expect(await head(world.far, 'safe', 'a')).toMatchObject({ ObjectLockLegalHoldStatus: 'ON' })
  const weakened = { Mode: 'GOVERNANCE', RetainUntilDate: soon } as const
  const bypassing = { Bucket: 'vault', Key: 'a', Retention: weakened, BypassGovernanceRetention: true }
  await world.s3.send(new PutObjectRetentionCommand(bypassing))
  await copied()
  expect(await head(world.far, 'safe', 'a')).toMatchObject({ ObjectLockRetainUntilDate: soon })
})

it('copies objects that this server can open, those of SSE-KMS only if the rule says so', async () => {
  await replicate(world.s3, from, ruleTo(local, { Filter: { Prefix: 'a' } }))
  await put(world.s3, 'a/store', 'a', { ServerSideEncryption: 'AES256' })
  await put(world.s3, 'a/kms', 'a', { ServerSideEncryption: 'aws:kms' })
  await whenCopied(world.s3, 'a/store')
  expect(await head(world.s3, to, 'a/store')).toMatchObject({ ServerSideEncryption: 'AES256' })
  expect(await statusOf('a/kms')).toBeUndefined()
  const SourceSelectionCriteria = { SseKmsEncryptedObjects: { Status: 'Enabled' } } as const
  const Destination = { Bucket: local, EncryptionConfiguration: { ReplicaKmsKeyID: 'other' } }
  await replicate(world.s3, from, ruleTo(local, { SourceSelectionCriteria, Destination }))
  await put(world.s3, 'b/kms', 'b', { ServerSideEncryption: 'aws:kms' })
  await whenCopied(world.s3, 'b/kms')
  const copy = await head(world.s3, to, 'b/kms')
  expect(copy).toMatchObject({ ServerSideEncryption: 'aws:kms', SSEKMSKeyId: expect.stringContaining('other') })
  const SSECustomerKey = Buffer.alloc(32, 1).toString('base64')
  await put(world.s3, 'c', 'c', { SSECustomerAlgorithm: 'AES256', SSECustomerKey })
  const asked = { Bucket: from, Key: 'c', SSECustomerAlgorithm: 'AES256', SSECustomerKey }
  await expect
    .poll(async () => (await world.s3.send(new HeadObjectCommand(asked))).ReplicationStatus, { timeout: 60_000 })
    .toBe('FAILED')
  expect(world.warnings.join()).toContain('only its client has the key')
})

it('copies existing versions if the rule says so, in order', async () => {
  const wanted: Record<string, (string | undefined)[]> = { a: [], b: [] }
  for (const Key of ['a', 'b', 'a', 'b', 'a'])
    wanted[Key]?.unshift((await put(world.s3, Key, `${Key} ${Math.random()}`)).ETag)
  await world.s3.send(new DeleteObjectCommand({ Bucket: from, Key: 'b' }))
  wanted.b?.unshift('marker')
  await replicate(world.s3, from, ruleTo(remote, { ExistingObjectReplication: { Status: 'Enabled' } }))
  wanted.a?.unshift((await put(world.s3, 'a', 'after the rule')).ETag)
  await whenCopied(world.s3, 'a')
  await expect.poll(() => history(world.far)).toEqual(wanted)
})

it('does not copy existing versions unless the rule says so, nor versions that are written after the rules are gone', async () => {
  await put(world.s3, 'before', 'a')
  await replicate(world.s3, from, ruleTo(remote))
  await until('during')
  await world.s3.send(new DeleteBucketReplicationCommand({ Bucket: from }))
  await put(world.s3, 'after', 'a')
  expect([await statusOf('before'), await statusOf('after')]).toEqual([undefined, undefined])
  expect(Object.keys(await history(world.far))).toEqual(['during'])
})

it('marks only copies as replicas', async () => {
  await replicate(world.s3, from, ruleTo(remote))
  await world.s3.send(new CreateMultipartUploadCommand({ Bucket: from, Key: 'open' }))
  await until('a')
  await put(world.far, 'b', 'b', { Bucket: to })
  expect((await head(world.far, to, 'b')).ReplicationStatus).toBeUndefined()
  expect((await head(world.far, to, 'a')).ReplicationStatus).toBe('REPLICA')
})
