/** What the operator's log says of a signature that does not match: what was changed on the way, and nothing of it to the client. */
import { describe, expect, it } from 'vitest'
import { type CanonicalParts, indexHeaders } from '../../src/auth/canonical-request.ts'
import { openCredentials } from '../../src/auth/credentials.ts'
import { diagnosis } from '../../src/auth/signature-diagnosis.ts'
import { type SignedRequest, verify } from '../../src/auth/verify.ts'
import { withAdded, withHeader } from './altered-request.ts'
import { refusal } from './refusal.ts'
import {
  emptySha256,
  exampleAccounts,
  exampleTime,
  type Headers,
  type PlainRequest,
  presign,
  type SigningOptions,
  signHeaders,
} from './signer.ts'

const credentials = openCredentials(exampleAccounts)
const host = ['Host', 's3.example.com'] as const
const plain: PlainRequest = { method: 'GET', path: '/bucket/key', query: { prefix: 'a b' }, headers: [host] }

const signed = (changes: Partial<PlainRequest> = {}, options: Partial<SigningOptions> = {}): SignedRequest =>
  signHeaders({ ...plain, ...changes }, emptySha256, options).request
const withHeaders = (...headers: Headers): SignedRequest => signed({ headers: [host, ...headers] })
const changed = (request: SignedRequest, name: string, value: string | undefined): SignedRequest =>
  withHeader(request, name, () => value)

function errorOf(request: SignedRequest, time = exampleTime) {
  const error = refusal(() => verify(request, credentials, time))
  expect(error.code).toBe('SignatureDoesNotMatch')
  return error
}

describe('a signature that does not match', () => {
  it.each<[string, SignedRequest, string | RegExp]>([
    [
      'another host',
      changed(withAdded(signed(), ['X-Forwarded-Host', 's3.example.com']), 'host', '10.0.0.1'),
      'signed for the host s3.example.com, and arrived with the host 10.0.0.1',
    ],
    [
      'another host, in Forwarded',
      changed(withAdded(signed(), ['Forwarded', 'for=1.2.3.4;host="s3.example.com"']), 'host', 'x'),
      'signed for the host s3.example.com,',
    ],
    ['a port that was added', changed(signed(), 'host', 's3.example.com:9000'), 'signed for the host s3.example.com,'],
    [
      'a port that was removed',
      changed(signed({ headers: [['Host', 's3.example.com:9000']] }), 'host', 's3.example.com'),
      'signed for the host s3.example.com:9000',
    ],
    [
      'a bucket that moved into the path',
      {
        ...changed(signed({ path: '/key', headers: [['Host', 'bucket.s3.example.com']] }), 'host', 's3.example.com'),
        rawPath: '/bucket/key',
      },
      'with the bucket in the host',
    ],
    ['HEAD as GET', { ...signed({ method: 'HEAD' }), method: 'GET' }, 'proxy_cache_convert_head off'],
    [
      'a removed prefix',
      { ...withAdded(signed({ path: '/s3/bucket/key' }), ['X-Forwarded-Prefix', '/s3/']), rawPath: '/bucket/key' },
      'a proxy removed /s3/ from its path',
    ],
    [
      'a removed slash',
      { ...signed({ path: '/bucket/folder/' }), rawPath: '/bucket/folder' },
      'removed the slash at the end',
    ],
    ['an added slash', { ...signed({ path: '/bucket' }), rawPath: '/bucket/' }, 'added a slash to the end'],
    [
      'a path that was encoded once more',
      { ...signed({ path: '/bucket/a b' }), rawPath: '/bucket/a%2520b' },
      'encoded its path once more',
    ],
    [
      'a client that encodes twice',
      { ...signed({ path: '/bucket/a%20b' }), rawPath: '/bucket/a%20b' },
      'encoded twice before it was signed',
    ],
    [
      'a plus that became a space',
      { ...signed({ path: '/bucket/a+b' }), rawPath: '/bucket/a%20b' },
      'turned a plus in its path into a space',
    ],
    [
      'a parameter that was added',
      { ...signed(), rawQuery: `${signed().rawQuery}&utm=1` },
      'without the query parameter utm',
    ],
    ['a query that was added', { ...signed({ query: {} }), rawQuery: 'a=1&b=2' }, 'without its query'],
    [
      'a changed Accept-Encoding',
      changed(withHeaders(['Accept-Encoding', 'identity']), 'accept-encoding', 'gzip, br'),
      "changed the signed header accept-encoding from 'identity'",
    ],
    [
      'a removed Accept-Encoding',
      changed(withHeaders(['Accept-Encoding', 'gzip']), 'accept-encoding', undefined),
      'removed the signed header accept-encoding',
    ],
    [
      'a removed header of unknown value',
      changed(withHeaders(['X-Trace', '17']), 'x-trace', undefined),
      'the signed header x-trace was removed on the way',
    ],
    [
      'a charset that was added',
      changed(withHeaders(['Content-Type', 'text/plain']), 'content-type', 'text/plain; charset=utf-8'),
      "content-type from 'text/plain'",
    ],
    [
      'another payload',
      presign({ ...plain, headers: [host, ['x-amz-content-sha256', emptySha256]] }).request,
      'signed with UNSIGNED-PAYLOAD for its body',
    ],
    [
      'another secret',
      signed(
        {},
        {
          key: {
            ...exampleAccounts[0]?.keys[0],
            accessKeyId: exampleAccounts[0]?.keys[0]?.accessKeyId ?? '',
            secretAccessKey: 'another',
          },
        },
      ),
      'the secret key is another one, or',
    ],
  ])('because of %s', (_, request, says) => {
    const error = errorOf(request)
    expect(error.findReason?.()).toMatch(says)
  })

  it('because curl signs a path as it is written', () => {
    const rawHeaders = [
      ...['Host', 's3.example.com'],
      'Authorization',
      'AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20261126/us-east-1/s3/aws4_request, SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature=9139c362eab67831550a26ab44997f15f31527a9bda4a2a7be2479faa5cc9ff9',
      ...['X-Amz-Date', '20261126T214551Z'],
      ...['x-amz-content-sha256', emptySha256],
      ...['User-Agent', 'curl/8.23.0'],
      ...['Accept', '*/*'],
    ]
    const names = rawHeaders.flatMap((name, i) => (i % 2 === 0 ? [name.toLowerCase()] : []))
    const sent = { method: 'GET', rawPath: '/bucket/year=2026/12:00.log', rawQuery: '', rawHeaders, names }
    const error = errorOf({ ...sent, prefix: 'x-amz-' }, Date.UTC(2026, 10, 26, 21, 45, 51))
    expect(error.findReason?.()).toMatch('its path was signed as it is written, as curl does')
  })

  it.each<[string, { query?: number; headers?: number }]>([
    ['parameters', { query: 5000 }],
    ['headers', { headers: 500 }],
    ['changes to try', { headers: 60 }],
  ])('is not looked into for long where it has many %s', (_, { query = 0, headers = 0 }) => {
    const names = ['host', ...Array.from({ length: headers }, (_, i) => `x-h${i}`)]
    const parts: CanonicalParts = {
      method: 'GET',
      rawPath: '/bucket/key',
      query: Array.from({ length: query }, (_, i) => ({ name: `p${i}`, lowerName: `p${i}`, value: '' })),
      headers: indexHeaders(
        names.flatMap((name) => [name, 'A, b;c']),
        names,
      ),
      signedHeaders: names,
      payloadHash: emptySha256,
    }
    let tries = 0
    diagnosis(parts, '', () => {
      tries++
      return false
    })
    expect(tries).toBeLessThanOrEqual(100)
  })

  it('is explained to nobody but the operator', () => {
    const error = errorOf(changed(withAdded(signed(), ['X-Forwarded-Host', 's3.example.com']), 'host', '10.0.0.1'))
    const sent = JSON.stringify([error.message, error.details, error.headers, error.vendorHeaders])
    expect(sent).not.toContain('was signed for')
  })

  it('keeps keys that clients send out of the log', () => {
    const name = 'x-amz-server-side-encryption-customer-key'
    const error = errorOf(changed(withHeaders([name, 'secretinlowercase=']), name, 'SECRETINLOWERCASE='))
    expect(error.findReason?.().toLowerCase()).not.toContain('secretinlowercase')
  })
})
