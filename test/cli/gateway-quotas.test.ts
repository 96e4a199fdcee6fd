/** A quota over servers on several hosts, whose metadata is in PostgreSQL. */
import { CreateBucketCommand, ListObjectsV2Command, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3'
import { beforeEach, expect, it } from 'vitest'
import { known } from '../../src/known.ts'
import { describeInstalled } from '../support/installed.ts'
import { postgresProbe } from '../support/postgres.ts'
import { openGatewayWorkplace, ringVariables } from './gateway-workplace.ts'
import { lastEvent, run, serve } from './holdfast-process.ts'

const Bucket = 'photos'
const Body = Buffer.alloc(1000, 'x')

describeInstalled('a quota over PostgreSQL', [postgresProbe], () => {
  const place = openGatewayWorkplace('gateway-quotas')
  const { variables } = place
  beforeEach(() => {
    Object.assign(variables, ringVariables)
  })

  async function start(host: string): Promise<{ s3: S3Client; admin: string }> {
    const ports = ['--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0']
    const { ready } = await serve(['serve', '--data', place.path(host), ...ports], variables)
    return { s3: place.clientOf(ready.endpoint), admin: known(ready.adminEndpoint) }
  }

  it('holds against writers at both of two servers, and both know what is used', async () => {
    const servers = await Promise.all([start('a'), start('b')])
    const [a, b] = servers
    await a.s3.send(new CreateBucketCommand({ Bucket }))
    await a.s3.send(new PutObjectCommand({ Bucket, Key: 'before', Body }))
    const quotas = (admin: string, ...words: string[]) =>
      run(['quotas', ...words, '--json', '--admin-endpoint', admin], variables).ended
    const set = lastEvent(await quotas(b.admin, 'set', Bucket, '--bytes', '50000', '--objects', '40'))
    expect(set.quota.used).toEqual({ bytes: 1000, objects: 1 })
    const codes = await Promise.all(
      servers.flatMap(({ s3 }, server) =>
        Array.from({ length: 40 }, (_, i) =>
          s3.send(new PutObjectCommand({ Bucket, Key: `${server} ${i}`, Body })).then(
            () => 'ok',
            (error: Error) => error.name,
          ),
        ),
      ),
    )
    expect(new Set(codes)).toEqual(new Set(['ok', 'QuotaExceeded']))
    expect(codes.filter((code) => code === 'ok')).toHaveLength(39)
    const { KeyCount } = await b.s3.send(new ListObjectsV2Command({ Bucket }))
    expect(KeyCount).toBe(40)
    for (const { admin } of servers) {
      expect(lastEvent(await quotas(admin, 'show', Bucket)).quota.used).toEqual({ bytes: 40_000, objects: 40 })
    }
  })
})
