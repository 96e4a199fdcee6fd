/** The console's signer, against the server that verifies it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checksumOf, percentEncode, presign, signHeaders } from '../../console/src/api/sigv4.ts'
import { type Server, startServer } from '../../src/index.ts'

let server: Server
beforeAll(async () => {
  server = await startServer({ buckets: ['photos'] })
})
afterAll(() => server.close())

const scope = () => ({ credentials: server.credentials, region: 'us-east-1', now: new Date() })
const urlOf = (key: string, query = ''): URL =>
  new URL(`${server.endpoint}/photos/${key.split('/').map(percentEncode).join('/')}${query}`)

const keys = ['plain', 'a/b c+d', 'é/ü', 'a&b=c?d#e', "quote's (1)!*", '%41', '😀', 'double//slash/']

describe('signHeaders', () => {
  it.each(keys)('signs a PUT and a GET of %j', async (key) => {
    const url = urlOf(key)
    const body = new TextEncoder().encode(`contents of ${key}`)
    const headers = {
      'content-type': 'text/plain',
      'x-amz-meta-note': 'two  spaces',
      'x-amz-checksum-sha256': checksumOf(body),
    }
    const put = await fetch(url, {
      method: 'PUT',
      body,
      headers: signHeaders({ method: 'PUT', url, headers, body }, scope()),
    })
    expect([put.status, await put.text()]).toEqual([200, ''])
    const get = await fetch(url, {
      headers: signHeaders({ method: 'GET', url, headers: {}, body: new Uint8Array() }, scope()),
    })
    expect([get.status, await get.text()]).toEqual([200, `contents of ${key}`])
  })

  it('signs queries with and without values', async () => {
    const url = new URL(`${server.endpoint}/photos?versions&prefix=a%2F&max-keys=1`)
    const answer = await fetch(url, {
      headers: signHeaders({ method: 'GET', url, headers: {}, body: new Uint8Array() }, scope()),
    })
    expect(answer.status).toBe(200)
  })

  it('is refused with another secret', async () => {
    const url = urlOf('plain')
    const wrong = { ...scope(), credentials: { ...server.credentials, secretAccessKey: 'wrong' } }
    const answer = await fetch(url, {
      headers: signHeaders({ method: 'GET', url, headers: {}, body: new Uint8Array() }, wrong),
    })
    expect([answer.status, await answer.text()]).toEqual([403, expect.stringContaining('SignatureDoesNotMatch')])
  })
})

describe('presign', () => {
  it.each(keys)('gives an address of %j that works until it expires', async (key) => {
    const put = await fetch(presign('PUT', urlOf(key), scope(), 60), { method: 'PUT', body: 'shared' })
    expect(put.status).toBe(200)
    const past = { ...scope(), now: new Date(Date.now() - 120_000) }
    const expired = await fetch(presign('GET', urlOf(key), past, 60))
    expect([expired.status, await expired.text()]).toEqual([403, expect.stringContaining('Request has expired')])
    const got = await fetch(presign('GET', urlOf(key, '?response-content-disposition=attachment'), scope(), 60))
    expect([got.status, got.headers.get('content-disposition'), await got.text()]).toEqual([
      200,
      'attachment',
      'shared',
    ])
  })
})
