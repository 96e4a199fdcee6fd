/** Several servers over one PostgreSQL and one shared store, as real processes: what one does, the others know; and what keeps a server from starting. */
import { readFile } from 'node:fs/promises'
import {
  CompleteMultipartUploadCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetBucketPolicyCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListBucketsCommand,
  ListObjectsV2Command,
  PutBucketPolicyCommand,
  PutObjectCommand,
  PutObjectRetentionCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { beforeEach, expect, it } from 'vitest'
import { describeInstalled } from '../support/installed.ts'
import { postgresProbe } from '../support/postgres.ts'
import { openGatewayWorkplace, ringVariables } from './gateway-workplace.ts'
import { askedEverySecond, keyVariables, type Outcome, run, serve } from './holdfast-process.ts'

const Bucket = 'photos'

describeInstalled('servers over PostgreSQL', [postgresProbe], () => {
  const place = openGatewayWorkplace('gateways')
  const { variables } = place
  beforeEach(() => {
    const { HOLDFAST_METADATA_URL: url = '' } = variables
    const withPassword = url.replace('holdfast@', 'holdfast:canary-password@')
    Object.assign(variables, ringVariables, { HOLDFAST_METADATA_URL: withPassword })
  })
  const words = (host: string, ...more: string[]): string[] => [
    'serve',
    '--data',
    place.path(host),
    '--listen',
    '127.0.0.1:0',
    '--admin-listen',
    '127.0.0.1:0',
    ...more,
  ]
  const start = (host: string) => serve(words(host), variables)
  const command = (...asked: string[]): Promise<Outcome> => run([...asked, '--data', place.path('a')], variables).ended
  const members = async () =>
    (await command('members', '--json')).stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))

  it('serve one namespace, also when they start at the same moment on an empty database', async () => {
    const [a, b] = (await Promise.all([start('a'), start('b')])).map(({ ready }) => place.clientOf(ready.endpoint))
    if (a === undefined || b === undefined) throw new Error('two servers were started')
    await a.send(new CreateBucketCommand({ Bucket, ObjectLockEnabledForBucket: true }))
    const { VersionId } = await a.send(new PutObjectCommand({ Bucket, Key: 'small', Body: 'one' }))
    expect(await (await b.send(new GetObjectCommand({ Bucket, Key: 'small' }))).Body?.transformToString()).toBe('one')

    const { UploadId } = await a.send(new CreateMultipartUploadCommand({ Bucket, Key: 'large' }))
    const part = { Bucket, Key: 'large', UploadId, PartNumber: 1, Body: Buffer.alloc(6 << 20, 7) }
    const { ETag } = await a.send(new UploadPartCommand(part))
    const MultipartUpload = { Parts: [{ ETag, PartNumber: 1 }] }
    await b.send(new CompleteMultipartUploadCommand({ Bucket, Key: 'large', UploadId, MultipartUpload }))
    expect((await a.send(new HeadObjectCommand({ Bucket, Key: 'large' }))).ContentLength).toBe(6 << 20)

    const Retention = { Mode: 'COMPLIANCE', RetainUntilDate: new Date(Date.now() + 86_400_000) } as const
    await a.send(new PutObjectRetentionCommand({ Bucket, Key: 'small', VersionId, Retention }))
    const removal = b.send(new DeleteObjectCommand({ Bucket, Key: 'small', VersionId }))
    await expect(removal).rejects.toMatchObject({ name: 'AccessDenied' })

    await b.send(new DeleteObjectCommand({ Bucket, Key: 'small' }))
    await expect(a.send(new GetObjectCommand({ Bucket, Key: 'small' }))).rejects.toMatchObject({ name: 'NoSuchKey' })
    expect((await a.send(new ListObjectsV2Command({ Bucket }))).Contents?.map(({ Key }) => Key)).toEqual(['large'])

    const statement = {
      Effect: 'Deny',
      Principal: '*',
      Action: 's3:PutObject',
      Resource: `arn:aws:s3:::${Bucket}/no/*`,
    }
    const Policy = JSON.stringify({ Version: '2012-10-17', Statement: [statement] })
    await a.send(new PutBucketPolicyCommand({ Bucket, Policy }))
    expect((await b.send(new GetBucketPolicyCommand({ Bucket }))).Policy).toContain('no/*')
    expect(JSON.parse(await readFile(place.path('a', 'holdfast.json'), 'utf8'))).toMatchObject({ metadata: 'postgres' })
  })

  it('accept a key as soon as another server has made it', async () => {
    const [a, b] = await Promise.all([start('a'), start('b')])
    const made = await run(
      ['keys', 'add', '--account', 'main', '--admin-endpoint', a.ready.adminEndpoint ?? '', '--json'],
      keyVariables,
    ).ended
    expect([made.code, made.stderr]).toEqual([0, ''])
    const { key } = JSON.parse(made.stdout)
    const client = place.clientOf(b.ready.endpoint, { credentials: key })
    expect((await client.send(new ListBucketsCommand({}))).$metadata.httpStatusCode).toBe(200)
  })

  it('have their keys wrapped anew by a command that has the key ring but no data directory', async () => {
    await start('a')
    const rewrap = run(['key-ring', '--rewrap', '--data', place.path('nowhere')], variables).ended
    expect(await rewrap).toMatchObject({ code: 0, stdout: expect.stringContaining('wrapped anew') })
  })

  it('hand the jobs over when the server that runs them is killed', async () => {
    const [a, b] = await Promise.all([start('a'), start('b')])
    await expect
      .poll(async () => (await members()).filter(({ maintainer }) => maintainer > 0), askedEverySecond)
      .toHaveLength(1)
    const [{ pid, maintainer }] = (await members()).filter((member) => member.maintainer > 0)
    const [killed, other] = pid === a.ready.pid ? [a, b] : [b, a]
    killed.child.kill('SIGKILL')
    await expect
      .poll(
        async () => (await members()).find((member) => member.pid === other.ready.pid)?.maintainer ?? 0,
        askedEverySecond,
      )
      .toBeGreaterThan(maintainer)
    expect(await command('repair')).toMatchObject({ code: 0, stdout: expect.stringContaining('looked at') })
    expect(await command('reclaim')).toMatchObject({ code: 1, stderr: expect.stringContaining('stop it first') })
  })

  it.each([
    ['without a location', { HOLDFAST_CONFIG: '' }, 2, '[locations.shared]'],
    ['without a key', { HOLDFAST_ACCESS_KEY_ID: '', HOLDFAST_SECRET_ACCESS_KEY: '' }, 2, 'HOLDFAST_ACCESS_KEY_ID'],
    [
      'without its database',
      { HOLDFAST_METADATA_URL: 'postgres://a:canary-password@127.0.0.1:1/x' },
      1,
      '127.0.0.1:1/x',
    ],
  ])('do not start %s, and say what to do without the password', async (_, changed, code, message) => {
    const outcome = await run(words('a'), { ...variables, ...changed }).ended
    expect(outcome).toMatchObject({ code, stderr: expect.stringContaining(message) })
    expect(outcome.stdout + outcome.stderr).not.toContain('canary')
  })

  it('refuse a data directory with metadata of its own, and other servers refuse theirs', async () => {
    const own = { ...keyVariables, ...ringVariables }
    const alone = await serve(words('alone'), own)
    alone.child.kill('SIGTERM')
    await alone.ended
    expect(await run(words('alone'), variables).ended).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('holdfast migrate'),
    })
    const shared = await start('a')
    shared.child.kill('SIGTERM')
    await shared.ended
    expect(shared.output.stderr).not.toContain('canary')
    expect(await run(words('a'), own).ended).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('HOLDFAST_METADATA_URL'),
    })
    const other = { ...variables, HOLDFAST_METADATA_URL: await place.database() }
    expect(await run(words('a'), other).ended).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('belongs to other metadata'),
    })
  })
})
