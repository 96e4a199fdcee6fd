/** Of any signed request, whatever is changed on its way: it is refused, unless it still means the same. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openCredentials } from '../../src/auth/credentials.ts'
import { type SignedRequest, verify } from '../../src/auth/verify.ts'
import { S3Error } from '../../src/errors.ts'
import { emptySha256, exampleAccounts, exampleTime, type PlainRequest, presign, signHeaders } from './signer.ts'

const credentials = openCredentials(exampleAccounts)

const name = fc.string({ unit: 'grapheme', maxLength: 12 })
const token = fc.stringMatching(/^[a-z][a-z0-9-]{0,8}$/)
const headerValue = fc.stringMatching(/^[!-~]([ -~]{0,10}[!-~])?$/).map((value) => value.replace(/ +/g, ' '))

const plainRequest: fc.Arbitrary<PlainRequest> = fc.record({
  method: fc.constantFrom('GET', 'PUT', 'DELETE', 'HEAD', 'POST'),
  path: fc.array(name, { maxLength: 5 }).map((segments) => `/${segments.join('/')}`),
  query: fc.dictionary(token, name, { maxKeys: 4 }),
  headers: fc
    .uniqueArray(fc.tuple(token, headerValue), { maxLength: 4, selector: ([key]) => key })
    .map((pairs) => [['host', 'h'] as const, ...pairs.map(([key, value]) => [`x-amz-meta-${key}`, value] as const)]),
})

const signedRequest: fc.Arbitrary<SignedRequest> = fc.oneof(
  plainRequest.map((plain) => signHeaders(plain, emptySha256).request),
  plainRequest.map((plain) => presign(plain).request),
)

function accepted(request: SignedRequest): boolean {
  try {
    verify(request, credentials, exampleTime)
    return true
  } catch (error) {
    if (error instanceof S3Error && error.status < 500) return false
    throw error
  }
}

const unescaped = (text: string): string =>
  text.replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))

/** What a server makes of a request, as plain text. Two requests with one meaning may share a signature. */
function meaning({ method, rawPath, rawQuery, rawHeaders, names }: SignedRequest): unknown {
  const parameters = rawQuery
    .replaceAll('+', ' ')
    .split('&')
    .filter((part) => part !== '')
    .map((part) => [unescaped(part.split('=', 1)[0] ?? ''), unescaped(part.split('=').slice(1).join('='))].join('\0'))
  const headers = names.map((key, i) => `${key}\0${(rawHeaders[2 * i + 1] ?? '').trim().replace(/[ \t]+/g, ' ')}`)
  const authorization = headers.find((header) => header.startsWith('authorization\0')) ?? ''
  const components = authorization.slice('authorization\0AWS4-HMAC-SHA256 '.length).split(',')
  return {
    method,
    path: unescaped(rawPath) || '/',
    parameters: parameters.sort(),
    headers: headers.filter((header) => header !== authorization).sort(),
    authorization: components.map((component) => component.trim()).sort(),
  }
}

type Part = 'method' | 'rawPath' | 'rawQuery' | 'rawHeaders'

/** `request` with one character replaced, anywhere. */
function mutate(request: SignedRequest, part: Part, where: number, byte: number): SignedRequest {
  const replaceIn = (text: string, at: number) => text.slice(0, at) + String.fromCharCode(byte) + text.slice(at + 1)
  if (part !== 'rawHeaders')
    return { ...request, [part]: replaceIn(request[part], Math.floor(where * request[part].length)) }
  const rawHeaders = [...request.rawHeaders]
  let at = Math.floor(where * rawHeaders.join('').length)
  const index = rawHeaders.findIndex((text) => {
    if (at < text.length) return true
    at -= text.length
    return false
  })
  rawHeaders[index] = replaceIn(rawHeaders[index] ?? '', at)
  return { ...request, rawHeaders, names: rawHeaders.filter((_, i) => i % 2 === 0).map((key) => key.toLowerCase()) }
}

const where = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
const part = fc.constantFrom<Part>('method', 'rawPath', 'rawQuery', 'rawHeaders')

describe('a signed request', () => {
  it('is accepted as it was signed', () => {
    fc.assert(fc.property(signedRequest, accepted), { numRuns: 500 })
  })

  it('with any one byte replaced is refused, or means the same', () => {
    fc.assert(
      fc.property(signedRequest, part, where, fc.nat(255), (request, changedPart, at, byte) => {
        const mutated = mutate(request, changedPart, at, byte)
        if (accepted(mutated)) expect(meaning(mutated)).toEqual(meaning(request))
      }),
      { numRuns: 4000 },
    )
  })

  it('with any one bit of its signature flipped is refused', () => {
    fc.assert(
      fc.property(plainRequest, fc.nat(63), fc.nat(7), (plain, digit, bit) => {
        const { request, signature } = signHeaders(plain, emptySha256)
        const flipped = String.fromCharCode(signature.charCodeAt(digit) ^ (1 << bit))
        const forged = signature.slice(0, digit) + flipped + signature.slice(digit + 1)
        const rawHeaders = request.rawHeaders.map((text) => text.replace(signature, forged))
        expect(accepted({ ...request, rawHeaders })).toBe(false)
      }),
      { numRuns: 1000 },
    )
  })

  it('with a parameter or a vendor header added is refused', () => {
    fc.assert(
      fc.property(signedRequest, token, headerValue, (request, key, value) => {
        const rawQuery = `${request.rawQuery}&${key}=${encodeURIComponent(value)}`
        expect(accepted({ ...request, rawQuery })).toBe(false)
        const header = `x-store-${key}`
        const rawHeaders = [...request.rawHeaders, header, value]
        expect(accepted({ ...request, rawHeaders, names: [...request.names, header] })).toBe(false)
      }),
      { numRuns: 1000 },
    )
  })
})

describe('garbage', () => {
  const piece = fc.constantFrom(
    ...['AWS4-HMAC-SHA256', ' ', ',', ';', '/', '=', '%', 'Credential', 'SignedHeaders', 'Signature', 'host'],
    ...['20130524', 's3', 'aws4_request', 'us-east-1', 'AKIAIOSFODNN7EXAMPLE', '0'.repeat(64), '\u0000', 'ÿ'],
  )
  const soup = fc.array(piece, { maxLength: 25 }).map((pieces) => pieces.join(''))

  it('in the Authorization header is a client’s error', () => {
    fc.assert(
      fc.property(soup, fc.boolean(), (text, prefixed) => {
        const { request } = signHeaders({ method: 'GET', path: '/', query: {}, headers: [['host', 'h']] }, emptySha256)
        const rawHeaders = [...request.rawHeaders.slice(0, -1), prefixed ? `AWS4-HMAC-SHA256 ${text}` : text]
        expect(accepted({ ...request, rawHeaders })).toBe(false)
      }),
      { numRuns: 1500 },
    )
  })

  it('in the query is a client’s error', () => {
    const names = [
      'X-Amz-Algorithm',
      'X-Amz-Credential',
      'X-Amz-Signature',
      'X-Amz-Date',
      'X-Amz-SignedHeaders',
      'X-Amz-Expires',
    ]
    const pair = fc.tuple(fc.constantFrom(...names), soup).map(([key, value]) => `${key}=${value}`)
    fc.assert(
      fc.property(fc.array(pair, { maxLength: 8 }), (pairs) => {
        const rawQuery = pairs.join('&')
        expect(
          accepted({
            method: 'GET',
            rawPath: '/',
            rawQuery,
            rawHeaders: ['host', 'h'],
            names: ['host'],
            prefix: 'x-amz-',
          }),
        ).toBe(false)
      }),
      { numRuns: 1500 },
    )
  })
})
