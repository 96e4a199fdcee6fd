/** Requests signed in the Authorization header: what is accepted, and the exact code for everything that is not. */
import { describe, expect, it } from 'vitest'
import { openCredentials } from '../../src/auth/credentials.ts'
import { type SignedRequest, verify } from '../../src/auth/verify.ts'
import { withAdded, withHeader } from './altered-request.ts'
import { codeOf, refusal } from './refusal.ts'
import {
  emptySha256,
  exampleAccounts,
  exampleKey,
  exampleTime,
  type Headers,
  type PlainRequest,
  type SigningOptions,
  signHeaders,
} from './signer.ts'

const credentials = openCredentials(exampleAccounts)
const host = ['Host', 's3.localhost:9000'] as const
const plain: PlainRequest = { method: 'GET', path: '/bucket/key', query: { prefix: 'a b' }, headers: [host] }
const minuteMs = 60_000

function signed(changes: Partial<PlainRequest> = {}, options: Partial<SigningOptions> = {}, payload = emptySha256) {
  return signHeaders({ ...plain, ...changes }, payload, options).request
}

const accept = (request: SignedRequest, nowMs = exampleTime) => verify(request, credentials, nowMs)
const codeFor = (request: SignedRequest, nowMs = exampleTime) => codeOf(() => accept(request, nowMs))

const withAuthorization = (change: (value: string) => string | undefined): SignedRequest =>
  withHeader(signed(), 'authorization', change)

describe.each(['x-amz-', 'x-store-'] as const)('a request in the %s dialect', (prefix) => {
  it('is accepted when its signature is right', () => {
    expect(accept(signed({}, { prefix }))).toEqual({
      principal: { accountId: 'main', displayName: 'Main', accessKeyId: exampleKey.accessKeyId },
      presigned: false,
      payload: { kind: 'sha256', hex: emptySha256 },
    })
  })

  it.each([
    'x-amz-acl',
    'x-store-acl',
    'x-amz-copy-source',
    'x-store-meta-a',
    'x-holdfast-replica',
    'x-holdfast-last-modified',
  ])('is refused with an unsigned %s', (name) => {
    const error = refusal(() => accept(withAdded(signed({}, { prefix }), [name, 'value'])))
    expect([error.code, error.status, error.details.HeadersNotSigned]).toEqual(['AccessDenied', 403, name])
  })

  it('may carry unsigned headers that are not the vendor’s', () => {
    const request = withAdded(
      signed({}, { prefix }),
      ['Content-Type', 'text/plain'],
      ['User-Agent', 'x'],
      ['Range', 'bytes=0-1'],
    )
    expect(accept(request).principal.accountId).toBe('main')
  })
})

describe('what is signed', () => {
  it.each<[string, Partial<PlainRequest>, Partial<SigningOptions>]>([
    ['any region', {}, { region: 'eu-central-7' }],
    ['an empty path', { path: '' }, {}],
    ['segments that look like directories', { path: '/bucket//a/./../b/' }, {}],
    ['a key of every kind of character', { path: "/bucket/a b+c%d!*'()~@:,;=&$ä𝄞.txt" }, {}],
    ['query values of every kind', { query: { 'a-b': '', a: 'x=y&z', prefix: 'ä +/%', z: '~' } }, {}],
    ['a header with inner spaces', { headers: [host, ['x-amz-meta-a', 'one two']] }, {}],
  ])('%s', (_, changes, options) => {
    const path = changes.path === '' ? '/' : (changes.path ?? plain.path)
    const request = signed({ ...changes, path }, options)
    expect(accept(changes.path === '' ? { ...request, rawPath: '' } : request).principal.accountId).toBe('main')
  })

  it('is the same for lower-case escapes, characters that need none, and plus for space in a query', () => {
    const request = signed({ path: '/b/a-~/ä$', query: { q: 'x y' } })
    expect(request.rawPath).toBe('/b/a-~/%C3%A4%24')
    expect(accept({ ...request, rawPath: '/b/%61%2D%7e/%c3%a4$' }).presigned).toBe(false)
    expect(accept({ ...request, rawQuery: 'q=x+y' }).presigned).toBe(false)
    expect(codeFor({ ...request, rawPath: '/b/a-~/%25C3%25A4%24' })).toBe('SignatureDoesNotMatch')
  })

  it('is the same for any order of the query and for empty parts of it', () => {
    const request = signed({ query: { b: '2', a: '1', 'a-': '', uploads: '' } })
    expect(accept({ ...request, rawQuery: '&uploads&b=2&&a-=&a=1&' }).presigned).toBe(false)
  })

  it('joins the values of a repeated header with commas and collapses white space', () => {
    const request = signed({ headers: [host, ['x-amz-meta-a', 'one two,three']] })
    const sent = withAdded(
      withHeader(request, 'x-amz-meta-a', () => 'one \t  two'),
      ['X-Amz-Meta-A', 'three'],
    )
    expect(accept(sent).presigned).toBe(false)
    expect(codeFor(withAdded(sent, ['x-amz-meta-a', 'four']))).toBe('SignatureDoesNotMatch')
  })

  it('is the bytes of a header, whatever their encoding', () => {
    const latin1 = Buffer.from('grüße', 'utf8').toString('latin1')
    const request = signed({ headers: [host, ['x-amz-meta-a', 'grüße']] })
    expect(accept(withHeader(request, 'x-amz-meta-a', () => latin1)).presigned).toBe(false)
  })

  it('takes the Date header when the vendor’s is absent', () => {
    const date = ['Date', 'Fri, 24 May 2013 00:00:00 GMT'] as const
    const request = signed({ headers: [host, date] }, { vendorDate: false })
    expect(accept(request).presigned).toBe(false)
    expect(codeFor(withHeader(request, 'date', () => 'Fri, 24 May 2013 00:00:01 GMT'))).toBe('SignatureDoesNotMatch')
    expect(codeFor(withHeader(request, 'date', () => 'soon'))).toBe('AccessDenied')
    expect(codeFor(withHeader(request, 'date', () => undefined))).toBe('AccessDenied')
  })
})

describe('a signature that is not the right one', () => {
  const other = { accessKeyId: exampleKey.accessKeyId, secretAccessKey: 'not the secret' }
  const unknown = { accessKeyId: 'AKIANOBODY', secretAccessKey: exampleKey.secretAccessKey }

  it.each<[string, string, SignedRequest]>([
    ['another secret', 'SignatureDoesNotMatch', signed({}, { key: other })],
    ['an unknown access key', 'InvalidAccessKeyId', signed({}, { key: unknown })],
    [
      'an access key named like a property of objects',
      'InvalidAccessKeyId',
      signed({}, { key: { ...unknown, accessKeyId: '__proto__' } }),
    ],
    [
      'an empty signature',
      'SignatureDoesNotMatch',
      withAuthorization((value) => value.replace(/Signature=.*/, 'Signature=')),
    ],
    [
      'a signature in upper case',
      'SignatureDoesNotMatch',
      withAuthorization((value) => value.replace(/Signature=.*/, (s) => `Signature=${s.slice(10).toUpperCase()}`)),
    ],
    ['a signature with more behind it', 'SignatureDoesNotMatch', withAuthorization((value) => `${value}0`)],
    ['another method', 'SignatureDoesNotMatch', { ...signed(), method: 'DELETE' }],
    ['another path', 'SignatureDoesNotMatch', { ...signed(), rawPath: '/bucket/other' }],
    ['a merged slash', 'SignatureDoesNotMatch', { ...signed({ path: '/bucket//key' }), rawPath: '/bucket/key' }],
    ['another query', 'SignatureDoesNotMatch', { ...signed(), rawQuery: 'prefix=a%20c' }],
    ['an added query parameter', 'SignatureDoesNotMatch', { ...signed(), rawQuery: 'prefix=a%20b&acl' }],
    ['another host', 'SignatureDoesNotMatch', withHeader(signed(), 'host', () => 'evil.example')],
    [
      'another content-sha256',
      'SignatureDoesNotMatch',
      withHeader(signed(), 'x-amz-content-sha256', () => 'UNSIGNED-PAYLOAD'),
    ],
    [
      'a signed header that is gone',
      'SignatureDoesNotMatch',
      withHeader(signed({ headers: [host, ['x-amz-acl', 'private']] }), 'x-amz-acl', () => undefined),
    ],
    ['another prefix than the one signed with', 'AccessDenied', { ...signed(), prefix: 'x-store-' }],
  ])('%s', (_, code, request) => {
    expect(codeFor(request)).toBe(code)
  })

  it('tells what was signed here, never the secret', () => {
    const error = refusal(() => accept(signed({}, { key: other })))
    expect(error.details).toMatchObject({ AWSAccessKeyId: exampleKey.accessKeyId })
    expect(error.details.CanonicalRequest).toContain('GET\n/bucket/key\nprefix=a%20b\nhost:s3.localhost:9000\n')
    expect(error.details.StringToSign).toMatch(
      /^AWS4-HMAC-SHA256\n20130524T000000Z\n20130524\/us-east-1\/s3\/aws4_request\n[0-9a-f]{64}$/,
    )
    expect(JSON.stringify([error.message, error.details])).not.toContain(exampleKey.secretAccessKey)
  })

  it('does not repeat a customer’s encryption key', () => {
    const headers: Headers = [host, ['x-amz-server-side-encryption-customer-key', 'c2VjcmV0']]
    const error = refusal(() => accept(signed({ headers }, { key: other })))
    expect(JSON.stringify([error.message, error.details])).not.toContain('c2VjcmV0')
  })

  it('is not looked for by the name of another key of the same account', () => {
    const two = openCredentials([
      { id: 'a', name: 'A', keys: [exampleKey, { accessKeyId: 'SECOND', secretAccessKey: 'second' }] },
    ])
    const request = signed({}, { key: { accessKeyId: 'SECOND', secretAccessKey: exampleKey.secretAccessKey } })
    expect(codeOf(() => verify(request, two, exampleTime))).toBe('SignatureDoesNotMatch')
  })
})

describe('headers that must be signed', () => {
  it('include Host', () => {
    const error = refusal(() => accept(withAdded(signed({ headers: [] }), host)))
    expect([error.code, error.details.HeadersNotSigned]).toEqual(['AccessDenied', 'host'])
  })

  it('are all named when several are missing', () => {
    const request = withAdded(signed(), ['x-amz-acl', 'public-read'], ['x-store-tagging', 'a=b'])
    expect(refusal(() => accept(request)).details.HeadersNotSigned).toBe('x-amz-acl, x-store-tagging')
  })
})

describe('time', () => {
  it.each([
    [0, undefined],
    [15 * minuteMs, undefined],
    [-15 * minuteMs, undefined],
    [15 * minuteMs + 1, 'RequestTimeTooSkewed'],
    [-15 * minuteMs - 1, 'RequestTimeTooSkewed'],
    [24 * 60 * minuteMs, 'RequestTimeTooSkewed'],
  ])('a server %d ms ahead of the request answers %s', (ahead, code) => {
    if (code === undefined) expect(accept(signed(), exampleTime + ahead).presigned).toBe(false)
    else expect(codeFor(signed(), exampleTime + ahead)).toBe(code)
  })

  it.each(['20130524T000000', '20130524T000000z', '2013-05-24T00:00:00Z', '20131324T000000Z', '20130524T240000Z', ''])(
    'a date header of "%s" is AccessDenied',
    (timestamp) => {
      expect(codeFor(withHeader(signed(), 'x-amz-date', () => timestamp))).toBe('AccessDenied')
    },
  )

  it('a date header sent twice is AccessDenied', () => {
    expect(codeFor(withAdded(signed(), ['x-amz-date', '20130524T000000Z']))).toBe('AccessDenied')
  })
})

describe('content-sha256', () => {
  it.each([
    ['UNSIGNED-PAYLOAD', { kind: 'unsigned' }],
    [emptySha256.toUpperCase(), { kind: 'sha256', hex: emptySha256 }],
    ['STREAMING-AWS4-HMAC-SHA256-PAYLOAD', { kind: 'aws-chunked', signatures: expect.anything(), trailer: false }],
    [
      'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER',
      { kind: 'aws-chunked', signatures: expect.anything(), trailer: true },
    ],
    ['STREAMING-UNSIGNED-PAYLOAD-TRAILER', { kind: 'aws-chunked', signatures: undefined, trailer: true }],
  ])('%s', (value, payload) => {
    expect(accept(signed({}, {}, value)).payload).toEqual(payload)
  })

  it.each([
    ['STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD', 'NotImplemented'],
    ['STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD-TRAILER', 'NotImplemented'],
    ['STREAMING-UNSIGNED-PAYLOAD', 'InvalidArgument'],
    ['unsigned-payload', 'InvalidArgument'],
    [emptySha256.slice(1), 'InvalidArgument'],
    [`${emptySha256}0`, 'InvalidArgument'],
    ['required', 'InvalidArgument'],
    ['', 'InvalidArgument'],
  ])('of "%s" is %s', (value, code) => {
    expect(codeFor(signed({}, {}, value))).toBe(code)
  })

  it('is required', () => {
    const error = refusal(() => accept(withHeader(signed(), 'x-amz-content-sha256', () => undefined)))
    expect([error.code, error.message]).toEqual([
      'InvalidRequest',
      'Missing required header for this request: x-amz-content-sha256',
    ])
  })
})

describe('what cannot be honoured', () => {
  it.each(['x-amz-security-token', 'X-Store-Security-Token'])('refuses a session token in %s', (name) => {
    expect(codeFor(signed({ headers: [host, [name, 'token']] }))).toBe('InvalidToken')
  })

  it.each(['/a%', '/a%2', '/a%zz', '/a%-1', '/a\u0100'])('refuses the path %s', (rawPath) => {
    expect(codeFor({ ...signed(), rawPath })).toBe('InvalidURI')
  })

  it.each(['a=%', 'a%g0=1'])('refuses the query %s', (rawQuery) => {
    expect(codeFor({ ...signed(), rawQuery })).toBe('InvalidURI')
  })
})
