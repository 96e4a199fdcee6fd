import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { echoOperations } from './echo-operations.ts'
import { type Fixture, startFixture } from './fixture.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await startFixture(echoOperations, { bounds: { headerSectionBytesMax: 8192 } })
})
afterAll(() => fixture.close())

const chunked = '0\r\n\r\n'
const follower = 'GET /follower/k HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'

/** Each is a way in which two parsers in a row disagreed somewhere; after none of them may a second request be served. */
const ambiguous: [what: string, head: string, code: string][] = [
  ['two Host headers', 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n', 'BadRequest'],
  ['two equal Host headers', 'GET / HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n', 'BadRequest'],
  ['no Host header', 'GET / HTTP/1.1\r\n\r\n', 'BadRequest'],
  [
    'length and chunking',
    `PUT /b/k HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n${chunked}`,
    'BadRequest',
  ],
  [
    'chunking and length',
    `PUT /b/k HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n${chunked}`,
    'BadRequest',
  ],
  ['two lengths', 'PUT /b/k HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab', 'BadRequest'],
  [
    'two equal lengths',
    'PUT /b/k HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na',
    'BadRequest',
  ],
  ['a list of lengths', 'PUT /b/k HTTP/1.1\r\nHost: a\r\nContent-Length: 1, 1\r\n\r\na', 'BadRequest'],
  ['a signed length', 'PUT /b/k HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\na', 'BadRequest'],
  ['a negative length', 'PUT /b/k HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\na', 'BadRequest'],
  ['a hexadecimal length', 'PUT /b/k HTTP/1.1\r\nHost: a\r\nContent-Length: 0x1\r\n\r\na', 'BadRequest'],
  [
    'identity before chunked',
    `PUT /b/k HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity, chunked\r\n\r\n${chunked}`,
    'BadRequest',
  ],
  [
    'chunked twice',
    `PUT /b/k HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, chunked\r\n\r\n${chunked}`,
    'BadRequest',
  ],
  [
    'two Transfer-Encodings',
    `PUT /b/k HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n${chunked}`,
    'BadRequest',
  ],
  ['another Transfer-Encoding', 'PUT /b/k HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n', 'BadRequest'],
  [
    'a misspelled chunked',
    `PUT /b/k HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n${chunked}`,
    'BadRequest',
  ],
  ['a space before the colon', 'GET / HTTP/1.1\r\nHost : a\r\n\r\n', 'BadRequest'],
  ['a folded header', 'GET / HTTP/1.1\r\nHost: a\r\nX: b\r\n c\r\n\r\n', 'BadRequest'],
  ['a bare line feed', 'GET / HTTP/1.1\nHost: a\n\n', 'BadRequest'],
  ['a NUL in a header', 'GET / HTTP/1.1\r\nHost: a\r\nX: \0\r\n\r\n', 'BadRequest'],
  ['raw bytes in the path', 'GET /\xc3\xbc HTTP/1.1\r\nHost: a\r\n\r\n', 'BadRequest'],
  ['a space in the path', 'GET /a b HTTP/1.1\r\nHost: a\r\n\r\n', 'BadRequest'],
  ['an unknown method', 'BREW / HTTP/1.1\r\nHost: a\r\n\r\n', 'BadRequest'],
  ['an unknown protocol', 'GET / SPDY/3\r\nHost: a\r\n\r\n', 'BadRequest'],
  ['a target without slash', 'GET * HTTP/1.1\r\nHost: a\r\n\r\n', 'InvalidURI'],
  ['a TLS hello', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 'BadRequest'],
  [
    'a header section that is too long',
    `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(9000)}\r\n\r\n`,
    'RequestHeaderSectionTooLarge',
  ],
  ['a tunnel', 'CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n', 'MethodNotAllowed'],
]

describe('framing that two parsers could read differently is refused, and ends the connection', () => {
  it.each(ambiguous)('%s', async (_what, head, code) => {
    const before = fixture.logs.length
    const answer = await fixture.raw(head + follower)
    const answers = [...answer.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status))
    expect(answers).toHaveLength(1)
    expect(answers[0]).toBeLessThan(500)
    expect(answer).toContain(`<Code>${code}</Code>`)
    expect(answer).toContain('Connection: close')
    expect(fixture.logs.slice(before).filter(({ path }) => path.startsWith('/follower'))).toEqual([])
  })
})

it('many headers are all seen: none escapes the check that it is signed', async () => {
  const filler = Array.from({ length: 700 }, (_, i) => `a${i}: b\r\n`).join('')
  const { headers } = await fixture.send({ path: '/b/k' })
  expect(headers['x-amz-request-id']).toBeDefined()
  const answer = await fixture.raw(
    `GET / HTTP/1.1\r\nHost: a\r\n${filler}x-amz-acl: private\r\nConnection: close\r\n\r\n`,
  )
  expect(answer).toContain('x-amz-request-id')
})

it('HTTP/1.0 without a Host is served', async () => {
  expect(await fixture.raw('GET / HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1.1 403 .*<Code>AccessDenied<\/Code>/s)
})

it('an unsigned request is denied, whatever it asks for', async () => {
  for (const target of ['/', '/b', '/b/k', '/b/k?acl', '/%', '/b/k?unknown', `/${'x'.repeat(2000)}`]) {
    for (const method of ['GET', 'PUT', 'DELETE', 'PATCH']) {
      const answer = await fixture.raw(`${method} ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)
      expect(answer, `${method} ${target}`).toMatch(/^HTTP\/1.1 403 .*<Code>AccessDenied<\/Code>/s)
    }
  }
})
