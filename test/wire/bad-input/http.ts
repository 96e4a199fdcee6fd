/** Bytes that are no HTTP, or HTTP that two parsers could read differently. */
import { addHeader, type BadInput, signedThen } from '../../support/wire-bad-input.ts'

const raw = (what: string, bytes: (host: string) => string): BadInput => ({
  what,
  code: 'BadRequest',
  send: ({ port }) => bytes(`127.0.0.1:${port}`),
})

const framed = (what: string, code: BadInput['code'], ...headers: [string, string][]): BadInput => ({
  what,
  code,
  send: signedThen({ method: 'PUT', body: 'x' }, (signed, on) =>
    headers.reduce((sent, [name, value]) => addHeader(name, value)(sent, on), signed),
  ),
})

export const badHttp: readonly BadInput[] = [
  raw('no HTTP at all', () => 'nonsense\r\n\r\n'),
  raw('TLS on a plain port', () => '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'),
  {
    what: 'request line without version',
    code: 'AccessDenied',
    send: ({ port }) => `GET /wire/a\r\nHost: 127.0.0.1:${port}\r\n\r\n`,
  },
  raw('request line of a version that is none', (host) => `GET /wire/a HTTP/9.9\r\nHost: ${host}\r\n\r\n`),
  raw('method that is none', (host) => `FETCH /wire/a HTTP/1.1\r\nHost: ${host}\r\n\r\n`),
  raw('method in small letters', (host) => `get /wire/a HTTP/1.1\r\nHost: ${host}\r\n\r\n`),
  raw('path with a space', (host) => `GET /wire/a b HTTP/1.1\r\nHost: ${host}\r\n\r\n`),
  raw('path with NUL', (host) => `GET /wire/\u0000 HTTP/1.1\r\nHost: ${host}\r\n\r\n`),
  raw('path with a byte above ASCII', (host) => `GET /wire/\xff HTTP/1.1\r\nHost: ${host}\r\n\r\n`),
  raw('header without colon', (host) => `GET /wire/a HTTP/1.1\r\nHost: ${host}\r\nnonsense\r\n\r\n`),
  raw('header before its colon ends in a space', (host) => `GET /wire/a HTTP/1.1\r\nHost : ${host}\r\n\r\n`),
  raw('no Host', () => 'GET /wire/a HTTP/1.1\r\n\r\n'),
  raw('two Hosts', (host) => `GET /wire/a HTTP/1.1\r\nHost: ${host}\r\nHost: ${host}\r\n\r\n`),
  framed('two lengths that differ', 'BadRequest', ['Content-Length', '2']),
  framed('two lengths alike', 'BadRequest', ['Content-Length', '1']),
  framed('length beside chunks', 'BadRequest', ['Transfer-Encoding', 'chunked']),
  framed('length beside an encoding that is none', 'BadRequest', ['Transfer-Encoding', 'identity']),
  raw(
    'chunks encoded twice',
    (host) => `PUT /wire/a HTTP/1.1\r\nHost: ${host}\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n`,
  ),
  raw(
    'chunks behind another encoding',
    (host) => `PUT /wire/a HTTP/1.1\r\nHost: ${host}\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
  ),
  raw(
    'chunks hidden in capitals and a tab',
    (host) => `PUT /wire/a HTTP/1.1\r\nHost: ${host}\r\nTransfer-Encoding:\tCHUNKED, identity\r\n\r\n0\r\n\r\n`,
  ),
  {
    what: 'expectation that nobody can meet, and no signature',
    code: 'AccessDenied',
    send: ({ port }) =>
      `PUT /wire/a HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nExpect: miracle\r\nContent-Length: 0\r\n\r\n`,
  },
  {
    what: 'chunks of HTTP without any length of the data',
    code: 'MissingContentLength',
    send: signedThen({ method: 'PUT', payloadHash: 'UNSIGNED-PAYLOAD' }, (signed, on) => {
      const headers = signed.headers.filter(([name]) => name !== 'Content-Length')
      return addHeader('Transfer-Encoding', 'chunked')(
        { ...signed, headers, body: Buffer.from('1\r\nx\r\n0\r\n\r\n') },
        on,
      )
    }),
  },
  {
    what: 'tunnel',
    code: 'MethodNotAllowed',
    send: () => 'CONNECT elsewhere:443 HTTP/1.1\r\nHost: elsewhere:443\r\n\r\n',
  },
]
