/** What an Authorization header says before its signature is parsed once: remembering it lets nothing in that would not get in without. */
import { describe, expect, it } from 'vitest'
import { openCredentials } from '../../src/auth/credentials.ts'
import { type SignedRequest, verify } from '../../src/auth/verify.ts'
import { limits } from '../../src/limits.ts'
import { withHeader } from './altered-request.ts'
import { codeOf } from './refusal.ts'
import { emptySha256, exampleAccounts, exampleTime, signHeaders } from './signer.ts'

const credentials = openCredentials(exampleAccounts)
const signed = (path: string): SignedRequest =>
  signHeaders({ method: 'GET', path, query: {}, headers: [['Host', 's3.localhost:9000']] }, emptySha256, {}).request
const accept = (request: SignedRequest) => verify(request, credentials, exampleTime).principal.accountId
const codeFor = (request: SignedRequest) => codeOf(() => accept(request))
const authorizationOf = ({ rawHeaders, names }: SignedRequest): string =>
  rawHeaders[2 * names.indexOf('authorization') + 1] ?? ''
const withAuthorization = (request: SignedRequest, value: string) => withHeader(request, 'authorization', () => value)

const first = signed('/bucket/first')
const claim = authorizationOf(first).slice(0, -64)

describe('behind a claim that is known', () => {
  it('each request needs a signature of its own', () => {
    expect(accept(first)).toBe('main')
    const second = signed('/bucket/second')
    expect(authorizationOf(second).startsWith(claim)).toBe(true)
    expect(accept(second)).toBe('main')
    expect(codeFor(withAuthorization(second, authorizationOf(first)))).toBe('SignatureDoesNotMatch')
    expect(codeFor(withAuthorization(second, claim + '0'.repeat(64)))).toBe('SignatureDoesNotMatch')
  })

  it('the date of the request must still be that of the scope', () => {
    accept(first)
    const nextDay = withHeader(first, 'x-amz-date', (date) => date.replace(/^\d{8}/, '20130525'))
    expect(codeFor(nextDay)).toBe('AuthorizationHeaderMalformed')
  })

  it('what is said to be signed must still be there', () => {
    accept(first)
    expect(codeFor(withHeader(first, 'x-amz-content-sha256', () => undefined))).toBe('InvalidRequest')
  })
})

describe('a claim', () => {
  it('may follow the signature', () => {
    const parts = authorizationOf(first)
      .replace(/^AWS4-HMAC-SHA256 /, '')
      .split(', ')
    const turned = `AWS4-HMAC-SHA256 ${[...parts.slice(2), ...parts.slice(0, 2)].join(', ')}`
    for (let i = 0; i < 2; i++) expect(accept(withAuthorization(first, turned))).toBe('main')
  })

  it('is not that of a header whose signature lies elsewhere, though its end looks like one', () => {
    const [, , signature = ''] = authorizationOf(first).split(', ')
    const key = 'K'.repeat(64 - '/20130524/us-east-1/s3/aws4_request'.length)
    const scope = `Signature=${key}/20130524/us-east-1/s3/aws4_request`
    const odd = `AWS4-HMAC-SHA256 SignedHeaders=host, ${signature}, Credential=${scope}`
    const other = `AWS4-HMAC-SHA256 SignedHeaders=host, ${signature}, Credential=Signature=${'0'.repeat(64)}`
    expect(codeFor(withAuthorization(first, odd))).not.toBe('')
    expect(codeFor(withAuthorization(first, other))).toBe('AuthorizationHeaderMalformed')
  })

  it('that is malformed is refused each time', () => {
    const malformed = authorizationOf(first).replace('/s3/', '/s4/')
    for (let i = 0; i < 2; i++) {
      expect(codeFor(withAuthorization(first, malformed))).toBe('AuthorizationHeaderMalformed')
    }
  })

  it('is good for ever so many others that came between', () => {
    const claims = authorizationOf(first)
    for (let i = 0; i <= limits.signingKeysMax; i++) {
      codeFor(withAuthorization(first, claims.replace('us-east-1', `region-${i}`)))
    }
    expect(accept(first)).toBe('main')
  })
})
