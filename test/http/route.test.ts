import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { compileRoutes } from '../../src/http/route.ts'
import { echoOperations, getObject, listObjects, putObject } from './echo-operations.ts'
import { type Fixture, startFixture } from './fixture.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await startFixture(echoOperations)
})
afterAll(() => fixture.close())

type Row = [
  what: string,
  operation: string,
  method: string,
  path: string,
  query?: [string, string][],
  headers?: [string, string][],
]

const meant: Row[] = [
  ['no query on the service', 'ListBuckets', 'GET', '/'],
  ['no query on a bucket', 'ListObjects', 'GET', '/bucket'],
  ['a bucket with a trailing slash', 'ListObjects', 'GET', '/bucket/'],
  ['a parameter with the required value', 'ListObjectsV2', 'GET', '/bucket', [['list-type', '2']]],
  ['another value of list-type', 'ListObjects', 'GET', '/bucket', [['list-type', '1']]],
  [
    'several values of list-type, of which the first counts',
    'ListObjects',
    'GET',
    '/bucket',
    [
      ['list-type', '1'],
      ['list-type', '2'],
    ],
  ],
  [
    'a sub-resource beside another value of list-type',
    'GetBucketLocation',
    'GET',
    '/bucket',
    [
      ['list-type', '1'],
      ['location', ''],
    ],
  ],
  ['a sub-resource without value', 'GetBucketLocation', 'GET', '/bucket', [['location', '']]],
  ['a sub-resource with a value', 'GetBucketLocation', 'GET', '/bucket', [['location', 'x']]],
  [
    'two parameters',
    'UploadPart',
    'PUT',
    '/bucket/key',
    [
      ['uploadId', 'u'],
      ['partNumber', '1'],
    ],
  ],
  ['a sub-resource alone', 'ListBucketMetricsConfigurations', 'GET', '/bucket', [['metrics', '']]],
  [
    'a sub-resource and which of them',
    'GetBucketMetricsConfiguration',
    'GET',
    '/bucket',
    [
      ['id', 'one'],
      ['metrics', ''],
    ],
  ],
  ['which of nothing, so that it is the client’s own, of a bucket', 'ListObjects', 'GET', '/bucket', [['id', 'one']]],
  [
    'which of nothing, so that it is the client’s own, of an object',
    'PutObject',
    'PUT',
    '/bucket/key',
    [['id', 'one']],
  ],
  ['a vendor header', 'CopyObject', 'PUT', '/bucket/key', [], [['x-amz-copy-source', '/a/b']]],
  ['a parameter that S3 does not know', 'PutObject', 'PUT', '/bucket/key', [['x-id', 'PutObject']]],
  [
    'a parameter that is a sub-resource elsewhere and an input here',
    'GetObject',
    'GET',
    '/bucket/key',
    [['partNumber', '1']],
  ],
  ['HEAD', 'HeadObject', 'HEAD', '/bucket/key'],
]

describe('a request means the most specific operation that it satisfies', () => {
  it.each(meant)('%s: %s', async (_what, operation, method, path, query = [], headers = []) => {
    const { headers: answer } = await fixture.send({ method, path, query, headers })
    const id = answer['x-amz-request-id']
    const line = await fixture.logged(({ requestId }) => requestId === id)
    expect(line).toMatchObject({ operation, code: '' })
  })
})

type Refusal = [what: string, code: string, status: number, method: string, path: string, query?: [string, string][]]

const refused: Refusal[] = [
  ['a sub-resource that is known and refused', 'NotImplemented', 501, 'PUT', '/bucket/key', [['acl', '']]],
  ['a sub-resource of buckets on an object', 'MethodNotAllowed', 405, 'GET', '/bucket/key', [['location', '']]],
  ['a sub-resource that this method has none of', 'MethodNotAllowed', 405, 'DELETE', '/bucket/key', [['acl', '']]],
  ['half of what an operation requires', 'InvalidArgument', 400, 'PUT', '/bucket/key', [['partNumber', '1']]],
  [
    'another sub-resource beside those required',
    'InvalidArgument',
    400,
    'PUT',
    '/bucket/key',
    [
      ['partNumber', '1'],
      ['uploadId', 'u'],
      ['acl', ''],
    ],
  ],
  [
    'two sub-resources at once',
    'InvalidArgument',
    400,
    'GET',
    '/bucket',
    [
      ['acl', ''],
      ['location', ''],
    ],
  ],
  ['a method that S3 does not have', 'MethodNotAllowed', 405, 'PATCH', '/bucket/key'],
  ['a method that the target does not have', 'MethodNotAllowed', 405, 'DELETE', '/'],
]

describe('a request that means nothing, or too much, is refused', () => {
  it.each(refused)('%s: %s', async (_what, code, status, method, path, query = []) => {
    const answer = await fixture.send({ method, path, query })
    expect([answer.code, answer.status]).toEqual([code, status])
  })

  it('says with 405 which methods there are', async () => {
    const { headers } = await fixture.send({ method: 'DELETE', path: '/bucket/key', query: [['acl', '']] })
    expect(headers.allow).toBe('PUT')
    expect((await fixture.send({ method: 'DELETE', path: '/' })).headers.allow).toBe('GET')
  })
})

describe('routes', () => {
  const routeOf = <T>(operation: T): T => operation

  it('cannot be compiled when two operations require the same', () => {
    expect(() => compileRoutes([getObject, { ...getObject, name: 'Twin' }], routeOf)).toThrow('Twin and GetObject')
    const twin = { ...listObjects, query: ['b', 'a'], name: 'Twin' }
    expect(() => compileRoutes([{ ...listObjects, query: ['a', 'b'] }, twin], routeOf)).toThrow('Twin')
  })

  it('are the same in whatever order they are declared', () => {
    const address = { target: 'object', bucket: 'b', key: 'k' } as const
    const orders = [echoOperations, [...echoOperations].reverse()]
    const found = orders.map((order) => compileRoutes(order, routeOf)('PUT', address, [], new Map()))
    expect(found).toEqual([putObject, putObject])
  })
})
