/** Visits of websites: what anybody who opens a page of a bucket is answered, as S3's website endpoints do it. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { presign, sign } from '../support/signer.ts'
import { openWire, type Reply, type Wire } from '../support/wire-client.ts'
import { putCors } from '../support/wire-cors.ts'
import { putDocument } from '../support/wire-documents.ts'
import { mainKey, startWireServer, type WireServer } from '../support/wire-server.ts'
import {
  errorDocument,
  indexDocument,
  openToAll,
  putPage,
  putPages,
  putWebsite,
  routingRules,
  siteHost,
  visit,
} from '../support/wire-sites.ts'

let server: WireServer
let wire: Wire
beforeAll(async () => {
  server = await startWireServer()
  wire = openWire(server.port, { prefix: 'x-amz-', hosting: 'path' })
})
beforeEach(async () => {
  await wire.must({ method: 'PUT' })
})
afterEach(() => server.empty())
afterAll(async () => {
  wire.close()
  await server.close()
  expect(server.unexpected).toEqual([])
})

const text = ({ status, body }: Reply): [number, string] => [status, body.toString()]
const location = ({ status, headers, body }: Reply): [number, string | undefined, number] => [
  status,
  headers.get('location'),
  body.length,
]
/** Of S3's own page: its status, and what it says beside ids. */
function told({ status, headers, body }: Reply): Record<string, unknown> {
  expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
  const lines = [...body.toString().matchAll(/<li>(\w+): (.*)<\/li>/g)].map(([, name, value]) => [name, value])
  const { RequestId, HostId, ...said } = Object.fromEntries(lines)
  expect(RequestId).toMatch(/^[0-9A-F]{16}$/)
  return { status, ...said }
}

async function publish(elements = indexDocument, { list = true } = {}): Promise<void> {
  await openToAll(wire, { list })
  await wire.must(putWebsite(elements))
  await putPages(wire, 'index.html', 'page.html', 'dir/index.html', 'dir/a b.html')
}

describe('a page', () => {
  it.each([
    ['/', 'this is index.html'],
    ['/index.html', 'this is index.html'],
    ['/page.html', 'this is page.html'],
    ['/dir/', 'this is dir/index.html'],
    ['/dir/a%20b.html', 'this is dir/a b.html'],
    // A website has no query.
    ['/page.html?versionId=x&response-content-type=a/b&acl', 'this is page.html'],
  ])('is found at %s', async (target, body) => {
    await publish()
    const reply = await visit(wire, target)
    expect(text(reply)).toEqual([200, body])
    expect(reply.headers.get('content-type')).toBe('text/html')
    const head = await visit(wire, target, { method: 'HEAD' })
    expect([head.status, head.headers.get('content-length'), head.body.length]).toEqual([200, `${body.length}`, 0])
  })

  it('is the bucket’s whose name the Host begins with, in any case, with any port', async () => {
    await publish()
    for (const host of ['wire.site.test', 'WIRE.Site.TEST:80', siteHost(wire)]) {
      expect(text(await visit(wire, '/', { host }))).toEqual([200, 'this is index.html'])
    }
  })

  it('is the bucket’s that has the name of the whole Host', async () => {
    const bucket = 'site.test'
    await wire.must({ method: 'PUT', bucket })
    await openToAll(wire, { bucket })
    await wire.must({ ...putWebsite(indexDocument), bucket })
    await wire.must({ method: 'PUT', bucket, key: 'index.html', body: 'the domain itself' })
    expect(text(await visit(wire, '/', { host: bucket }))).toEqual([200, 'the domain itself'])
  })

  it('may be asked for under conditions, and in part', async () => {
    await publish()
    const { headers } = await visit(wire, '/')
    const etag = headers.get('etag') ?? ''
    const unchanged = await visit(wire, '/', { headers: [['If-None-Match', etag]] })
    expect([unchanged.status, unchanged.headers.get('etag'), unchanged.body.length]).toEqual([304, etag, 0])
    const failed = await visit(wire, '/', { headers: [['If-Match', '"other"']] })
    expect(told(failed)).toMatchObject({ status: 412, Code: 'PreconditionFailed' })
    const part = await visit(wire, '/', { headers: [['Range', 'bytes=0-3']] })
    expect(text(part)).toEqual([206, 'this'])
    expect(part.headers.get('content-range')).toBe('bytes 0-3/18')
    const beyond = await visit(wire, '/', { headers: [['Range', 'bytes=99-']] })
    expect(told(beyond)).toMatchObject({ status: 416, Code: 'InvalidRange' })
  })

  it('redirects to where its metadata says', async () => {
    await publish(indexDocument + errorDocument)
    await putPage(wire, 'moved', { 'website-redirect-location': 'https://a.test/?b=c' })
    await putPage(wire, 'inside', { 'website-redirect-location': '/page.html' })
    await putPage(wire, 'error.html', { 'website-redirect-location': '/sorry' })
    expect(location(await visit(wire, '/moved'))).toEqual([301, 'https://a.test/?b=c', 0])
    expect(location(await visit(wire, '/inside'))).toEqual([301, '/page.html', 0])
    expect(location(await visit(wire, '/inside', { method: 'HEAD' }))).toEqual([301, '/page.html', 0])
    expect(location(await visit(wire, '/missing'))).toEqual([301, '/sorry', 0])
  })

  it('keeps to its own keys, dots and slashes and all', async () => {
    await publish()
    await wire.must({ method: 'PUT', bucket: 'private' })
    await wire.must({ method: 'PUT', bucket: 'private', key: 'index.html', body: 'secret' })
    for (const target of ['/../private/index.html', '/%2e%2e/private/index.html', '/..%2fprivate%2findex.html']) {
      expect((await visit(wire, target)).status).toBe(404)
    }
    await putPages(wire, '../private/index.html')
    expect(text(await visit(wire, '/%2e%2e/private/index.html'))).toEqual([200, 'this is ../private/index.html'])
  })
})

describe('a directory', () => {
  it('redirects to its index document', async () => {
    await publish()
    expect(location(await visit(wire, '/dir'))).toEqual([302, '/dir/', 0])
    expect(location(await visit(wire, '/dir', { method: 'HEAD' }))).toEqual([302, '/dir/', 0])
    expect((await visit(wire, '/di')).status).toBe(404)
  })

  it('does so where nobody may list it', async () => {
    await publish(indexDocument, { list: false })
    expect(location(await visit(wire, '/dir'))).toEqual([302, '/dir/', 0])
  })

  it('does not redirect to another host', async () => {
    await publish()
    await putPages(wire, '/a.test/index.html')
    expect(location(await visit(wire, '//a.test'))).toEqual([302, '/%2Fa.test/', 0])
    expect(text(await visit(wire, '/%2Fa.test/'))).toEqual([200, 'this is /a.test/index.html'])
  })

  it('is a page where there is one of its name', async () => {
    await publish()
    await putPages(wire, 'dir')
    expect(text(await visit(wire, '/dir'))).toEqual([200, 'this is dir'])
  })
})

describe('a page that is not there', () => {
  it('is 404, told in HTML', async () => {
    await publish()
    const reply = await visit(wire, '/missing')
    expect(told(reply)).toEqual({
      status: 404,
      Code: 'NoSuchKey',
      Message: 'The specified key does not exist.',
      Key: 'missing',
    })
    expect(reply.body.toString()).toContain('<h1>404 Not Found</h1>')
    const names = ['x-store-error-code', 'x-store-error-message']
    expect(names.map((name) => reply.headers.get(name))).toEqual(['NoSuchKey', 'The specified key does not exist.'])
    const { operation, code } = await server.logged(reply.headers.get('x-store-request-id') ?? '')
    expect([operation, code]).toEqual(['Website', 'NoSuchKey'])
  })

  it('is 403 where nobody may list the bucket, as one that is private is', async () => {
    await publish(indexDocument, { list: false })
    const denied = { status: 403, Code: 'AccessDenied', Message: 'Access Denied' }
    expect(told(await visit(wire, '/missing'))).toEqual(denied)
    await wire.must({ method: 'DELETE', query: { policy: '' } })
    expect(told(await visit(wire, '/index.html'))).toEqual(denied)
    expect(told(await visit(wire, '/missing'))).toEqual(denied)
  })

  it('cannot put anything of its own into the page that says so', async () => {
    await publish()
    const reply = await visit(wire, '/%3Cscript%3Ealert(1)%3C/script%3E"%26\'')
    expect(told(reply)).toMatchObject({ Key: "&lt;script&gt;alert(1)&lt;/script&gt;&quot;&amp;'" })
    expect(reply.body.toString()).not.toContain('<script')
  })

  it('is the error document, with the status of the failure and without conditions', async () => {
    await publish(indexDocument + errorDocument)
    await putPages(wire, 'error.html')
    const headers: [string, string][] = [
      ['Range', 'bytes=0-1'],
      ['If-None-Match', '*'],
    ]
    const reply = await visit(wire, '/missing', { headers })
    expect(text(reply)).toEqual([404, 'this is error.html'])
    expect(reply.headers.get('content-type')).toBe('text/html')
    expect((await visit(wire, '/missing', { method: 'HEAD' })).headers.get('content-length')).toBe('18')
    await openToAll(wire, { list: false })
    expect(text(await visit(wire, '/missing'))).toEqual([403, 'this is error.html'])
  })

  it('is both failures where the error document is not there either', async () => {
    await publish(indexDocument + errorDocument)
    const { body, status } = await visit(wire, '/missing')
    expect(status).toBe(404)
    expect(body.toString()).toMatch(
      /<li>Key: missing<\/li>.*Retrieve a Custom Error Document<\/h3>.*<li>Key: error.html<\/li>/s,
    )
  })

  it('is where a rule for failures says, before the error document', async () => {
    const rule =
      '<Condition><HttpErrorCodeReturnedEquals>404</HttpErrorCodeReturnedEquals></Condition><Redirect><ReplaceKeyPrefixWith>#/</ReplaceKeyPrefixWith></Redirect>'
    await publish(indexDocument + errorDocument + routingRules(rule))
    expect(location(await visit(wire, '/a/b'))).toEqual([301, `http://${siteHost(wire)}/#/a/b`, 0])
    expect((await visit(wire, '/page.html')).status).toBe(200)
    expect(location(await visit(wire, '/dir'))).toEqual([302, '/dir/', 0])
  })
})

describe('rules', () => {
  const rule =
    '<Condition><KeyPrefixEquals>docs/</KeyPrefixEquals></Condition><Redirect><HttpRedirectCode>307</HttpRedirectCode><ReplaceKeyPrefixWith>documents/</ReplaceKeyPrefixWith></Redirect>'

  it('redirect whether the object is there or not', async () => {
    await publish(indexDocument + routingRules(rule))
    await putPages(wire, 'docs/a')
    const to = `http://${siteHost(wire)}/documents/`
    expect(location(await visit(wire, '/docs/a?x=1'))).toEqual([307, `${to}a?x=1`, 0])
    expect(location(await visit(wire, '/docs/%0d%0aSet-Cookie:a'))).toEqual([307, `${to}%0D%0ASet-Cookie%3Aa`, 0])
    expect((await visit(wire, '/documents/a')).status).toBe(404)
  })

  it('send no visitor to a Host that could be read in two ways', async () => {
    await publish(indexDocument + routingRules(rule))
    const host = 'wire.site.test:80:a.test'
    expect((await visit(wire, '/docs/a', { host })).headers.get('location') ?? '').not.toContain('a.test/')
  })

  it('for all requests are followed without a look at the bucket', async () => {
    await wire.must(putWebsite('<RedirectAllRequestsTo><HostName>a.test</HostName></RedirectAllRequestsTo>'))
    expect(location(await visit(wire, '/x/%C3%BC?y=1'))).toEqual([301, 'http://a.test/x/%C3%BC?y=1', 0])
  })
})

describe('a website', () => {
  it.each([
    ['a bucket that is none', 'wire.site.test'],
    ['a bucket that is not there', 'other.site.test'],
    ['a name that no bucket can have', `${'x'.repeat(70)}.site.test`],
    ['no bucket', '.site.test'],
  ])('is not told apart from %s', async (_, host) => {
    await openToAll(wire)
    const bucket = host.slice(0, -'.site.test'.length)
    expect(told(await visit(wire, '/', { host }))).toEqual({
      status: 404,
      Code: 'NoSuchWebsiteConfiguration',
      Message: 'The specified bucket does not have a website configuration',
      BucketName: bucket,
    })
  })

  it.each(['PUT', 'POST', 'DELETE', 'PATCH', 'TRACE'])('takes no %s', async (method) => {
    await publish()
    const reply = await visit(wire, '/page.html', { method })
    expect(told(reply)).toMatchObject({ status: 405, Code: 'MethodNotAllowed', Method: method })
    expect(reply.headers.get('allow')).toBe('GET, HEAD, OPTIONS')
    expect((await visit(wire, '/page.html')).status).toBe(200)
  })

  it('looks at no signature, right or wrong', async () => {
    await publish()
    await wire.must({ method: 'DELETE', query: { policy: '' } })
    const request = { method: 'GET', host: siteHost(wire), path: '/index.html' }
    for (const signed of [sign(request, { key: mainKey }), presign(request, { key: mainKey })]) {
      const reply = await visit(wire, signed.target, { headers: signed.headers.filter(([name]) => name !== 'Host') })
      expect(reply.status).toBe(403)
    }
    await openToAll(wire)
    const wrong: [string, string][] = [['Authorization', 'AWS4-HMAC-SHA256 Credential=x']]
    expect((await visit(wire, '/index.html', { headers: wrong })).status).toBe(200)
  })

  it('shows only what anybody may read: its bucket’s policy decides', async () => {
    await publish()
    const Statement = [{ Effect: 'Allow', Principal: '*', Action: 's3:GetObject', Resource: 'arn:aws:s3:::wire/dir/*' }]
    const body = JSON.stringify({ Version: '2012-10-17', Statement })
    await wire.must({ method: 'PUT', query: { policy: '' }, body })
    expect((await visit(wire, '/dir/')).status).toBe(200)
    expect((await visit(wire, '/')).status).toBe(403)
    const block =
      '<PublicAccessBlockConfiguration><RestrictPublicBuckets>true</RestrictPublicBuckets></PublicAccessBlockConfiguration>'
    await wire.must(putDocument({ publicAccessBlock: '' }, block))
    expect((await visit(wire, '/dir/')).status).toBe(403)
  })

  it('is no way to the API, and the API is not a website', async () => {
    await publish()
    expect(told(await visit(wire, '/?list-type=2', { method: 'GET', host: 'none.site.test' })).Code).toBe(
      'NoSuchWebsiteConfiguration',
    )
    const listing = await visit(wire, '/wire?list-type=2', { host: `127.0.0.1:${wire.port}` })
    expect(listing.body.toString()).toContain('<ListBucketResult')
    const health = await visit(wire, '/minio/health/live')
    expect(told(health)).toMatchObject({ status: 404, Key: 'minio/health/live' })
  })

  it.each([
    ['/%ff', 400, 'InvalidURI'],
    [`/${'x'.repeat(1025)}`, 400, 'KeyTooLongError'],
    [`/${'x'.repeat(1020)}/`, 400, 'KeyTooLongError'],
  ])('refuses %s as the API does', async (target, status, code) => {
    await publish()
    expect(told(await visit(wire, target))).toMatchObject({ status, Code: code })
  })

  it('lets pages of other origins have what its bucket’s CORS rules say', async () => {
    await publish()
    const rule = [
      ['AllowedOrigin', 'https://app.test'],
      ['AllowedMethod', 'GET'],
    ] as const
    await wire.must(putCors(rule))
    const origin: [string, string] = ['Origin', 'https://app.test']
    const allowed = 'access-control-allow-origin'
    expect((await visit(wire, '/', { headers: [origin] })).headers.get(allowed)).toBe('https://app.test')
    expect((await visit(wire, '/missing', { headers: [origin] })).headers.get(allowed)).toBe('https://app.test')
    const asks: [string, string][] = [origin, ['Access-Control-Request-Method', 'GET']]
    const preflight = await visit(wire, '/', { method: 'OPTIONS', headers: asks })
    expect([preflight.status, preflight.headers.get(allowed)]).toEqual([200, 'https://app.test'])
    const other: [string, string][] = [
      ['Origin', 'https://b.test'],
      ['Access-Control-Request-Method', 'GET'],
    ]
    expect(told(await visit(wire, '/', { method: 'OPTIONS', headers: other }))).toMatchObject({ status: 403 })
  })
})
