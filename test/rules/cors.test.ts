import { describe, expect, it } from 'vitest'
import { S3Error } from '../../src/errors.ts'
import type { CorsRule } from '../../src/records/bucket-record.ts'
import { checkCorsRules, corsHeaders } from '../../src/rules/cors.ts'

const rule = (more: Partial<CorsRule> = {}): CorsRule => ({
  allowedOrigins: ['https://app.test'],
  allowedMethods: ['GET'],
  allowedHeaders: [],
  exposeHeaders: [],
  ...more,
})
const request = { origin: 'https://app.test', method: 'GET', headers: '' }

/** What is answered, by name. */
function answered(rules: readonly CorsRule[], more: Partial<typeof request> = {}): Record<string, string> | undefined {
  const headers = corsHeaders(rules, { ...request, ...more })
  if (headers === undefined) return undefined
  const pairs = headers.flatMap((name, i) => (i % 2 === 0 ? [[name, headers[i + 1] ?? '']] : []))
  return Object.fromEntries(pairs)
}
const allows = (rules: readonly CorsRule[], more: Partial<typeof request> = {}): boolean =>
  answered(rules, more) !== undefined

const vary = 'Origin, Access-Control-Request-Headers, Access-Control-Request-Method'

describe('the answer to a page', () => {
  it('names its origin and the methods, and lets credentials be sent', () => {
    expect(answered([rule({ allowedMethods: ['GET', 'PUT'] })])).toEqual({
      'Access-Control-Allow-Origin': 'https://app.test',
      'Access-Control-Allow-Methods': 'GET, PUT',
      'Access-Control-Allow-Credentials': 'true',
      Vary: vary,
    })
  })

  it('names no origin where all are allowed, and lets no credentials be sent', () => {
    expect(answered([rule({ allowedOrigins: ['*'] })])).toEqual({
      'Access-Control-Allow-Origin': '*',
      'Access-Control-Allow-Methods': 'GET',
      Vary: vary,
    })
  })

  it('names the headers that are asked for, in lower case, and says how long it holds and what may be read', () => {
    const told = answered(
      [rule({ allowedHeaders: ['X-AMZ-*', 'content-type'], exposeHeaders: ['ETag', 'x-amz-id-2'], maxAgeSeconds: 0 })],
      { headers: 'x-amz-Date,Content-Type, ,x-amz-acl' },
    )
    expect(told).toMatchObject({
      'Access-Control-Allow-Headers': 'x-amz-date, content-type, x-amz-acl',
      'Access-Control-Expose-Headers': 'ETag, x-amz-id-2',
      'Access-Control-Max-Age': '0',
    })
  })

  it('is that of the first rule that matches, as a whole', () => {
    const rules = [
      rule({ allowedOrigins: ['https://other.test'], maxAgeSeconds: 1 }),
      rule({ allowedMethods: ['PUT'], maxAgeSeconds: 2 }),
      rule({ allowedMethods: ['GET', 'HEAD'], maxAgeSeconds: 3 }),
      rule({ allowedMethods: ['GET', 'DELETE'], maxAgeSeconds: 4 }),
    ]
    expect(answered(rules)).toMatchObject({ 'Access-Control-Max-Age': '3' })
    expect(answered(rules, { method: 'DELETE' })).toMatchObject({ 'Access-Control-Max-Age': '4' })
  })

  it('names the origin where it stands before the wildcard, and not behind it', () => {
    const origin = (...allowedOrigins: string[]): string | undefined =>
      answered([rule({ allowedOrigins })])?.['Access-Control-Allow-Origin']
    expect(origin('https://app.test', '*')).toBe('https://app.test')
    expect(origin('*', 'https://app.test')).toBe('*')
  })
})

describe('an origin', () => {
  it.each([
    ['*', 'https://app.test', true],
    ['*', 'null', true],
    ['https://app.test', 'https://app.test', true],
    ['https://app.test', 'http://app.test', false],
    ['https://app.test', 'https://app.test:443', false],
    ['https://app.test', 'https://app.test/', false],
    ['https://app.test', 'https://APP.test', false],
    ['https://app.test', 'https://app.test.evil', false],
    ['https://*.app.test', 'https://a.app.test', true],
    ['https://*.app.test', 'https://a.b.app.test', true],
    ['https://*.app.test', 'https://app.test', false],
    ['https://*.app.test', 'https://a.app.test.evil', false],
    ['http://localhost:*', 'http://localhost:4200', true],
    ['http://localhost:*', 'http://localhost', false],
    ['start*end', 'startend', true],
    ['start*end', 'start12end', true],
    ['start*end', '0start12end', false],
    ['ab*ba', 'aba', false],
    ['', '', true],
    ['', 'https://app.test', false],
  ])('allowed as %j: %j is %s', (pattern, origin, allowed) => {
    expect(allows([rule({ allowedOrigins: [pattern] })], { origin })).toBe(allowed)
  })
})

describe('a request with headers', () => {
  it.each([
    [[], 'x-one', false],
    [['*'], 'x-one,x-two', true],
    [['x-one'], 'X-ONE', true],
    [['x-one'], 'x-one,x-two', false],
    [['x-one', 'x-t*'], 'x-one, x-two', true],
    [['x-one'], '', true],
    [['x-one'], ' , ', true],
    [['*'], 'x one', false],
    [['*'], 'x-one\tx-two', false],
    [['*'], Array.from({ length: 256 }, (_, i) => `x-${i}`).join(), true],
    [['*'], Array.from({ length: 257 }, (_, i) => `x-${i}`).join(), false],
  ])('where %j are allowed: %j is %s', (allowedHeaders, headers, allowed) => {
    expect(allows([rule({ allowedHeaders })], { headers })).toBe(allowed)
  })
})

function refusal(rules: readonly CorsRule[]): string | undefined {
  try {
    checkCorsRules(rules)
    return undefined
  } catch (error) {
    if (!(error instanceof S3Error)) throw error
    return error.code === 'InvalidRequest' ? error.message : error.code
  }
}
const unsupported = (method: string): string =>
  `Found unsupported HTTP method in CORS config. Unsupported method is ${method}`

describe('a configuration', () => {
  it.each<[string, readonly CorsRule[], string | undefined]>([
    [
      'with all that a rule can say',
      [rule({ id: 'x'.repeat(255), allowedHeaders: ['x-*'], exposeHeaders: ['ETag'] })],
      undefined,
    ],
    ['of 100 rules', Array.from({ length: 100 }, () => rule()), undefined],
    ['of an empty origin', [rule({ allowedOrigins: [''] })], undefined],
    ['that holds for the longest time', [rule({ maxAgeSeconds: 2_147_483_647 })], undefined],
    ['that holds for a negative time, which S3 takes', [rule({ maxAgeSeconds: -2_147_483_648 })], undefined],
    ['of no rule', [], 'MalformedXML'],
    [
      'of 101 rules',
      Array.from({ length: 101 }, () => rule()),
      'The number of CORS rules should not exceed allowed limit of 100 rules.',
    ],
    ['without an origin', [rule({ allowedOrigins: [] })], 'MalformedXML'],
    ['without a method', [rule(), rule({ allowedMethods: [] })], 'MalformedXML'],
    [
      'that lacks something behind a rule that is wrong',
      [rule({ allowedMethods: ['X'] }), rule({ allowedOrigins: [] })],
      'MalformedXML',
    ],
    ['that holds for less than 32 bits can say', [rule({ maxAgeSeconds: -2_147_483_649 })], 'MalformedXML'],
    ['that holds for too long', [rule({ maxAgeSeconds: 2_147_483_648 })], 'MalformedXML'],
    ['of OPTIONS', [rule({ allowedMethods: ['GET', 'OPTIONS'] })], unsupported('OPTIONS')],
    ['of all methods', [rule({ allowedMethods: ['*'] })], unsupported('*')],
    ['of a method in lower case', [rule({ allowedMethods: ['get'] })], unsupported('get')],
    ['of an empty method', [rule({ allowedMethods: [''] })], unsupported('')],
    [
      'of an origin with two wildcards',
      [rule({ allowedOrigins: ['*a*'] })],
      'AllowedOrigin "*a*" can not have more than one wildcard.',
    ],
    [
      'of a header with two wildcards',
      [rule({ allowedHeaders: ['**'] })],
      'AllowedHeader "**" can not have more than one wildcard.',
    ],
    [
      'of a header that is none',
      [rule({ allowedHeaders: ['x y'] })],
      'AllowedHeader "x y" contains invalid character.',
    ],
    [
      'that exposes all headers',
      [rule({ exposeHeaders: ['*'] })],
      'ExposeHeader "*" contains wildcard. We currently do not support wildcard for ExposeHeader.',
    ],
    [
      'that exposes what is no header',
      [rule({ exposeHeaders: ['x\r\ny'] })],
      'ExposeHeader "x\r\ny" contains invalid character.',
    ],
    ['of a long ID', [rule({ id: 'x'.repeat(256) })], 'ID length should not exceed allowed limit of 255'],
    [
      'of an ID twice',
      [rule({ id: 'a' }), rule(), rule({ id: 'a' })],
      'Rule ID must be unique. Found same ID for more than one rule',
    ],
  ])('%s', (_, rules, expected) => {
    expect(refusal(rules)).toBe(expected)
  })
})
