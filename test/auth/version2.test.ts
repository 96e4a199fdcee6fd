/** Version 2 of signatures: AWS's published examples, what is refused of URLs and headers, and that no change of a signed request is taken. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openCredentials } from '../../src/auth/credentials.ts'
import { signatureOfVersion2, stringsToSignOfVersion2 } from '../../src/auth/sigv2.ts'
import { verify } from '../../src/auth/verify.ts'
import type { Version2Rules } from '../../src/auth/verify-version2.ts'
import { S3Error } from '../../src/errors.ts'
import { compileHosts } from '../../src/http/address.ts'
import { dialectOfRequest, storeDialect } from '../../src/http/dialect.ts'
import type { HeaderPair, RequestToSign, SignedRequest } from '../support/signer.ts'
import { presignVersion2, signVersion2 } from '../support/signer-version2.ts'
import { refusal } from './refusal.ts'
import { exampleAccounts, exampleKey, exampleTime } from './signer.ts'

const credentials = openCredentials(exampleAccounts)
const parameters = new Set([
  'acl',
  'attributes',
  'list-type',
  'prefix',
  'uploads',
  'versionId',
  'response-content-type',
])
const rules: Version2Rules = { taken: 'all', bucketOfHost: compileHosts(['s3.test']), parameters }

function accept(
  { method, target, headers }: SignedRequest,
  taken: Version2Rules['taken'] = 'all',
  nowMs = exampleTime,
) {
  const [rawPath = '', rawQuery = ''] = target.split('?')
  const names = headers.map(([name]) => name.toLowerCase())
  const authorization = headers.find(([name]) => name === 'Authorization')?.[1]
  const { prefix } = dialectOfRequest(names, rawQuery, authorization) ?? storeDialect
  const request = { method, rawPath, rawQuery, rawHeaders: headers.flat(), names, prefix }
  return verify(request, credentials, nowMs, { ...rules, taken })
}
const principal = { accountId: 'main', displayName: 'Main', accessKeyId: exampleKey.accessKeyId }
const taken = { principal, presigned: true, payload: { kind: 'unsigned' } }

const now = exampleTime / 1000
const week = 604_800
const plain: RequestToSign = { method: 'GET', host: 's3.test', path: '/bucket/key' }
const url = (more: Partial<RequestToSign> = {}, expires: number | string = now + 60): SignedRequest =>
  presignVersion2({ ...plain, ...more }, { key: exampleKey, expires })

const codeFor = (request: SignedRequest, ...rest: [Version2Rules['taken']?, number?]): string =>
  refusal(() => accept(request, ...rest)).code

describe("AWS's examples", () => {
  const upload = new Map([
    ['x-amz-meta-reviewedby', 'joe@johnsmith.net,jane@johnsmith.net'],
    ['x-amz-acl', 'public-read'],
    ['x-amz-meta-filechecksum', '0x02661779'],
    ['x-amz-meta-checksumalgorithm', 'crc32'],
  ])
  it.each([
    ['a read', { date: 'Tue, 27 Mar 2007 19:36:42 +0000' }, 'bWq2s1WEIj+Ydj0vQ697zp+IXMU='],
    [
      'a write',
      { method: 'PUT', contentType: 'image/jpeg', date: 'Tue, 27 Mar 2007 21:15:45 +0000' },
      'MyyxeRY7whkBe+bq8fHCL/2kKUg=',
    ],
    [
      'a listing',
      { rawPath: '/', parameters: [['prefix', 'photos']], date: 'Tue, 27 Mar 2007 19:42:41 +0000' },
      'htDYFYduRNen8P9ZfE/s9SuKy0U=',
    ],
    [
      'a sub-resource',
      { rawPath: '/', parameters: [['acl', '']], date: 'Tue, 27 Mar 2007 19:44:46 +0000' },
      'c2WLPFtWHVgbEmeEG93a4cG37dM=',
    ],
    [
      'an upload with headers',
      {
        method: 'PUT',
        contentMd5: '4gJE4saaMU4BqNR0kLY+lw==',
        contentType: 'application/x-download',
        date: 'Tue, 27 Mar 2007 21:06:08 +0000',
        vendor: upload,
        hostBucket: 'static.johnsmith.net',
        rawPath: '/db-backup.dat.gz',
      },
      'ilyl83RwaSoYIEdixDQcA4OnAnc=',
    ],
    [
      'the service',
      { hostBucket: '', rawPath: '/', date: 'Wed, 28 Mar 2007 01:29:59 +0000' },
      'qGdzdERIC03wnaRNKh6OqZehG9s=',
    ],
    [
      'a key with escapes in both cases',
      {
        hostBucket: '',
        rawPath: '/dictionary/fran%C3%A7ais/pr%c3%a9f%c3%a8re',
        date: 'Wed, 28 Mar 2007 01:49:49 +0000',
      },
      'DNEZGsoieTZ92F3bUfSPQcbGmlM=',
    ],
    ['a URL', { date: '1175139620' }, 'NpgCjnDzrM+WFzoENXmpNDUsSn8='],
  ] as const)('%s', (_, parts, signature) => {
    const [text = ''] = stringsToSignOfVersion2({
      method: 'GET',
      contentMd5: '',
      contentType: '',
      vendor: new Map(),
      hostBucket: 'johnsmith',
      rawPath: '/photos/puppy.jpg',
      parameters: [],
      ...parts,
    })
    expect(signatureOfVersion2(exampleKey.secretAccessKey, text)).toBe(signature)
  })
})

describe('a URL', () => {
  it.each([
    ['plain', url()],
    [
      'of a sub-resource and a version',
      url({
        query: [
          ['acl', ''],
          ['versionId', 'null'],
        ],
      }),
    ],
    ['that overrides a header of the answer', url({ query: [['response-content-type', 'text/plain; a=b&c']] })],
    [
      'that carries vendor headers in its query',
      url({
        query: [
          ['x-amz-acl', 'private'],
          ['x-amz-meta-a', 'ü b'],
        ],
      }),
    ],
    [
      'sent with a vendor header that it signs',
      url({
        headers: [
          ['X-Amz-Meta-B', 'x'],
          ['x-amz-meta-a', 'y'],
        ],
      }),
    ],
    [
      'sent with the type and digest that it signs',
      url({
        headers: [
          ['Content-Type', 'a/b'],
          ['Content-MD5', 'x'],
        ],
      }),
    ],
    ['with a parameter that means nothing', { ...url(), target: `${url().target}&cache-buster=1` }],
    ['with a plus for a plus in its signature', { ...url(), target: url().target.replaceAll('%2B', '+') }],
  ])('%s is taken', (_, request) => {
    expect(accept(request)).toEqual(taken)
    expect(accept(request, 'presigned')).toEqual(taken)
  })

  it('of a bucket in Host is taken, and one of a bucket in the path that means the same', () => {
    const inHost = { ...plain, host: 'bucket.s3.test:9000', path: '/key' }
    const request = presignVersion2(inHost, { key: exampleKey, hostBucket: 'bucket', expires: now + 60 })
    expect(accept(request)).toEqual(taken)
    const other = { ...request, headers: [['Host', 'other.s3.test']] as HeaderPair[] }
    expect(codeFor(other)).toBe('SignatureDoesNotMatch')
  })

  it('of a bucket may sign a slash behind it that is not sent, as boto3 does', () => {
    const bucket = url({ path: '/bucket/' })
    expect(accept({ ...bucket, target: bucket.target.replace('/bucket/', '/bucket') })).toEqual(taken)
    expect(accept(url({ path: '/bucket' }))).toEqual(taken)
    const key = url({ path: '/bucket/key/' })
    expect(codeFor({ ...key, target: key.target.replace('/key/', '/key') })).toBe('SignatureDoesNotMatch')
  })

  it.each([
    ['that has expired', url({}, now - 1), 'Request has expired'],
    ['that expires in more than a week', url({}, now + week + 1), 'Expires must be at most 604800 seconds ahead.'],
    ['that expires in a million years', url({}, '99999999999'), 'Expires must be at most'],
    ['that expires at no number', url({}, 'tomorrow'), 'Invalid date'],
    ['that expires at a fraction', url({}, `${now + 60}.5`), 'Invalid date'],
    ['that expires before the epoch', url({}, '-1'), 'Invalid date'],
    ['that never expires', url({}, ''), 'Invalid date'],
    ['with a header of the other dialect', url({ headers: [['x-store-acl', 'private']] }), 'headers present'],
    ['with a parameter of the other dialect', url({ query: [['x-store-acl', 'private']] }), 'headers present'],
    ['whose unsigned parameter is an input', url({ query: [['prefix', 'a']] }), 'parameters present'],
    ['whose unsigned parameter chooses an operation', url({ query: [['attributes', '']] }), 'parameters present'],
    [
      'whose parameter could be no header',
      url({ query: [['x-amz-meta-a', 'b\nx-amz-acl:private']] }),
      'stand for a header',
    ],
    ['whose parameter has no name of a header', url({ query: [['x-amz-a:b', 'c']] }), 'stand for a header'],
  ])('%s is refused', (_, request, message) => {
    const { code, message: said } = refusal(() => accept(request))
    expect([code, said]).toEqual(['AccessDenied', expect.stringContaining(message)])
  })

  it('is good to its last second, and for a week', () => {
    expect(accept(url({}, now))).toEqual(taken)
    expect(accept(url({}, now + week))).toEqual(taken)
  })

  it.each(['AWSAccessKeyId', 'Signature', 'Expires'])('without %s, or with two of it, is refused', (name) => {
    const { target, ...rest } = url()
    const pair = new RegExp(`[?&]${name}=([^&]*)`)
    const value = pair.exec(target)?.[1]
    expect(codeFor({ ...rest, target: target.replace(pair, '').replace(/key&/, 'key?') })).toBe('AccessDenied')
    expect(codeFor({ ...rest, target: `${target}&${name}=${value}` })).toBe('AccessDenied')
  })

  it('is held to the body that it declares, however its other parameters are spelled', () => {
    const hex = 'ab'.repeat(32)
    const { target, ...rest } = url({ method: 'PUT', query: [['x-amz-content-sha256', hex]] })
    for (const respelled of [target, target.replace('AWSAccessKeyId', '%41WSAccessKeyId')])
      expect(accept({ ...rest, target: respelled }).payload).toEqual({ kind: 'sha256', hex })
  })

  it('names the unsigned parameter', () => {
    const { details } = refusal(() => accept(url({ query: [['prefix', 'a']] })))
    expect(details).toEqual({ ParametersNotSigned: 'prefix' })
  })

  it.each([
    ['another method', (request: SignedRequest) => ({ ...request, method: 'PUT' })],
    ['another path', (request: SignedRequest) => ({ ...request, target: request.target.replace('/key', '/key2') })],
    [
      'a later end',
      (request: SignedRequest) => ({ ...request, target: request.target.replace(/Expires=(\d+)/, 'Expires=1$1') }),
    ],
    ['a sub-resource', (request: SignedRequest) => ({ ...request, target: `${request.target}&acl` })],
    ['a version', (request: SignedRequest) => ({ ...request, target: `${request.target}&versionId=null` })],
    ['a vendor header', (request: SignedRequest) => withHeader(request, 'x-amz-acl', 'private')],
    ['a vendor parameter', (request: SignedRequest) => ({ ...request, target: `${request.target}&x-amz-acl=private` })],
    ['a type', (request: SignedRequest) => withHeader(request, 'Content-Type', 'text/html')],
    ['a digest', (request: SignedRequest) => withHeader(request, 'Content-MD5', 'x')],
  ])('is not good for %s', (_, change) => {
    expect(['SignatureDoesNotMatch', 'AccessDenied']).toContain(codeFor(change(url())))
  })

  it('says a vendor value once: a header beside the same parameter would change what is kept', () => {
    const said = url({ query: [['x-amz-meta-a', 'b']] })
    expect(codeFor(withHeader(said, 'x-amz-meta-a', 'b'))).toBe('SignatureDoesNotMatch')
  })

  it('whose text would also mean something else is refused, whoever signed it', () => {
    const joined = url({ query: [['response-content-type', 'a&versionId=null']] })
    expect(codeFor(joined)).toBe('SignatureDoesNotMatch')
    const slash = { ...plain, host: 'a/b.s3.test', path: '/c' }
    expect(codeFor(presignVersion2(slash, { key: exampleKey, hostBucket: 'a/b', expires: now + 60 }))).toBe(
      'SignatureDoesNotMatch',
    )
  })

  it('by an unknown key or a wrong secret is refused, and the answer holds no key of a customer', () => {
    const by = (key: Partial<typeof exampleKey>, headers: HeaderPair[] = []) =>
      refusal(() =>
        accept(presignVersion2({ ...plain, headers }, { key: { ...exampleKey, ...key }, expires: now + 60 })),
      )
    expect(by({ accessKeyId: 'AKNOBODY' }).code).toBe('InvalidAccessKeyId')
    const { code, details } = by({ secretAccessKey: 'wrong' })
    expect(code).toBe('SignatureDoesNotMatch')
    expect(details.StringToSign).toBe(`GET\n\n\n${now + 60}\n/bucket/key`)
    const secret: HeaderPair = ['x-amz-server-side-encryption-customer-key', 'canary']
    expect(JSON.stringify(by({ secretAccessKey: 'wrong' }, [secret]).details)).not.toContain('canary')
  })

  it('is refused with a token, with a signature of another version beside it, and where version 2 is off', () => {
    expect(codeFor(url({ query: [['x-amz-security-token', 'x']] }))).toBe('InvalidToken')
    expect(codeFor(url({ query: [['X-Amz-Signature', 'x']] }))).toBe('InvalidArgument')
    expect(codeFor(url({ headers: [['Authorization', 'AWS x:y']] }))).toBe('InvalidArgument')
    const { code, message } = refusal(() => accept(url(), 'off'))
    expect([code, message]).toEqual(['InvalidRequest', expect.stringContaining('sigv2 = presigned or sigv2 = all')])
  })
})

const withHeader = (request: SignedRequest, name: string, value: string): SignedRequest => ({
  ...request,
  headers: [...request.headers, [name, value]],
})

describe('a header', () => {
  const sign = (
    more: Partial<RequestToSign> = {},
    options: { nowMs?: number; dateHeader?: 'Date' | 'x-amz-date' } = {},
  ) => signVersion2({ ...plain, ...more }, { key: exampleKey, nowMs: exampleTime, ...options })

  it.each([
    ['dated by HTTP', sign()],
    ['dated by the vendor', sign({}, { dateHeader: 'x-amz-date' })],
    [
      'of a listing',
      sign({
        path: '/bucket',
        query: [
          ['list-type', '2'],
          ['prefix', 'a'],
        ],
      }),
    ],
    ['with a digest of the body', sign({ headers: [['x-amz-content-sha256', 'UNSIGNED-PAYLOAD']] })],
  ])('%s is taken where all forms are', (_, request) => {
    expect(accept(request)).toEqual({ ...taken, presigned: false })
  })

  it('is refused otherwise, and the refusal says which setting would take it', () => {
    for (const setting of ['off', 'presigned'] as const) {
      const { code, message } = refusal(() => accept(sign(), setting))
      expect([code, message]).toEqual(['InvalidRequest', expect.stringContaining('sigv2 = all')])
    }
  })

  it('is held to the body that it declares', () => {
    const hex = 'ab'.repeat(32)
    const { payload } = accept(sign({ headers: [['x-amz-content-sha256', hex]] }))
    expect(payload).toEqual({ kind: 'sha256', hex })
    const chunks = (how: string) => sign({ headers: [['x-amz-content-sha256', how]] })
    expect(accept(chunks('STREAMING-UNSIGNED-PAYLOAD-TRAILER')).payload).toEqual({
      kind: 'aws-chunked',
      signatures: undefined,
      trailer: true,
    })
    expect(codeFor(chunks('STREAMING-AWS4-HMAC-SHA256-PAYLOAD'))).toBe('InvalidRequest')
  })

  const minute = 60_000
  it.each([
    ['16 minutes old', sign({}, { nowMs: exampleTime - 16 * minute }), 'RequestTimeTooSkewed'],
    ['16 minutes early', sign({}, { nowMs: exampleTime + 16 * minute }), 'RequestTimeTooSkewed'],
    ['without a date', without(sign(), 'Date'), 'AccessDenied'],
    [
      'whose date was changed',
      withHeader(without(sign(), 'Date'), 'Date', new Date(exampleTime + 1000).toUTCString()),
      'SignatureDoesNotMatch',
    ],
    ['whose unsigned parameter chooses an operation', sign({ query: [['attributes', '']] }), 'AccessDenied'],
    [
      'without a signature',
      withHeader(without(sign(), 'Authorization'), 'Authorization', 'AWS AKIAIOSFODNN7EXAMPLE'),
      'AccessDenied',
    ],
    [
      'with an empty signature',
      withHeader(without(sign(), 'Authorization'), 'Authorization', 'AWS AKIAIOSFODNN7EXAMPLE:'),
      'SignatureDoesNotMatch',
    ],
  ] as const)('%s is refused', (_, request, code) => {
    expect(codeFor(request)).toBe(code)
  })
})

function without(request: SignedRequest, name: string): SignedRequest {
  return { ...request, headers: request.headers.filter(([other]) => other !== name) }
}

describe('whatever is changed of a URL', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 12 })
  const names = ['acl', 'versionId', 'response-content-type', 'x-amz-meta-a', 'x-amz-acl', 'other']
  const request: fc.Arbitrary<SignedRequest> = fc
    .record({
      method: fc.constantFrom('GET', 'PUT', 'DELETE'),
      key: fc.stringMatching(/^[a-z/&=%]{0,8}$/).map(encodeURIComponent),
      query: fc.uniqueArray(fc.tuple(fc.constantFrom(...names), text), { maxLength: 4, selector: ([name]) => name }),
      vendor: fc.uniqueArray(fc.constantFrom('x-amz-meta-b', 'x-amz-tagging', 'Content-Type'), { maxLength: 2 }),
    })
    .map(({ method, key, query, vendor }) => {
      const headers = vendor.map((name): HeaderPair => [name, 'value'])
      return url({ method, path: `/bucket/${key}`, query, headers })
    })

  function isTaken(changed: SignedRequest): boolean {
    try {
      accept(changed)
      return true
    } catch (error) {
      if (error instanceof S3Error && error.status < 500) return false
      throw error
    }
  }

  /** What operations get to see: everything but the signature, and parameters that mean nothing. */
  function meaning({ method, target, headers }: SignedRequest): unknown {
    const [path, query = ''] = target.split('?')
    const pairs = query.split('&').map((pair) => {
      const at = pair.indexOf('=')
      const [name, value] = at < 0 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + 1)]
      return [unescaped(name), unescaped(value)] as const
    })
    const isVendor = (name: string) => /^x-(amz|store)-/i.test(name)
    const meant = pairs.filter(([name]) => isVendor(name) || parameters.has(name) || name === 'Expires')
    return {
      method,
      // A slash behind the bucket alone means nothing.
      path: path?.replace(/^\/bucket$/, '/bucket/'),
      query: meant.map(([name, value]) => `${isVendor(name) ? name.toLowerCase() : name}=${value}`).sort(),
      headers: headers
        .map(([name, value]) => `${name.toLowerCase()}: ${value}`)
        .filter((line) => !line.startsWith('host')),
    }
  }
  const unescaped = (escaped: string): string =>
    escaped.replaceAll('+', ' ').replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))

  it('nothing: it is taken', () => {
    fc.assert(fc.property(request, isTaken), { numRuns: 500 })
  })

  /** What separates parameters is replaced by its own escape, so that two of them could be read as one. */
  function changedAt(target: string, at: number, put: string, replaces: boolean): string {
    const escaped = put === '%26' ? '&' : put === '%3D' ? '=' : undefined
    const places = [...target].flatMap((char, i) => (escaped === undefined || char === escaped ? [i] : []))
    const i = places[Math.floor(at * places.length)] ?? 0
    return target.slice(0, i) + put + target.slice(replaces || escaped !== undefined ? i + 1 : i)
  }

  it('one character replaced, put in or taken out: it is refused, or means the same', () => {
    const where = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
    const by = fc.constantFrom(
      '',
      '&',
      '=',
      '%',
      '%26',
      '%3D',
      '%0A',
      '+',
      '/',
      ':',
      'a',
      'A',
      '1',
      '&acl',
      '&versionId=1',
    )
    fc.assert(
      fc.property(request, where, by, fc.boolean(), (signed, at, put, replaces) => {
        const target = changedAt(signed.target, at, put, replaces)
        const changed = { ...signed, target }
        if (target.startsWith('/') && isTaken(changed)) expect(meaning(changed)).toEqual(meaning(signed))
      }),
      { numRuns: 6000 },
    )
  })

  it('with a header of either dialect, or a parameter that means something, it is refused', () => {
    const added = fc.constantFrom('x-amz-meta-c', 'x-amz-copy-source', 'x-store-acl', 'Content-MD5')
    fc.assert(
      fc.property(request, added, fc.constantFrom(...parameters), (signed, name, parameter) => {
        expect(isTaken(withHeader(signed, name, 'x'))).toBe(false)
        expect(isTaken({ ...signed, target: `${signed.target}&${parameter}` })).toBe(false)
      }),
      { numRuns: 1000 },
    )
  })
})
