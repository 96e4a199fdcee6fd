/** Requests that clients spell in their own ways, and that mean the same: signed in one spelling, sent in another. */
import { describe, expect, it } from 'vitest'
import { type Edit, signedThen } from '../support/wire-bad-input.ts'
import { plainStyle, wireServer, wireTo } from '../support/wire-fixture.ts'
import { sendRaw } from '../support/wire-raw.ts'

const server = wireServer()
wireTo(server, plainStyle, async (wire) => {
  await wire.must({ method: 'PUT' })
  for (const key of ['a', 'b c+ü', '~x']) await wire.must({ method: 'PUT', key, body: key })
})

const target =
  (change: (target: string) => string): Edit =>
  (signed) => ({ ...signed, target: change(signed.target) })
const names =
  (change: (name: string) => string): Edit =>
  (signed) => ({ ...signed, headers: signed.headers.map(([name, value]) => [change(name), value]) })
const values =
  (change: (value: string) => string): Edit =>
  (signed) => ({ ...signed, headers: signed.headers.map(([name, value]) => [name, change(value)]) })

const prefixed = (query: [string, string][], edit: Edit) => signedThen({ path: '/wire', query }, edit)
const read = (path: string, edit: Edit) => signedThen({ path }, edit)

describe.each(['x-amz-', 'x-store-'] as const)('%s', (prefix) => {
  it.each([
    [
      'a plus for a space in the query',
      prefixed(
        [['prefix', 'b c']],
        target((t) => t.replace('%20', '+')),
      ),
      '<Prefix>b c</Prefix>',
    ],
    [
      'escapes in small letters in the query',
      prefixed(
        [['prefix', 'ü']],
        target((t) => t.toLowerCase()),
      ),
      '<Prefix>ü</Prefix>',
    ],
    [
      'escapes that need not be in the query',
      prefixed(
        [['prefix', 'a']],
        target((t) => t.replace('=a', '=%61')),
      ),
      '<Key>a</Key>',
    ],
    [
      'parameters in another order',
      prefixed(
        [
          ['delimiter', '/'],
          ['prefix', 'a'],
        ],
        target((t) => t.replace(/\?(.*)&(.*)/, '?$2&$1')),
      ),
      '<Key>a</Key>',
    ],
    [
      'an empty parameter',
      prefixed(
        [['prefix', 'a']],
        target((t) => t.replace('?', '?&')),
      ),
      '<Key>a</Key>',
    ],
    [
      'a sub-resource without an equals sign',
      prefixed(
        [['location', '']],
        target((t) => t.replace('location=', 'location')),
      ),
      'LocationConstraint',
    ],
    [
      'a question mark and nothing',
      read(
        '/wire/a',
        target((t) => `${t}?`),
      ),
      'a',
    ],
    [
      'escapes in small letters in the path',
      read(
        '/wire/b%20c%2B%C3%BC',
        target((t) => t.toLowerCase()),
      ),
      'b c+ü',
    ],
    [
      'a plus that stays a plus in the path',
      read(
        '/wire/b%20c%2B%C3%BC',
        target((t) => t.replace('%2B', '+')),
      ),
      'b c+ü',
    ],
    [
      'an escape that need not be in the path',
      read(
        '/wire/~x',
        target((t) => t.replace('~', '%7E')),
      ),
      '~x',
    ],
    [
      'names of headers in capitals',
      read(
        '/wire/a',
        names((name) => name.toUpperCase()),
      ),
      'a',
    ],
    [
      'spaces around values of headers',
      read(
        '/wire/a',
        values((value) => `  ${value} `),
      ),
      'a',
    ],
    [
      'a list that is sent an item a line',
      signedThen({
        path: '/wire/a',
        query: [['attributes', '']],
        vendor: [
          ['object-attributes', 'ETag'],
          ['object-attributes', 'ObjectSize'],
        ],
      }),
      '</ETag><ObjectSize>1</ObjectSize>',
    ],
    ['a bucket with a slash behind it', signedThen({ path: '/wire/', query: [['prefix', 'a']] }), '<Key>a</Key>'],
  ] as const)('understands %s', async (_, send, said) => {
    const reply = await sendRaw(server.port, send({ port: server.port, prefix }))
    expect([reply.status, Buffer.from(reply.body, 'latin1').toString()]).toEqual([200, expect.stringContaining(said)])
  })

  it('understands a whole URL in the request line', async () => {
    const whole = target((path) => `http://127.0.0.1:${server.port}${path}`)
    const reply = await sendRaw(server.port, read('/wire/a', whole)({ port: server.port, prefix }))
    expect([reply.status, reply.body]).toEqual([200, 'a'])
  })

  it('understands one value in both prefixes', async () => {
    const other = prefix === 'x-amz-' ? 'x-store-' : 'x-amz-'
    const send = signedThen({
      headers: [
        [`${prefix}expected-bucket-owner`, 'main'],
        [`${other}expected-bucket-owner`, 'main'],
      ],
    })
    const reply = await sendRaw(server.port, send({ port: server.port, prefix }))
    expect([reply.status, reply.body]).toEqual([200, 'a'])
  })
})
