/** The canonical form of each part of a request, in rows. */
import { describe, expect, it } from 'vitest'
import {
  canonicalPath,
  canonicalQuery,
  canonicalRequest,
  indexHeaders,
  parseQuery,
} from '../../src/auth/canonical-request.ts'

it.each([
  ['', '/'],
  ['/', '/'],
  ['/b/k-._~', '/b/k-._~'],
  ['//b/./../k//', '//b/./../k//'],
  ['/a b', '/a%20b'],
  ['/a+b', '/a%2Bb'],
  ['/%e4%C3', '/%E4%C3'],
  ['/%41%2f%7E', '/A/~'],
  ['/%2541', '/%2541'],
  ["/!*'();:@&=$,[]", '/%21%2A%27%28%29%3B%3A%40%26%3D%24%2C%5B%5D'],
  ['/\u00e4', '/%E4'],
])('the path %s is %s', (raw, canonical) => {
  expect(canonicalPath(raw)).toBe(canonical)
})

it.each([
  ['', ''],
  ['uploads', 'uploads='],
  ['b=2&a=1', 'a=1&b=2'],
  ['a=2&a=1&a=', 'a=&a=1&a=2'],
  ['a-=1&a=2', 'a=2&a-=1'],
  ['B=1&a=2', 'B=1&a=2'],
  ['&&a=1&', 'a=1'],
  ['a=b=c', 'a=b%3Dc'],
  ['a=x+y%2B/%2f', 'a=x%20y%2B%2F%2F'],
  ['=v', '=v'],
  ['%61=%7e', 'a=~'],
])('the query %s is %s', (raw, canonical) => {
  expect(canonicalQuery(parseQuery(raw))).toBe(canonical)
})

describe('headers', () => {
  const headers = indexHeaders(
    ['Host', 'h', 'X-Amz-Meta-A', '  one \t two ', 'x-amz-meta-a', 'three', 'Range', ''],
    ['host', 'x-amz-meta-a', 'x-amz-meta-a', 'range'],
  )
  const canonical = (signedHeaders: string[]) =>
    canonicalRequest({ method: 'GET', rawPath: '/k', query: [], headers, signedHeaders, payloadHash: 'HASH' })

  it('stand in the order of SignedHeaders, trimmed and joined', () => {
    const expected = 'GET\n/k\n\nrange:\nhost:h\nx-amz-meta-a:one two ,three\n\nrange;host;x-amz-meta-a\nHASH'
    expect(canonical(['range', 'host', 'x-amz-meta-a'])).toBe(expected)
  })

  it('that are said to be signed but are not there leave no canonical form', () => {
    expect(canonical(['host', 'x-amz-acl'])).toBeUndefined()
    expect(canonical([''])).toBeUndefined()
  })

  it('are known by dialect and by repetition', () => {
    expect([headers.vendorNames, headers.repeated]).toEqual([['x-amz-meta-a'], ['x-amz-meta-a']])
  })
})
