/** `holdfast replication`: what waits to be copied, and why, as an operator sees it. */
import { writeFile } from 'node:fs/promises'
import {
  CreateBucketCommand,
  PutBucketReplicationCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3'
import { expect, test } from 'vitest'
import { startServer } from '../../src/index.ts'
import { askedEverySecond, keyVariables, lastEvent, run, serve } from './holdfast-process.ts'
import { openWorkplace } from './workplace.ts'

const place = openWorkplace('replication-status')

const version = (s3: S3Client, Bucket: string, Status: 'Enabled' | 'Suspended' = 'Enabled') =>
  s3.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status } }))

const ruleTo = (Bucket: string, Priority: number) =>
  ({
    ID: Bucket,
    Priority,
    Status: 'Enabled',
    Filter: { Prefix: '' },
    DeleteMarkerReplication: { Status: 'Enabled' },
    Destination: { Bucket },
  }) as const

test('the command says for each destination what waits, since when, and why', async () => {
  const paris = await startServer({ buckets: ['photos'] })
  await version(place.clientOf(paris.endpoint, { credentials: paris.credentials }), 'photos')
  const { accessKeyId, secretAccessKey } = paris.credentials
  await writeFile(
    place.path('server.toml'),
    `data = "data"\nlisten = "127.0.0.1:0"\n[sites.paris]\nendpoint = "${paris.endpoint}"\naccessKeyId = "${accessKeyId}"\nsecretAccessKey = "${secretAccessKey}"\n`,
  )
  const { ready } = await serve([
    'serve',
    '--config',
    place.path('server.toml'),
    '--workers',
    '2',
    '--admin-listen',
    '127.0.0.1:0',
  ])
  const s3 = place.clientOf(ready.endpoint)
  const asked = (...words: string[]) =>
    run(['replication', ...words, '--admin-endpoint', ready.adminEndpoint ?? ''], keyVariables).ended
  expect(await asked()).toMatchObject({ code: 0, stdout: '', stderr: 'holdfast: there are no replication rules\n' })
  for (const Bucket of ['photos', 'near', 'other']) {
    await s3.send(new CreateBucketCommand({ Bucket }))
    await version(s3, Bucket)
  }
  const Rules = [ruleTo('arn:aws:s3:::paris/photos', 1), ruleTo('arn:aws:s3:::near', 2)]
  await s3.send(new PutBucketReplicationCommand({ Bucket: 'photos', ReplicationConfiguration: { Role: '', Rules } }))
  await s3.send(new PutObjectCommand({ Bucket: 'photos', Key: 'a', Body: 'a' }))
  const copied = 'photos  arn:aws:s3:::paris/photos  nothing waits\nphotos  arn:aws:s3:::near          nothing waits\n'
  await expect.poll(async () => (await asked()).stdout, askedEverySecond).toBe(copied)

  await paris.close()
  await version(s3, 'near', 'Suspended')
  for (const Key of ['b', 'c']) await s3.send(new PutObjectCommand({ Bucket: 'photos', Key, Body: 'waits' }))
  const { stdout } = await asked('list', 'photos')
  const [far = '', near = ''] = stdout.split('\n')
  expect(far).toMatch(
    /^photos {2}arn:aws:s3:::paris\/photos {2}2 versions wait, the first since 2.*Z {2}takes no copies: .*ECONNREFUSED/,
  )
  expect(near).toMatch(
    /^photos {2}arn:aws:s3:::near +2 versions wait, .* takes no copies: Destination bucket must have versioning/,
  )
  expect(lastEvent(await asked('list', 'photos', '--json'))).toMatchObject({
    event: 'replication',
    destinations: [
      { bucket: 'photos', owner: 'main', destination: 'arn:aws:s3:::paris/photos', waiting: 2, queueing: false },
      { destination: 'arn:aws:s3:::near', waiting: 2 },
    ],
  })
  expect(await asked('list', 'other')).toMatchObject({ code: 0, stdout: '' })
})
