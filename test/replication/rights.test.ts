/** Replication gives nobody rights: neither who sets the rules, nor the owner of the bucket. And a copy is taken for that of its original only. */
import {
  CreateBucketCommand,
  DeleteBucketReplicationCommand,
  PutBucketPolicyCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import { AssumeRoleCommand, STSClient } from '@aws-sdk/client-sts'
import { describe, expect, it } from 'vitest'
import {
  from,
  head,
  history,
  local,
  openReplicationWorld,
  put,
  read,
  remote,
  replicate,
  ruleTo,
  to,
  version,
  whenCopied,
} from './replication-world.ts'

const guest = { accessKeyId: 'GUESTKEY', secretAccessKey: 'secret-of-the-guest' }
const world = openReplicationWorld({ accounts: [{ id: 'guest', name: 'Guest', keys: [guest] }] })

interface Statement {
  Effect?: 'Allow' | 'Deny'
  Action: string | string[]
  Resource?: string | string[]
  NotResource?: string
}

const allOf = (bucket: string): string[] => [bucket, `${bucket}/*`].map((path) => `arn:aws:s3:::${path}`)
const source: Statement = { Action: 's3:*', Resource: allOf(from) }
const copying = ['s3:ReplicateObject', 's3:ReplicateTags']

/** A client that may do only what the statements say. */
async function narrowed(...statements: Statement[]): Promise<S3Client> {
  const sts = new STSClient({ ...world.here.clientConfig() })
  const Policy = JSON.stringify({
    Version: '2012-10-17',
    Statement: statements.map((statement) => ({ Effect: 'Allow', ...statement })),
  })
  const asked = { RoleArn: 'arn:aws:iam::000000000000:role/any', RoleSessionName: 'narrow', Policy }
  const { Credentials } = await sts.send(new AssumeRoleCommand(asked))
  sts.destroy()
  const { AccessKeyId = '', SecretAccessKey = '', SessionToken = '' } = Credentials ?? {}
  const credentials = { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey, sessionToken: SessionToken }
  return new S3Client({ ...world.here.clientConfig(), credentials, maxAttempts: 1 })
}

const withoutMarkers = { DeleteMarkerReplication: { Status: 'Disabled' } } as const
const refused = { name: 'AccessDenied' }

describe.each([
  { where: 'a bucket of another server', arn: remote },
  { where: 'a bucket of the same server', arn: local },
])('rules that copy to $where', ({ arn }) => {
  it('are refused to a sender who may write nothing there', async () => {
    const client = await narrowed(source)
    await expect(replicate(client, from, ruleTo(arn, withoutMarkers))).rejects.toMatchObject(refused)
  })

  it('may hide keys there if their sender may', async () => {
    const client = await narrowed(source, { Action: copying, Resource: `${arn}/*` })
    await expect(replicate(client, from, ruleTo(arn))).rejects.toMatchObject(refused)
    await replicate(client, from, ruleTo(arn, withoutMarkers))
    const other = await narrowed(source, { Action: [...copying, 's3:ReplicateDelete'], Resource: `${arn}/*` })
    await replicate(other, from, ruleTo(arn))
  })

  it('bring tags if their sender may set tags there', async () => {
    const client = await narrowed(source, { Action: 's3:ReplicateObject', Resource: `${arn}/*` })
    await expect(replicate(client, from, ruleTo(arn, withoutMarkers))).rejects.toMatchObject(refused)
  })

  it.each<[string, Statement[]]>([
    [
      'is denied',
      [
        { Action: 's3:*', Resource: `${arn}/*` },
        { Effect: 'Deny', Action: 's3:*', Resource: `${arn}/secret/*` },
      ],
    ],
    ['is not allowed', [{ Action: 's3:*', Resource: `${arn}/public/*` }]],
    ['is left out', [{ Action: 's3:*', NotResource: `${arn}/secret/*` }]],
    [
      'is the only thing not denied',
      [
        { Action: 's3:*', Resource: `${arn}/*` },
        { Effect: 'Deny', Action: 's3:Replicate*', NotResource: `${arn}/public/*` },
      ],
    ],
  ])('stay within the keys that their sender may write, where a part of them %s', async (_, statements) => {
    const client = await narrowed(source, ...statements)
    for (const Prefix of ['', 'secret/', 's']) {
      await expect(replicate(client, from, ruleTo(arn, { Filter: { Prefix } }))).rejects.toMatchObject(refused)
    }
    await replicate(client, from, ruleTo(arn, { Filter: { Prefix: 'public/' } }))
  })
})

it('is set only by a sender who may read the bucket', async () => {
  const writing: Statement = { Action: ['s3:Put*'], Resource: allOf(from) }
  const there: Statement = { Action: 's3:*', Resource: allOf(to) }
  const client = await narrowed(writing, there)
  await expect(replicate(client, from, ruleTo(local))).rejects.toMatchObject(refused)
  await replicate(
    await narrowed(writing, there, { Action: 's3:GetObject*', Resource: `arn:aws:s3:::${from}/*` }),
    from,
    ruleTo(local),
  )
})

it('copies nothing that another account keeps from the owner of the bucket', async () => {
  const Bucket = 'shared'
  await world.s3.send(new CreateBucketCommand({ Bucket, ObjectOwnership: 'ObjectWriter' }))
  await version(world.s3, Bucket)
  const statement = {
    Effect: 'Allow',
    Principal: { AWS: 'arn:aws:iam::guest:root' },
    Action: ['s3:PutObject', 's3:PutObjectAcl'],
    Resource: `arn:aws:s3:::${Bucket}/*`,
  }
  const Policy = JSON.stringify({ Version: '2012-10-17', Statement: [statement] })
  await world.s3.send(new PutBucketPolicyCommand({ Bucket, Policy }))
  await replicate(world.s3, Bucket, ruleTo(local))
  const guests = new S3Client({ ...world.here.clientConfig(), credentials: { ...guest } })
  await guests.send(new PutObjectCommand({ Bucket, Key: 'open', Body: 'read me', ACL: 'bucket-owner-read' }))
  await guests.send(new PutObjectCommand({ Bucket, Key: 'closed', Body: 'mine' }))
  await guests.send(new PutObjectCommand({ Bucket, Key: 'public', Body: 'read me', ACL: 'public-read' }))
  guests.destroy()
  await expect.poll(async () => Object.keys(await history(world.s3)).sort()).toEqual(['open', 'public'])
  await expect.poll(() => world.warnings.join()).toContain('gave up closed: it belongs to another account')
})

describe.each([
  { where: 'another server', arn: remote },
  { where: 'the same server', arn: local },
])('of null versions, on $where', ({ arn }) => {
  const existing = { ExistingObjectReplication: { Status: 'Enabled' } } as const
  const target = () => (arn === remote ? world.far : world.s3)

  it('copies those of two buckets that have the same key', async () => {
    for (const Bucket of ['one', 'two']) {
      await world.s3.send(new CreateBucketCommand({ Bucket }))
      await put(world.s3, 'a', Bucket, { Bucket })
      await version(world.s3, Bucket)
      await replicate(world.s3, Bucket, ruleTo(arn, existing))
      await expect.poll(async () => (await head(world.s3, Bucket, 'a')).ReplicationStatus).toBe('COMPLETED')
      expect(await read(target(), 'a')).toBe(Bucket)
    }
  })

  it('copies one that replaces another', async () => {
    for (const body of ['first', 'second']) {
      const VersioningConfiguration = { Status: 'Suspended' } as const
      await world.s3.send(new DeleteBucketReplicationCommand({ Bucket: from }))
      await world.s3.send(new PutBucketVersioningCommand({ Bucket: from, VersioningConfiguration }))
      await put(world.s3, 'a', body)
      await version(world.s3, from)
      await replicate(world.s3, from, ruleTo(arn, existing))
      await whenCopied(world.s3, 'a')
      expect(await read(target(), 'a')).toBe(body)
    }
  })
})
