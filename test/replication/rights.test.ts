/** Replication gives nobody rights: neither who sets the rules, nor the owner of the bucket. And a copy is taken for that of its original only. */
import {
  CreateBucketCommand,
  DeleteBucketPolicyCommand,
  DeleteBucketReplicationCommand,
  DeleteObjectCommand,
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
  Condition?: object
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
])('what a user has set to copy to $where', ({ arn }) => {
  const target = () => (arn === remote ? world.far : world.s3)
  const everywhere: Statement = { Action: 's3:*', Resource: [...allOf(from), `${arn}/*`] }

  async function allowOnly(...statements: Statement[]): Promise<void> {
    const Statement = statements.map((statement) => ({ Effect: 'Allow', ...statement }))
    const document = JSON.stringify({ Version: '2012-10-17', Statement })
    await world.here.identities.users.putInlinePolicy('main', 'ann', { name: 'own', document })
  }

  /** Rules that the user has set, and a copy that they made. */
  async function setByAnn(): Promise<void> {
    await world.here.identities.users.create('main', { name: 'ann' })
    await allowOnly(everywhere)
    const { accessKeyId, secretAccessKey } = await world.here.identities.keys.add({ accountId: 'main', user: 'ann' })
    const client = new S3Client({ ...world.here.clientConfig(), credentials: { accessKeyId, secretAccessKey } })
    await replicate(client, from, ruleTo(arn))
    client.destroy()
    await put(world.s3, 'before', 'copied')
    await whenCopied(world.s3, 'before')
  }

  it.each<[string, (name: string) => Promise<unknown>]>([
    ['is removed', (name) => world.here.identities.users.remove('main', name)],
    ['is disabled', (name) => world.here.identities.users.setDisabled('main', name, true)],
  ])('waits when the user %s, until somebody else sets the rules', async (_, end) => {
    await setByAnn()
    await end('ann')
    await put(world.s3, 'after', 'not copied')
    await expect.poll(() => world.warnings.join()).toContain('who set the rules is gone or disabled')
    expect(Object.keys(await history(target()))).toEqual(['before'])
    await replicate(world.s3, from, ruleTo(arn))
    await whenCopied(world.s3, 'after')
  })

  it.each<[string, Statement]>([
    ['write', { Action: 's3:ReplicateObject', Resource: `${arn}/secret/*` }],
    ['read', { Action: 's3:GetObject*', Resource: `arn:aws:s3:::${from}/secret/*` }],
  ])('stays where it is if the user may not %s it any more, and the rest goes on', async (_, statement) => {
    await setByAnn()
    await allowOnly(everywhere, { ...statement, Effect: 'Deny' })
    await put(world.s3, 'secret/a', 'not copied')
    await put(world.s3, 'open/a', 'copied')
    await whenCopied(world.s3, 'open/a')
    await expect.poll(() => world.warnings.join()).toContain('who set the rules may not copy it')
    expect(Object.keys(await history(target())).sort()).toEqual(['before', 'open/a'])
  })

  it('hides no key any more that the user may not hide', async () => {
    await setByAnn()
    await allowOnly(everywhere, { Effect: 'Deny', Action: 's3:ReplicateDelete', Resource: `${arn}/*` })
    await world.s3.send(new DeleteObjectCommand({ Bucket: from, Key: 'before' }))
    await expect.poll(() => world.warnings.join()).toContain('who set the rules may not copy it')
    expect(await read(target(), 'before')).toBe('copied')
  })

  it('is copied also when the key is gone with which the user set it', async () => {
    await setByAnn()
    for (const { accessKeyId } of await world.here.identities.keys.list({ accountId: 'main', user: 'ann' }))
      await world.here.identities.keys.remove(accessKeyId)
    await put(world.s3, 'after', 'copied')
    await whenCopied(world.s3, 'after')
  })
})

it('obeys the policy of the destination as it is at each copy', async () => {
  await replicate(world.s3, from, ruleTo(local))
  const statement = { Effect: 'Deny', Principal: '*', Action: 's3:ReplicateObject', Resource: allOf(to)[1] }
  const Policy = JSON.stringify({ Version: '2012-10-17', Statement: [statement] })
  await world.s3.send(new PutBucketPolicyCommand({ Bucket: to, Policy }))
  await put(world.s3, 'a', 'copied later')
  await expect.poll(() => world.warnings.join()).toContain('who set the rules may not copy it')
  expect(await history(world.s3)).toEqual({})
  await world.s3.send(new DeleteBucketPolicyCommand({ Bucket: to }))
  await whenCopied(world.s3, 'a')
})

it('is taken by a destination that refuses what comes without TLS', async () => {
  await replicate(world.s3, from, ruleTo(local))
  const Condition = { BoolIfExists: { 'aws:SecureTransport': 'false' } }
  const statement = { Effect: 'Deny', Principal: '*', Action: 's3:Replicate*', Resource: allOf(to)[1], Condition }
  const Policy = JSON.stringify({ Version: '2012-10-17', Statement: [statement] })
  await world.s3.send(new PutBucketPolicyCommand({ Bucket: to, Policy }))
  await put(world.s3, 'a', 'copied')
  await whenCopied(world.s3, 'a')
})

it('meets conditions on the request that set the rules', async () => {
  const Condition = { IpAddress: { 'aws:SourceIp': '127.0.0.0/8' } }
  const client = await narrowed({ ...source, Condition }, { Action: 's3:*', Resource: allOf(to), Condition })
  await replicate(client, from, ruleTo(local))
  await put(world.s3, 'a', 'copied')
  await whenCopied(world.s3, 'a')
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
