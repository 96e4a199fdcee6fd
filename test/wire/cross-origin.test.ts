/** What pages of other origins are told: preflights, and every answer to a request that names its origin. Both dialects and address styles. */
import { once } from 'node:events'
import { Agent } from 'node:http'
import { connect } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import type { HeaderPair } from '../support/signer.ts'
import { md5Base64 } from '../support/wire-checksums.ts'
import { type Ask, exchange, openWire, type Reply, signAsk, styleName, styles } from '../support/wire-client.ts'
import { type PreflightAsk, preflight, putCors, type RuleElements, saidToPage } from '../support/wire-cors.ts'
import { wireServer, wireTo } from '../support/wire-fixture.ts'
import { requestBytes } from '../support/wire-raw.ts'
import { startWireServer } from '../support/wire-server.ts'
import { readXml } from '../support/wire-xml.ts'

const origin = 'https://app.test'
const vary = 'Origin, Access-Control-Request-Headers, Access-Control-Request-Method'
const rule: RuleElements = [
  ['AllowedOrigin', origin],
  ['AllowedMethod', 'GET'],
  ['AllowedMethod', 'PUT'],
  ['AllowedHeader', 'content-*'],
  ['ExposeHeader', 'ETag'],
  ['MaxAgeSeconds', '60'],
]
const said = {
  'access-control-allow-origin': origin,
  'access-control-allow-methods': 'GET, PUT',
  'access-control-expose-headers': 'ETag',
  'access-control-max-age': '60',
  'access-control-allow-credentials': 'true',
  vary,
}
const notEnabled = 'CORSResponse: CORS is not enabled for this bucket.'
const notAllowed =
  "CORSResponse: This CORS request is not allowed. This is usually because the evalution of Origin, request method / Access-Control-Request-Method or Access-Control-Request-Headers are not whitelisted by the resource's CORS spec."

/** Of an error: its elements beside the ids. */
function told({ status, body }: Reply): Record<string, unknown> {
  const { value } = readXml(body)
  const { RequestId, HostId, Resource, ...rest } = value as Record<string, unknown>
  return { status, ...rest }
}

const put: PreflightAsk = { origin, method: 'PUT', key: 'a/b' }

const server = wireServer()
afterEach(() => server.empty())

describe.each(styles.map((style) => [styleName(style), style] as const))('%s', (_name, style) => {
  const wire = wireTo(server, style)
  const enable = async (...rules: RuleElements[]): Promise<void> => {
    await wire.must({ method: 'PUT' })
    await wire.must(putCors(...(rules.length === 0 ? [rule] : rules)))
  }
  const from = (ask: Ask, headers: Record<string, string> = {}): Ask => ({
    ...ask,
    headers: { Origin: origin, ...headers },
  })

  describe('a preflight', () => {
    it.each([
      ['of an object', {}],
      ['of the bucket', { key: '' }],
      ['of a presigned request', { presigned: true }],
      [
        'of a presigned request that hoists what its URL can’t mean for another method',
        { presigned: true, vendor: { acl: 'public-read' } },
      ],
      ['of a part', { query: { partNumber: '1', uploadId: 'none' } }],
      ['of a sub-resource', { query: { acl: '' } }],
    ] satisfies [string, PreflightAsk][])('%s is answered with the rule, and nothing else', async (_what, more) => {
      await enable()
      const reply = await preflight(wire, { ...put, ...more })
      expect([reply.status, reply.body.length, reply.headers.get('content-length')]).toEqual([200, 0, '0'])
      expect(saidToPage(reply)).toEqual(said)
    })

    it('answers the headers that are asked for', async () => {
      await enable()
      const reply = await preflight(wire, { ...put, headers: 'Content-Type,content-md5' })
      expect(saidToPage(reply)).toEqual({ ...said, 'access-control-allow-headers': 'content-type, content-md5' })
    })

    it.each([
      ['another origin', { origin: 'http://app.test' }, 'PUT'],
      ['a method that is not allowed', { method: 'DELETE' }, 'DELETE'],
      ['a method that no rule can allow', { method: 'PATCH' }, 'PATCH'],
      ['a header that is not allowed', { headers: 'content-type,x-amz-acl' }, 'PUT'],
    ] satisfies [string, PreflightAsk, string][])('of %s is refused', async (_what, more, method) => {
      await enable()
      const reply = await preflight(wire, { ...put, ...more })
      const refused = { status: 403, Code: 'AccessForbidden', Message: notAllowed, Method: method }
      expect(told(reply)).toEqual({ ...refused, ResourceType: 'OBJECT' })
      expect(saidToPage(reply)).toEqual({})
      expect(told(await preflight(wire, { ...put, ...more, key: '' }))).toEqual({ ...refused, ResourceType: 'BUCKET' })
    })

    it.each([
      ['no origin', { origin: undefined }, 'Insufficient information. Origin request header needed.'],
      ['no method', { method: undefined }, 'Invalid Access-Control-Request-Method: null'],
      ['an unknown method', { method: 'FOO' }, 'Invalid Access-Control-Request-Method: FOO'],
      ['a method in small letters', { method: 'put' }, 'Invalid Access-Control-Request-Method: put'],
    ])('of %s is a bad request', async (_what, more, message) => {
      await enable()
      const { origin: _, method: __, ...rest } = put
      const ask = Object.fromEntries(Object.entries({ ...put, ...more }).filter(([, value]) => value !== undefined))
      expect(told(await preflight(wire, { ...rest, ...ask }))).toEqual({
        status: 400,
        Code: 'BadRequest',
        Message: message,
      })
    })

    it('does not tell a bucket without rules from one that is not there', async () => {
      await wire.must({ method: 'PUT' })
      for (const ask of [put, { ...put, key: '' }]) {
        const [there, missing] = await Promise.all(
          ['wire', 'nowhere'].map((bucket) => preflight(wire, { ...ask, bucket })),
        )
        if (there === undefined || missing === undefined) throw new Error('no answer')
        const refused = { status: 403, Code: 'AccessForbidden', Message: notEnabled, ResourceType: 'BUCKET' }
        expect(told(there)).toEqual({ ...refused, Method: 'PUT' })
        expect(told(missing)).toEqual(told(there))
        expect([...missing.headers.keys()]).toEqual([...there.headers.keys()])
      }
      expect(told(await preflight(wire, { ...put, method: 'put' }))).toMatchObject({
        Code: 'BadRequest',
        Message: 'Invalid Access-Control-Request-Method: put',
      })
      expect(told(await preflight(wire, { ...put, method: '' }))).toMatchObject({ Method: 'OPTIONS' })
      const { method: _, ...withoutMethod } = put
      expect(told(await preflight(wire, withoutMethod))).toMatchObject({ Message: notEnabled, Method: 'OPTIONS' })
    })
  })

  describe('the answer to a page', () => {
    it('carries the rule with success, and not where another origin asks or none', async () => {
      await enable()
      const stored = await wire.must(from({ method: 'PUT', key: 'a', body: 'x' }))
      expect(saidToPage(stored)).toEqual(said)
      const read = await wire.must(from({ method: 'GET', key: 'a' }))
      expect([read.body.toString(), saidToPage(read)]).toEqual(['x', said])
      expect(saidToPage(await wire.must(from({ method: 'GET' })))).toEqual(said)
      expect(saidToPage(await wire.must(from({ method: 'GET', key: 'a', presigned: true })))).toEqual(said)
      const other = await wire.must({ method: 'GET', key: 'a', headers: { Origin: 'https://other.test' } })
      expect([other.body.toString(), saidToPage(other)]).toEqual(['x', {}])
      expect(saidToPage(await wire.must({ method: 'GET', key: 'a' }))).toEqual({})
    })

    it('carries it where the method is the one that the page says it is', async () => {
      await enable()
      await wire.must({ method: 'PUT', key: 'a', body: 'x' })
      const asked = async (method: Ask['method'], headers: Record<string, string>): Promise<object> =>
        saidToPage(await wire.ask(from({ method, key: 'a' }, headers)))
      expect(await asked('HEAD', {})).toEqual({})
      expect(await asked('HEAD', { 'Access-Control-Request-Method': 'GET' })).toEqual(said)
      expect(await asked('GET', { 'Access-Control-Request-Method': 'DELETE' })).toEqual({})
      expect(await asked('GET', { 'Access-Control-Request-Headers': 'x-other' })).toEqual({})
    })

    it.each([
      ['a key that is not there', 404, from({ method: 'GET', key: 'none' })],
      [
        'a wrong signature',
        403,
        from({ method: 'GET', key: 'a', signedBy: { accessKeyId: 'AKMAIN', secretAccessKey: 'wrong' } }),
      ],
      ['a URL that has expired', 403, from({ method: 'PUT', key: 'a', presigned: true, signedAtMs: 0 })],
      ['what is not implemented', 501, from({ method: 'PUT', query: { inventory: '', id: 'a' }, body: '<x/>' })],
      ['a bad digest', 400, from({ method: 'PUT', key: 'a', body: 'x' }, { 'Content-MD5': md5Base64('y') })],
      ['a key that is too long', 400, from({ method: 'PUT', key: 'k'.repeat(1025), body: 'x' })],
      ['a range beyond the end', 416, from({ method: 'GET', key: 'a' }, { Range: 'bytes=9-' })],
      ['nothing new', 304, from({ method: 'GET', key: 'a' }, { 'If-None-Match': '*' })],
    ] satisfies [string, number, Ask][])('carries it with %s: %s', async (_what, status, ask) => {
      await enable()
      await wire.must({ method: 'PUT', key: 'a', body: 'x' })
      const reply = await wire.ask(ask)
      expect(reply.status).toBe(status)
      expect(saidToPage(reply)).toEqual(said)
    })

    it.each(['a', '%ff', '%zz'])('carries it where nobody signed: %s', async (path) => {
      await enable()
      const [host, target] = style.hosting === 'path' ? ['localhost', `/wire/${path}`] : ['wire.localhost', `/${path}`]
      const headers: HeaderPair[] = [
        ['Host', host],
        ['Origin', origin],
      ]
      const agent = new Agent()
      const reply = await exchange(agent, server.port, { method: 'GET', target, headers, body: Buffer.alloc(0) })
      expect([reply.status, saidToPage(reply)]).toEqual([403, said])
    })

    it('says nothing of a bucket without rules, or of none', async () => {
      await wire.must({ method: 'PUT' })
      for (const bucket of ['wire', 'nowhere', '']) {
        expect(saidToPage(await wire.ask(from({ method: 'GET', bucket })))).toEqual({})
      }
    })

    it('says nothing any more when the rules are removed', async () => {
      await enable()
      await wire.must({ method: 'DELETE', query: { cors: '' } })
      expect(saidToPage(await wire.must(from({ method: 'GET' })))).toEqual({})
      expect(told(await preflight(wire, put))).toMatchObject({ Message: notEnabled })
    })
  })
})

describe('a server that allows origins everywhere', () => {
  const open = wireServer({ corsAllowOrigin: [origin, 'http://localhost:*'] })
  afterEach(() => open.empty())

  it.each(styles.map((style) => [styleName(style), style] as const))(
    'lets their pages use buckets without rules: %s',
    async (_name, style) => {
      const wire = openWire(open.port, style)
      await wire.must({ method: 'PUT' })
      const allowed = await preflight(wire, { ...put, method: 'DELETE', headers: 'x-amz-anything' })
      expect(saidToPage(allowed)).toMatchObject({
        'access-control-allow-origin': origin,
        'access-control-allow-methods': 'GET, PUT, HEAD, POST, DELETE',
        'access-control-allow-headers': 'x-amz-anything',
      })
      const stored = await wire.must({
        method: 'PUT',
        key: 'a',
        body: 'x',
        headers: { Origin: 'http://localhost:4200' },
        vendor: { 'meta-a': 'b' },
      })
      const read = await wire.must({ method: 'HEAD', key: 'a', headers: { Origin: origin } })
      const { prefix } = wire.style
      const exposed = (reply: Reply): string[] => (reply.headers.get('access-control-expose-headers') ?? '').split(', ')
      expect(exposed(stored)).toEqual(expect.arrayContaining(['ETag', `${prefix}request-id`]))
      expect(exposed(read)).toEqual(expect.arrayContaining(['ETag', 'Date', 'Content-Length', `${prefix}meta-a`]))
      const buckets = await wire.must({ method: 'GET', bucket: '', headers: { Origin: origin } })
      expect(saidToPage(buckets)).toMatchObject({ 'access-control-allow-origin': origin })
      const stranger = await preflight(wire, { ...put, origin: 'https://other.test' })
      const missing = await preflight(wire, { ...put, origin: 'https://other.test', bucket: 'nowhere' })
      expect(told(stranger)).toEqual({
        status: 403,
        Code: 'AccessForbidden',
        Message: notAllowed,
        Method: 'PUT',
        ResourceType: 'OBJECT',
      })
      expect(told(missing)).toEqual(told(stranger))
      wire.close()
    },
  )

  it('keeps to the rules of a bucket that has some', async () => {
    const wire = openWire(open.port, { prefix: 'x-amz-', hosting: 'path' })
    await wire.must({ method: 'PUT' })
    await wire.must(
      putCors([
        ['AllowedOrigin', 'https://other.test'],
        ['AllowedMethod', 'GET'],
      ]),
    )
    expect(told(await preflight(wire, put))).toMatchObject({ status: 403, Message: notAllowed })
    expect(saidToPage(await wire.must({ method: 'GET', headers: { Origin: origin } }))).toEqual({})
    wire.close()
  })
})

it('a page may read that the server is overloaded', async () => {
  const busy = await startWireServer({ bounds: { requestsInFlightMax: 1 } })
  const wire = openWire(busy.port, { prefix: 'x-amz-', hosting: 'path' })
  await wire.must({ method: 'PUT' })
  await wire.must(putCors(rule))
  const unfinished = connect(busy.port, '127.0.0.1')
  const upload = signAsk(
    { method: 'PUT', key: 'a', body: 'x', headers: { Expect: '100-continue' } },
    busy.port,
    wire.style,
  )
  unfinished.write(requestBytes({ ...upload, body: Buffer.alloc(0) }))
  expect(String((await once(unfinished, 'data'))[0])).toMatch(/^HTTP\/1.1 100 /)
  const refused = await wire.ask({ method: 'GET', headers: { Origin: origin } })
  expect([refused.status, saidToPage(refused)]).toEqual([503, said])
  unfinished.destroy()
  wire.close()
  await busy.close()
})
