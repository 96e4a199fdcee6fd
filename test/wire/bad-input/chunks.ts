/** aws-chunked bodies whose framing, signatures or trailers are wrong. */
import { type BadInput, type Chunked, chunkedThen, type On } from '../../support/wire-bad-input.ts'
import { referenceChecksum } from '../../support/wire-checksums.ts'

const crc32 = 'checksum-crc32'
const right = referenceChecksum('CRC32', 'first chunk')

const framed = (
  what: string,
  code: BadInput['code'],
  mode: Chunked['mode'],
  edit: (body: string, on: On) => string,
): BadInput => ({
  what: `chunks ${what}`,
  code,
  send: chunkedThen({ mode }, edit),
})
const signed = (what: string, code: BadInput['code'], edit: (body: string) => string): BadInput =>
  framed(what, code, 'signed', edit)
const unsigned = (what: string, code: BadInput['code'], edit: (body: string) => string): BadInput =>
  framed(what, code, 'unsigned-trailer', edit)

const trailed = (
  what: string,
  code: BadInput['code'],
  edit: (body: string, on: On) => string,
  mode: Chunked['mode'] = 'unsigned-trailer',
): BadInput => ({
  what: `trailer ${what}`,
  code,
  send: chunkedThen({ mode, trailers: [[crc32, right]] }, edit),
})

export const badChunks: readonly BadInput[] = [
  signed('without framing', 'IncompleteBody', () => 'first chunk\r\n'),
  signed('with a size that is not a number', 'IncompleteBody', (body) => body.replace(/^b;/, 'x;')),
  signed('with a negative size', 'IncompleteBody', (body) => body.replace(/^b;/, '-b;')),
  signed('with a size after 0x', 'IncompleteBody', (body) => body.replace(/^b;/, '0xb;')),
  signed('with a size of 17 digits', 'IncompleteBody', (body) => body.replace(/^b;/, '0000000000000000b;')),
  signed('with a size beyond what was announced', 'IncompleteBody', (body) => body.replace(/^b;/, 'c;')),
  signed('with a size beyond any memory', 'IncompleteBody', (body) => body.replace(/^b;/, 'ffffffffffffffff;')),
  signed('without size', 'IncompleteBody', (body) => body.slice(1)),
  signed('without signature', 'IncompleteBody', (body) => body.replace(/;chunk-signature=\w*/, '')),
  signed('with another extension', 'IncompleteBody', (body) => body.replace('chunk-signature', 'chunk-sig')),
  signed('with a second extension', 'IncompleteBody', (body) => body.replace(/(;chunk-signature=\w*)/, '$1;x=1')),
  signed('with an empty signature', 'SignatureDoesNotMatch', (body) =>
    body.replace(/chunk-signature=\w*/, 'chunk-signature='),
  ),
  signed('with another signature', 'SignatureDoesNotMatch', (body) =>
    body.replace(/chunk-signature=\w*/, `chunk-signature=${'0'.repeat(64)}`),
  ),
  signed('with a last signature of another', 'SignatureDoesNotMatch', (body) =>
    body.replace(/0;chunk-signature=\w*/, `0;chunk-signature=${'0'.repeat(64)}`),
  ),
  signed('with other data than was signed', 'SignatureDoesNotMatch', (body) => body.replace('first', 'FIRST')),
  signed('with bare line feeds', 'IncompleteBody', (body) => body.replaceAll('\r\n', '\n')),
  signed('without a line end after the data', 'IncompleteBody', (body) =>
    body.replace('first chunk\r\n', 'first chunk'),
  ),
  signed('with a header that is too long', 'IncompleteBody', (body) =>
    body.replace('chunk-signature=', `chunk-signature=${'0'.repeat(2000)}`),
  ),
  signed('without the last chunk', 'IncompleteBody', (body) => body.replace(/0;chunk-signature=\w*\r\n\r\n$/, '')),
  signed('without the last line end', 'IncompleteBody', (body) => body.slice(0, -2)),
  signed('that end in the middle of the data', 'IncompleteBody', (body) => body.slice(0, body.indexOf('chunk\r\n'))),
  signed('that end in the middle of a header', 'IncompleteBody', (body) => body.slice(0, 10)),
  signed('with bytes behind the last', 'IncompleteBody', (body) => `${body}GET / HTTP/1.1\r\n\r\n`),
  signed('with a last chunk too early', 'SignatureDoesNotMatch', (body) => body.replace(/^b;/, '0;')),
  signed('with a trailer that was not declared', 'IncompleteBody', (body) =>
    body.replace(/\r\n$/, `x-amz-${crc32}:${right}\r\n\r\n`),
  ),
  unsigned('signed although declared unsigned', 'IncompleteBody', (body) =>
    body.replace(/^b/, `b;chunk-signature=${'0'.repeat(64)}`),
  ),
  unsigned('unsigned with data behind the last', 'IncompleteBody', (body) => `${body}more\r\n\r\n`),
  unsigned('unsigned that are shorter than announced', 'IncompleteBody', (body) =>
    body.replace('b\r\nfirst chunk', '5\r\nfirst'),
  ),
  unsigned('unsigned that are longer than announced', 'IncompleteBody', (body) =>
    body.replace('b\r\nfirst chunk', 'c\r\nfirst chunk!'),
  ),
  trailed('of another checksum than the data has', 'BadDigest', (body) => body.replace(right, 'AAAAAA==')),
  trailed('that is no checksum', 'InvalidRequest', (body) => body.replace(right, 'nonsense')),
  trailed('that is missing', 'MalformedTrailerError', (body) => body.replace(/x-\w+-checksum-crc32:[^\r]*\r\n/, '')),
  trailed('that was not announced', 'MalformedTrailerError', (body) => body.replace('checksum-crc32', 'checksum-sha1')),
  trailed('sent twice', 'MalformedTrailerError', (body) => body.replace(/(x-\w+-checksum-crc32:[^\r]*\r\n)/, '$1$1')),
  trailed('without colon', 'IncompleteBody', (body) => body.replace('crc32:', 'crc32 ')),
  trailed('with a space in its name', 'IncompleteBody', (body) => body.replace('crc32:', 'crc32 x:')),
  trailed('without the end of its line', 'IncompleteBody', (body) => body.slice(0, -4)),
  trailed('of 20,000 bytes', 'IncompleteBody', (body) => body.replace(right, 'A'.repeat(20_000))),
  trailed(
    'without its signature',
    'IncompleteBody',
    (body) => body.replace(/x-\w+-trailer-signature:\w*\r\n/, ''),
    'signed-trailer',
  ),
  trailed(
    'with another signature',
    'SignatureDoesNotMatch',
    (body) => body.replace(/(trailer-signature:)\w*/, `$1${'0'.repeat(64)}`),
    'signed-trailer',
  ),
  trailed(
    'changed after signing',
    'SignatureDoesNotMatch',
    (body) => body.replace(right, 'AAAAAA=='),
    'signed-trailer',
  ),
]
