import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { amzDialect, dialectOfAddress, dialectOfRequest, storeDialect } from '../../src/http/dialect.ts'
import { type HeaderPair, presign, sign } from '../support/signer.ts'
import { echoOperations } from './echo-operations.ts'
import { type Fixture, key, startFixture } from './fixture.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await startFixture(echoOperations)
})
afterAll(() => fixture.close())

describe("a request's dialect", () => {
  it.each([
    ['a vendor header', ['host', 'x-amz-acl'], '', 'x-amz'],
    ['the header of a signature, whatever comes first', ['x-store-meta-a', 'x-amz-date'], '', 'x-amz'],
    ['a signature in the query before a vendor header', ['x-amz-meta-a'], 'X-Store-Algorithm=a', 'x-store'],
    ['a signature in the query', [], 'list-type=2&X-Amz-Signature=a', 'x-amz'],
    ['a header of the SDKs', ['host', 'amz-sdk-invocation-id'], '', 'x-amz'],
    ['no header of another vendor', ['x-amzn-trace-id', 'x-stored'], '', undefined],
    ['nothing else', [], '', undefined],
  ])('is told by %s', (_what, names, rawQuery, expected) => {
    expect(dialectOfRequest(names, rawQuery)?.name).toBe(expected)
  })

  it.each([
    ['a bucket in the path', '/photos/cat.jpg', undefined, 'x-amz'],
    ['a bucket in the Host', '/cat.jpg', 'photos', 'x-store'],
    ['no bucket', '/', undefined, 'x-store'],
  ])('is otherwise told by %s', (_what, rawPath, bucketInHost, expected) => {
    expect(dialectOfAddress(rawPath, bucketInHost).name).toBe(expected)
  })
})

describe.each([amzDialect, storeDialect])('in the $prefix dialect', ({ prefix, name }) => {
  const vendorPrefix = prefix as 'x-amz-' | 'x-store-'
  const other = name === 'x-amz' ? 'x-store-' : 'x-amz-'

  it('answers speak it: headers and XML', async () => {
    const { headers, body } = await fixture.send({ path: '/' }, { prefix: vendorPrefix })
    expect(headers[`${prefix}request-id`]).toMatch(/^[0-9A-F]{16}$/)
    expect(headers[`${other}request-id`]).toBeUndefined()
    const namespace = 'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"'
    if (name === 'x-amz') expect(body.toString()).toContain(namespace)
    else expect(body.toString()).not.toContain('xmlns')
    expect(headers['x-amz-id-2'] !== undefined).toBe(name === 'x-amz')
  })

  it('errors speak it too', async () => {
    const { headers, body } = await fixture.send(
      { path: '/b/k', method: 'DELETE', query: [['acl', '']] },
      { prefix: vendorPrefix },
    )
    const id = headers[`${prefix}request-id`]
    expect(body.toString()).toContain(`<Resource>/b/k</Resource><RequestId>${id}</RequestId>`)
  })

  it('fields come and go under its prefix', async () => {
    const { headers } = await fixture.send(
      { method: 'PUT', path: '/b/k', headers: [[`${prefix}Meta-Colour`, 'red']] },
      { prefix: vendorPrefix },
    )
    expect(headers[`${prefix}meta-colour`]).toBe('red')
  })

  it('fields may come in the query of a presigned URL', async () => {
    const query: HeaderPair[] = [
      [`${prefix}checksum-mode`, 'ENABLED'],
      ['response-content-type', 'text/plain'],
    ]
    const signed = presign({ method: 'GET', host: fixture.host, path: '/b/k', query }, { key, prefix: vendorPrefix })
    const { headers } = await fixture.sendSigned(signed)
    expect([headers[`${prefix}mode`], headers['content-type']]).toEqual(['ENABLED', 'text/plain'])
  })

  it.each(['ü', 'ü 😀'])('metadata in the query means the header that it stands for: %s', async (value) => {
    const path = '/b/k'
    const query: HeaderPair[] = [[`${prefix}meta-a`, value]]
    const signed = presign({ method: 'PUT', host: fixture.host, path, query, body: 'x' }, { key, prefix: vendorPrefix })
    const { headers } = await fixture.sendSigned(signed)
    expect(Buffer.from(String(headers[`${prefix}meta-a`]), 'latin1').toString()).toBe(value)
  })

  it('the same value under both prefixes is one value', async () => {
    const headers: HeaderPair[] = [
      ['x-amz-meta-a', '1'],
      ['x-store-meta-a', '1'],
    ]
    const answer = await fixture.send({ method: 'PUT', path: '/b/k', headers }, { prefix: vendorPrefix })
    expect(answer.headers[`${prefix}meta-a`]).toBe('1')
  })

  it('different values under both prefixes are InvalidArgument', async () => {
    const headers: HeaderPair[] = [
      ['x-amz-meta-a', '1'],
      ['x-store-meta-a', '2'],
    ]
    const answer = await fixture.send({ method: 'PUT', path: '/b/k', headers }, { prefix: vendorPrefix })
    expect([answer.status, answer.code]).toEqual([400, 'InvalidArgument'])
  })

  it('a time under the other prefix that differs is InvalidArgument, behind the own one or as a parameter', async () => {
    const request = { method: 'GET', host: fixture.host, path: '/b/k' } as const
    const differs: HeaderPair = [`${other}date`, '20130524T000000Z']
    const signed = sign({ ...request, headers: [differs] }, { key, prefix: vendorPrefix })
    const last = [...signed.headers.filter(([name]) => name !== differs[0]), differs]
    const asParameter = sign({ ...request, query: [differs] }, { key, prefix: vendorPrefix })
    for (const sent of [{ ...signed, headers: last }, asParameter]) {
      const answer = await fixture.sendSigned(sent)
      expect([answer.status, answer.code]).toEqual([400, 'InvalidArgument'])
    }
  })

  it('repeated metadata is joined, other repeated values are refused', async () => {
    const headers: HeaderPair[] = [
      [`${prefix}meta-a`, '1'],
      [`${prefix}meta-a`, '2'],
    ]
    const answer = await fixture.send({ method: 'PUT', path: '/b/k', headers }, { prefix: vendorPrefix })
    expect(answer.headers[`${prefix}meta-a`]).toBe('1,2')
    const sources: HeaderPair[] = [
      [`${prefix}copy-source`, '/a/b'],
      [`${prefix}copy-source`, '/a/c'],
    ]
    const refusal = await fixture.send({ method: 'PUT', path: '/b/k', headers: sources }, { prefix: vendorPrefix })
    expect(refusal.code).toBe('InvalidArgument')
  })

  it('a header that asks for what no operation does is refused by name, transport headers are not', async () => {
    for (const name of ['Website-Redirect-Location', 'If-Match-Size', 'Source-Expected-Bucket-Owner']) {
      const refusal = await fixture.send({ path: '/b/k', headers: [[prefix + name, 'x']] }, { prefix: vendorPrefix })
      expect([refusal.status, refusal.code]).toEqual([501, 'NotImplemented'])
      expect(refusal.body.toString()).toContain(prefix + name)
    }
    const headers: HeaderPair[] = [[`${prefix}user-agent`, 'x']]
    expect((await fixture.send({ path: '/b/k', headers }, { prefix: vendorPrefix })).status).toBe(200)
  })

  it('metadata named like what objects inherit is only a name', async () => {
    const headers: HeaderPair[] = [
      [`${prefix}meta-__proto__`, 'a'],
      [`${prefix}meta-constructor`, 'b'],
    ]
    const answer = await fixture.send({ method: 'PUT', path: '/b/k', headers }, { prefix: vendorPrefix })
    expect(answer.headers[`${prefix}meta-constructor`]).toBe('b')
    expect(answer.rawHeaders.join(' ')).toContain(`${prefix}meta-__proto__ a`)
  })
})
