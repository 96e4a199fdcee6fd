import { describe, expect, it } from 'vitest'
import { storeDialect } from '../../src/http/dialect.ts'
import { compileForwarded, type ForwardedClient } from '../../src/http/forwarded.ts'

const read = compileForwarded(['10.0.0.0/8', 'fd00::/8', '127.0.0.1'])

/** By headers in turn. */
function clientOf(headers: readonly [string, string][], peer = '10.0.0.1'): ForwardedClient | undefined {
  return read?.(peer, {
    method: 'GET',
    rawPath: '/',
    rawQuery: '',
    host: 'received.test',
    rawHeaders: headers.flat(),
    names: headers.map(([name]) => name.toLowerCase()),
    contentLength: undefined,
    requestId: undefined,
    traceParent: undefined,
    chunked: false,
    dialect: storeDialect,
  })
}

const said = (address?: string, secure?: boolean, host?: string): ForwardedClient => ({ address, secure, host })

it('nobody is believed where no proxy is trusted', () => {
  expect(compileForwarded([])).toBeUndefined()
})

it.each([
  ['203.0.113.1', undefined],
  ['11.0.0.1', undefined],
  ['fe00::1', undefined],
  ['not an address', undefined],
  ['10.255.255.255', '198.51.100.7'],
  ['::ffff:10.0.0.1', '198.51.100.7'],
  ['fd12::1', '198.51.100.7'],
  ['fd12::1%eth0', '198.51.100.7'],
])('of the peer %s', (peer, address) => {
  expect(clientOf([['X-Forwarded-For', '198.51.100.7']], peer)?.address).toBe(address)
})

describe('X-Forwarded-For', () => {
  it.each<[string, string, string | undefined]>([
    ['one client', '198.51.100.7', '198.51.100.7'],
    ['what the client itself sent is not believed', '192.0.2.66, 198.51.100.7', '198.51.100.7'],
    ['not even where it can not be read', 'x"; <, 198.51.100.7', '198.51.100.7'],
    ['proxies that are trusted are skipped', '198.51.100.7, 10.0.0.3,fd00::5', '198.51.100.7'],
    ['a proxy that is not trusted is the client', '198.51.100.7, 203.0.113.9, 10.0.0.3', '203.0.113.9'],
    ['only trusted ones: the outermost asks', '10.0.0.9, 10.0.0.3', '10.0.0.9'],
    ['an address with a port', '198.51.100.7:4711', '198.51.100.7'],
    ['IPv6', '2001:db8::7', '2001:db8::7'],
    ['IPv6 in brackets, with a port', '[2001:db8::7]:4711', '2001:db8::7'],
    ['IPv4 in the form of IPv6', '::ffff:198.51.100.7', '198.51.100.7'],
    ['a name', 'client.test', undefined],
    ['nothing', '', undefined],
    ['an empty end', '198.51.100.7,', undefined],
    ['a mistake behind a trusted proxy', 'unknown, 10.0.0.3', undefined],
    ['an address and more', '198.51.100.7 evil', undefined],
  ])('%s', (_, value, address) => {
    expect(clientOf([['X-Forwarded-For', value]])).toEqual(address === undefined ? undefined : said(address))
  })

  it('that was sent twice is one list', () => {
    const headers: [string, string][] = [
      ['X-Forwarded-For', '192.0.2.66'],
      ['x-forwarded-for', '198.51.100.7, 10.0.0.2'],
    ]
    expect(clientOf(headers)?.address).toBe('198.51.100.7')
  })
})

describe('X-Forwarded-Proto and -Host', () => {
  it.each<[string, [string, string][], ForwardedClient]>([
    ['alone', [['X-Forwarded-Proto', 'HTTPS']], said(undefined, true)],
    ['plain HTTP', [['X-Forwarded-Proto', 'http']], said(undefined, false)],
    ['another scheme', [['X-Forwarded-Proto', 'wss']], said()],
    ['the last, which the proxy set', [['X-Forwarded-Proto', 'https, http']], said(undefined, false)],
    ['a host with a port', [['X-Forwarded-Host', 's3.test:8443']], said(undefined, undefined, 's3.test:8443')],
    ['no host', [['X-Forwarded-Host', 's3.test/x?']], said()],
    ['a host that would end its header', [['X-Forwarded-Host', 's3.test\r\nx: y']], said()],
    [
      'those of the proxy that wrote down the client',
      [
        ['X-Forwarded-For', '192.0.2.66, 198.51.100.7, 10.0.0.3'],
        ['X-Forwarded-Proto', 'http, https, http'],
        ['X-Forwarded-Host', 'evil.test, s3.test, inner.test'],
      ],
      said('198.51.100.7', true, 's3.test'),
    ],
    [
      'one that the outermost proxy set and the others passed on',
      [
        ['X-Forwarded-For', '198.51.100.7, 10.0.0.3'],
        ['X-Forwarded-Proto', 'https'],
      ],
      said('198.51.100.7', true),
    ],
  ])('%s', (_, headers, expected) => {
    expect(clientOf(headers)).toEqual(expected)
  })
})

describe('Forwarded', () => {
  it.each<[string, string, ForwardedClient | undefined]>([
    ['one client', 'for=198.51.100.7', said('198.51.100.7')],
    ['all of it', 'for=198.51.100.7;proto=https;host=s3.test;by=10.0.0.1', said('198.51.100.7', true, 's3.test')],
    ['in any order and case', 'Proto=http ; FOR="198.51.100.7:80"', said('198.51.100.7', false)],
    ['IPv6', 'for="[2001:db8::7]:4711"', said('2001:db8::7')],
    ['right to left, without trusted proxies', 'for=192.0.2.66, for=198.51.100.7, for=10.0.0.3', said('198.51.100.7')],
    ['a comma between quotes', 'for=198.51.100.7;host="a,b"', said('198.51.100.7')],
    ['a quote that the client left open', 'for=", for=198.51.100.7', said('198.51.100.7')],
    ['what the client sent and nobody can read', 'for=;;=, for=198.51.100.7', said('198.51.100.7')],
    ['a client that hides', 'for=_hidden', undefined],
    ['an unknown client', 'for=unknown;proto=https', undefined],
    ['two clients in one', 'for=198.51.100.7;for=192.0.2.66', undefined],
    ['a mistake', 'for 198.51.100.7', undefined],
    ['IPv6 that should be quoted', 'for=[2001:db8::7]', undefined],
    ['nothing', '', undefined],
  ])('%s', (_, value, expected) => {
    expect(clientOf([['Forwarded', value]])).toEqual(expected)
  })

  it('is not read where X-Forwarded headers are: a client may have sent it', () => {
    const headers: [string, string][] = [
      ['Forwarded', 'for=192.0.2.66;proto=https'],
      ['X-Forwarded-For', '198.51.100.7'],
    ]
    expect(clientOf(headers)).toEqual(said('198.51.100.7'))
  })
})
