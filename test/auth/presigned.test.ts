/** Requests signed in their query: how long they are good, what must be in them, and that they are good for nothing else. */
import { describe, expect, it } from 'vitest'
import { openCredentials } from '../../src/auth/credentials.ts'
import { type SignedRequest, verify } from '../../src/auth/verify.ts'
import { withAdded } from './altered-request.ts'
import { codeOf, refusal } from './refusal.ts'
import { exampleAccounts, exampleKey, exampleTime, type PlainRequest, presign, wire } from './signer.ts'

const credentials = openCredentials(exampleAccounts)
const host = ['Host', 's3.localhost:9000'] as const
const plain: PlainRequest = { method: 'GET', path: '/bucket/a key', query: { versionId: 'null' }, headers: [host] }
const second = 1000

const accept = (request: SignedRequest, nowMs = exampleTime) => verify(request, credentials, nowMs)
const codeFor = (request: SignedRequest, nowMs = exampleTime) => codeOf(() => accept(request, nowMs))

/** Signed by someone who has the key but not the rules: `overrides` are under the signature. */
const presigned = (overrides: Readonly<Record<string, string>> = {}) => presign(plain, overrides).request

/** Changed after signing. */
function tampered(change: (query: Record<string, string>) => Record<string, string>): SignedRequest {
  const signed = presign(plain).plain
  return wire({ ...signed, query: change({ ...signed.query }) }, 'x-amz-')
}

function without(name: string): SignedRequest {
  return tampered(({ [name]: _, ...rest }) => rest)
}

describe.each(['x-amz-', 'x-store-'] as const)('a URL presigned in the %s dialect', (prefix) => {
  const { request } = presign(plain, {}, { prefix })

  it('is accepted, its body unsigned', () => {
    const principal = { accountId: 'main', displayName: 'Main', accessKeyId: exampleKey.accessKeyId }
    expect(accept(request)).toEqual({ principal, presigned: true, payload: { kind: 'unsigned' } })
  })

  it('may spell its parameters in lower case', () => {
    const lower = presign(plain, {}, { prefix }).plain
    const query = Object.entries(lower.query).map(([name, value]) => [
      name.replace(/^X-\w+-/, (s) => s.toLowerCase()),
      value,
    ])
    // The names are under the signature, so that changing them afterwards cannot match; but they are understood.
    expect(codeFor(wire({ ...lower, query: Object.fromEntries(query) }, prefix))).toBe('SignatureDoesNotMatch')
  })

  it.each([
    'x-amz-copy-source',
    'x-store-copy-source',
    'x-amz-acl',
    'x-store-meta-a',
    'x-holdfast-replica',
    'x-holdfast-last-modified',
  ])('is refused with %s added', (name) => {
    const error = refusal(() => accept(withAdded(request, [name, 'UNSIGNED-PAYLOAD'])))
    expect([error.code, error.status, error.details.HeadersNotSigned]).toEqual(['AccessDenied', 403, name])
  })

  it('takes an unsigned content-sha256 that says what was signed, and no other', () => {
    const unsignedHash = (value: string) => withAdded(request, [`${prefix}content-sha256`, value])
    expect(accept(unsignedHash('UNSIGNED-PAYLOAD')).payload).toEqual({ kind: 'unsigned' })
    expect(codeFor(unsignedHash('0'.repeat(64)))).toBe('SignatureDoesNotMatch')
  })

  it('cannot be used through the other dialect', () => {
    const other = prefix === 'x-amz-' ? 'x-store-' : 'x-amz-'
    expect(codeFor({ ...request, prefix: other })).toBe('AuthorizationQueryParametersError')
  })
})

describe('expiry', () => {
  it.each([
    ['1', 0, undefined],
    ['1', 1 * second, undefined],
    ['1', 1 * second + 1, 'AccessDenied'],
    ['604800', 604_800 * second, undefined],
    ['604800', 604_800 * second + 1, 'AccessDenied'],
    ['3600', -900 * second, undefined],
    ['3600', -900 * second - 1, 'AccessDenied'],
  ])('of %s s, used %d ms after signing, answers %s', (expires, after, code) => {
    const request = presigned({ 'X-Amz-Expires': expires })
    if (code === undefined) expect(accept(request, exampleTime + after).presigned).toBe(true)
    else expect(codeFor(request, exampleTime + after)).toBe(code)
  })

  it('tells an expired URL from one that is not valid yet', () => {
    const late = refusal(() => accept(presigned(), exampleTime + 3601 * second))
    expect([late.message, late.details]).toEqual([
      'Request has expired',
      { 'X-Amz-Expires': '3600', Expires: '2013-05-24T01:00:00Z', ServerTime: '2013-05-24T01:00:01Z' },
    ])
    const early = refusal(() => accept(presigned(), exampleTime - 3601 * second))
    expect([early.message, early.details]).toEqual([
      'Request is not yet valid',
      { 'X-Amz-Date': String(exampleTime), Expires: '2013-05-24T01:00:00Z', ServerTime: '2013-05-23T22:59:59Z' },
    ])
  })

  it.each([
    '0',
    '-1',
    '-604800',
    '604801',
    '9'.repeat(30),
    '9007199254740993',
    '1e3',
    '1.5',
    ' 1',
    '+1',
    '0x10',
    'NaN',
    '',
  ])('of "%s" is refused although signed', (expires) => {
    const error = refusal(() => accept(presigned({ 'X-Amz-Expires': expires })))
    expect([error.code, error.status]).toEqual(['AuthorizationQueryParametersError', 400])
  })

  it.each([
    ['-1', 'X-Amz-Expires must be non-negative'],
    ['0', 'X-Amz-Expires must be at least 1'],
    ['soon', 'X-Amz-Expires should be a number'],
  ])('of "%s" is answered with: %s', (expires, message) => {
    expect(refusal(() => accept(presigned({ 'X-Amz-Expires': expires }))).message).toBe(message)
  })

  it('cannot be extended', () => {
    expect(codeFor(tampered((query) => ({ ...query, 'X-Amz-Expires': '604800' })))).toBe('SignatureDoesNotMatch')
  })

  it('cannot be moved by another date', () => {
    const moved = tampered((query) => ({ ...query, 'X-Amz-Date': '20130524T235959Z' }))
    expect(codeFor(moved, exampleTime + 86_399 * second)).toBe('SignatureDoesNotMatch')
  })
})

describe('parameters', () => {
  it.each([
    'X-Amz-Algorithm',
    'X-Amz-Credential',
    'X-Amz-Signature',
    'X-Amz-Date',
    'X-Amz-SignedHeaders',
    'X-Amz-Expires',
  ])('%s is required', (name) => {
    expect(codeFor(without(name))).toBe('AuthorizationQueryParametersError')
  })

  it.each([
    'X-Amz-Algorithm',
    'X-Amz-Credential',
    'X-Amz-Signature',
    'X-Amz-Date',
    'X-Amz-SignedHeaders',
    'X-Amz-Expires',
  ])('%s may come only once, in any capitals', (name) => {
    const request = presigned()
    const value = new URLSearchParams(request.rawQuery).get(name) ?? ''
    for (const again of [name, name.toLowerCase()]) {
      const rawQuery = `${request.rawQuery}&${again}=${encodeURIComponent(value)}`
      expect(codeFor({ ...request, rawQuery })).toBe('AuthorizationQueryParametersError')
    }
  })

  const scope = '20130524/us-east-1/s3/aws4_request'
  it.each([
    ['X-Amz-Algorithm', 'AWS4-HMAC-SHA1', 'AuthorizationQueryParametersError'],
    ['X-Amz-Algorithm', '', 'AuthorizationQueryParametersError'],
    ['X-Amz-Algorithm', 'AWS4-ECDSA-P256-SHA256', 'NotImplemented'],
    ['X-Amz-Credential', exampleKey.accessKeyId, 'AuthorizationQueryParametersError'],
    ['X-Amz-Credential', `/${scope}`, 'AuthorizationQueryParametersError'],
    [
      'X-Amz-Credential',
      `${exampleKey.accessKeyId}/20130525/us-east-1/s3/aws4_request`,
      'AuthorizationQueryParametersError',
    ],
    [
      'X-Amz-Credential',
      `${exampleKey.accessKeyId}/20130524/us-east-1/iam/aws4_request`,
      'AuthorizationQueryParametersError',
    ],
    ['X-Amz-Credential', `${exampleKey.accessKeyId}/20130524/us-east-1/s3/aws4`, 'AuthorizationQueryParametersError'],
    [
      'X-Amz-Credential',
      `${exampleKey.accessKeyId}/20130524/us\neast/s3/aws4_request`,
      'AuthorizationQueryParametersError',
    ],
    ['X-Amz-Credential', `NOBODY/${scope}`, 'InvalidAccessKeyId'],
    ['X-Amz-Date', '2013-05-24T00:00:00Z', 'AuthorizationQueryParametersError'],
    ['X-Amz-Date', 'Fri, 24 May 2013 00:00:00 GMT', 'AuthorizationQueryParametersError'],
    ['X-Amz-SignedHeaders', '', 'AccessDenied'],
    ['X-Amz-SignedHeaders', 'range', 'AccessDenied'],
    ['X-Amz-SignedHeaders', 'host;range', 'SignatureDoesNotMatch'],
    ['X-Amz-SignedHeaders', 'host\n', 'AccessDenied'],
    ['X-Amz-SignedHeaders', 'host;host', 'AuthorizationQueryParametersError'],
    ['X-Amz-Content-Sha256', 'garbage', 'InvalidArgument'],
    ['X-Amz-Security-Token', 'token', 'InvalidToken'],
    ['x-store-security-token', 'token', 'InvalidToken'],
  ])('%s of "%s" is %s although signed', (name, value, code) => {
    expect(codeFor(presigned({ [name]: value }))).toBe(code)
  })

  it.each([
    ['X-Amz-Signature', '0'.repeat(64)],
    ['X-Amz-Signature', ''],
    ['versionId', 'other'],
    ['x-amz-acl', 'public-read'],
  ])('%s changed to "%s" afterwards does not match', (name, value) => {
    expect(codeFor(tampered((query) => ({ ...query, [name]: value })))).toBe('SignatureDoesNotMatch')
  })

  it('may name the body’s hash, as SDKs hoist it', () => {
    const hex = 'ab'.repeat(32)
    expect(accept(presigned({ 'X-Amz-Content-Sha256': 'UNSIGNED-PAYLOAD' })).payload).toEqual({ kind: 'unsigned' })
    expect(codeFor(tampered((query) => ({ ...query, 'X-Amz-Content-Sha256': hex })))).toBe('SignatureDoesNotMatch')
  })

  it('may not name two hashes', () => {
    const request = presigned({ 'X-Amz-Content-Sha256': 'UNSIGNED-PAYLOAD' })
    expect(codeFor({ ...request, rawQuery: `${request.rawQuery}&x-amz-content-sha256=${'0'.repeat(64)}` })).toBe(
      'InvalidArgument',
    )
  })
})

describe('a presigned GET is of no use for', () => {
  it.each(['PUT', 'DELETE', 'HEAD', 'POST', 'get'])('%s', (method) => {
    expect(codeFor({ ...presigned(), method })).toBe('SignatureDoesNotMatch')
  })

  it.each([
    '/bucket/b%20key',
    '/bucket',
    '/bucket/a%20key/',
    '//bucket/a%20key',
    '/bucket/./a%20key',
    '/bucket/a%2520key',
  ])('the path %s', (rawPath) => {
    expect(codeFor({ ...presigned(), rawPath })).toBe('SignatureDoesNotMatch')
  })

  it('another host', () => {
    expect(codeFor({ ...presigned(), rawHeaders: ['Host', 'other.localhost'] })).toBe('SignatureDoesNotMatch')
  })
})
