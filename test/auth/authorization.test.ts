/** What a request says of its own signature: no way to say it, several at once, or not in the form that S3 reads. */
import { describe, expect, it } from 'vitest'
import { openCredentials } from '../../src/auth/credentials.ts'
import { type SignedRequest, verify } from '../../src/auth/verify.ts'
import { withAdded, withHeader } from './altered-request.ts'
import { refusal } from './refusal.ts'
import { emptySha256, exampleAccounts, exampleTime, type PlainRequest, presign, signHeaders } from './signer.ts'

const credentials = openCredentials(exampleAccounts)
const host = ['Host', 's3.localhost:9000'] as const
const plain: PlainRequest = { method: 'GET', path: '/bucket/key', query: {}, headers: [host] }
const signed = () => signHeaders(plain, emptySha256).request
const accept = (request: SignedRequest) => verify(request, credentials, exampleTime)

const withAuthorization = (change: (value: string) => string | undefined): SignedRequest =>
  withHeader(signed(), 'authorization', change)

describe('a request without a usable signature', () => {
  const anonymous: SignedRequest = { ...signed(), rawHeaders: host, names: ['host'] }
  const version2 = 'AWS AKIAIOSFODNN7EXAMPLE:frJIUN8DYpKDtOLCwo//yllqDzg='

  it.each<[string, string, string, SignedRequest]>([
    ['nothing at all', 'AccessDenied', 'Access Denied', anonymous],
    [
      'version 2 in the header',
      'InvalidRequest',
      'The authorization mechanism you have provided is not supported. Please use AWS4-HMAC-SHA256. This server would take it with the setting sigv2 = all.',
      withAdded(anonymous, ['Authorization', version2]),
    ],
    [
      'version 2 in the query',
      'InvalidRequest',
      'The authorization mechanism you have provided is not supported. Please use AWS4-HMAC-SHA256. This server would take it with the setting sigv2 = presigned or sigv2 = all.',
      {
        ...anonymous,
        rawQuery: 'AWSAccessKeyId=AKIAIOSFODNN7EXAMPLE&Expires=1141889120&Signature=vjbyPxybdZaNmGa%2ByT272YEAiv4%3D',
      },
    ],
    [
      'Basic',
      'InvalidArgument',
      'Unsupported Authorization Type',
      withAdded(anonymous, ['Authorization', 'Basic YTpi']),
    ],
    [
      'Bearer',
      'InvalidArgument',
      'Unsupported Authorization Type',
      withAdded(anonymous, ['Authorization', 'Bearer x']),
    ],
    [
      'an empty header',
      'InvalidArgument',
      'Unsupported Authorization Type',
      withAdded(anonymous, ['Authorization', '']),
    ],
  ])('%s', (_, code, message, request) => {
    const error = refusal(() => accept(request))
    expect([error.code, error.message]).toEqual([code, message])
  })

  it('refuses version 4 by ECDSA by name', () => {
    const error = refusal(() => accept(withAuthorization((value) => value.replace('HMAC-SHA256', 'ECDSA-P256-SHA256'))))
    expect([error.code, error.details.NotImplemented]).toEqual(['NotImplemented', 'AWS4-ECDSA-P256-SHA256'])
  })
})

describe('a request that is signed twice', () => {
  const { rawQuery } = presign(plain).request
  const otherDialect = presign(plain, {}, { prefix: 'x-store-' }).request.rawQuery
  it.each<[string, SignedRequest]>([
    ['header and query', { ...signed(), rawQuery }],
    ['header and version 2 in the query', { ...signed(), rawQuery: 'AWSAccessKeyId=a&Signature=b&Expires=1' }],
    ['query in both dialects', { ...presign(plain).request, rawQuery: `${rawQuery}&${otherDialect}` }],
    ['query in versions 2 and 4', { ...presign(plain).request, rawQuery: `${rawQuery}&AWSAccessKeyId=a&Signature=b` }],
    ['two Authorization headers', withAdded(signed(), ['Authorization', signed().rawHeaders.at(-1) ?? ''])],
  ])('%s', (_, request) => {
    const error = refusal(() => accept(request))
    expect([error.code, error.details.ArgumentName]).toEqual(['InvalidArgument', 'Authorization'])
  })
})

describe('a malformed Authorization header', () => {
  const scope = 'AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request'
  const withScope = (changed: string) => withAuthorization((value) => value.replace(scope, changed))
  it.each<[string, SignedRequest]>([
    ['no components', withAuthorization(() => 'AWS4-HMAC-SHA256')],
    ['no Credential', withAuthorization((value) => value.replace(/Credential=[^,]*, /, ''))],
    ['no SignedHeaders', withAuthorization((value) => value.replace(/SignedHeaders=[^,]*, /, ''))],
    ['no Signature', withAuthorization((value) => value.replace(/, Signature=.*/, ''))],
    ['a component twice', withAuthorization((value) => `${value}, Signature=00`)],
    ['an unknown component', withAuthorization((value) => `${value}, Extra=1`)],
    ['a component without value', withAuthorization((value) => `${value}, Extra`)],
    ['a component in lower case', withAuthorization((value) => value.replace('Credential', 'credential'))],
    ['an empty part', withAuthorization((value) => `${value},`)],
    // Its value would be hashed once for each: 30 KB of a head would become a text of 100 MB.
    ['a header signed twice', withAuthorization((value) => value.replace('=host;', '=host;host;'))],
    ['an empty Credential', withScope('')],
    ['a Credential without scope', withScope('AKIAIOSFODNN7EXAMPLE')],
    ['a Credential with too few parts', withScope('20130524/us-east-1/s3/aws4_request')],
    ['a Credential that starts with a slash', withScope('/20130524/us-east-1/s3/aws4_request')],
    ['a Credential of only slashes', withScope('////')],
    ['a Credential with one part more', withScope(`${scope}/x`)],
    ['an over-long Credential', withScope(`${'A'.repeat(300)}/20130524/us-east-1/s3/aws4_request`)],
    ['a scope without region', withScope('AKIAIOSFODNN7EXAMPLE/20130524//s3/aws4_request')],
    ['a region with a space', withScope('AKIAIOSFODNN7EXAMPLE/20130524/us east/s3/aws4_request')],
    ['another service', withScope('AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/ec2/aws4_request')],
    ['another terminator', withScope('AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws5_request')],
    ['a date that is none', withScope('AKIAIOSFODNN7EXAMPLE/2013-05-24/us-east-1/s3/aws4_request')],
    ['a date that is not the request’s', withScope('AKIAIOSFODNN7EXAMPLE/20130525/us-east-1/s3/aws4_request')],
  ])('%s is AuthorizationHeaderMalformed', (_, request) => {
    const error = refusal(() => accept(request))
    expect([error.code, error.status]).toEqual(['AuthorizationHeaderMalformed', 400])
  })

  it('may leave out the spaces after commas, or have more', () => {
    expect(accept(withAuthorization((value) => value.replaceAll(', ', ','))).presigned).toBe(false)
    expect(accept(withAuthorization((value) => value.replaceAll(', ', ' ,  '))).presigned).toBe(false)
  })
})
