/** Requests for what only MinIO has, in the forms that `mc` and minio-go send. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { echoOperations } from './echo-operations.ts'
import { type Fixture, startFixture } from './fixture.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await startFixture(echoOperations)
})
afterAll(() => fixture.close())

type Query = [string, string][]

const operationOf = async (path: string, query: Query = []): Promise<string> => {
  const { headers } = await fixture.send({ method: 'GET', path, query })
  return (await fixture.logged(({ requestId }) => requestId === headers['x-amz-request-id'])).operation
}

describe('what only MinIO has is refused by name', () => {
  it('its admin API, whose requests are signed for no region', async () => {
    const { status, code, body } = await fixture.send({ method: 'GET', path: '/minio/admin/v3/info' }, { region: '' })
    expect([status, code]).toEqual([501, 'NotImplemented'])
    expect(body.toString()).toContain("MinIO's admin API is not implemented by this server.")
  })

  it.each([
    ['events', 's3:ObjectCreated:*', '/bucket/', "MinIO's way to listen for events"],
    ['events', 's3:BucketCreated:*', '/', "MinIO's way to listen for events"],
    ['replication-metrics', '2', '/bucket/', "MinIO's sub-resource replication-metrics"],
  ])('%s=%s of %s', async (name, value, path, what) => {
    const { status, body } = await fixture.send({ method: 'GET', path, query: [[name, value]] })
    expect([status, body.toString().includes(what)]).toEqual([501, true])
  })

  it('events in an order that their signature does not have', async () => {
    const path = '/bucket/?events=s3%3AObjectRemoved%3A*&events=s3%3AObjectCreated%3A*&ping=10'
    const head = `GET ${path} HTTP/1.1\r\nHost: ${fixture.host}\r\nConnection: close\r\n`
    const answer = await fixture.raw(`${head}Authorization: AWS4-HMAC-SHA256 Credential=a\r\n\r\n`)
    expect(answer).toContain('501 Not Implemented')
  })
})

describe('what looks like it and is S3’s is served', () => {
  it('an object of a bucket called minio', async () => {
    expect(await operationOf('/minio/admin/v3/info')).toBe('GetObject')
  })

  it('parameters of the client’s own', async () => {
    expect(await operationOf('/bucket', [['events', '1']])).toBe('ListObjects')
    expect(await operationOf('/bucket/key', [['qos', '']])).toBe('GetObject')
  })
})
