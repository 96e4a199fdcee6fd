/** Signatures by header that are missing, malformed, out of date, or of something else. */
import {
  addHeader,
  type BadInput,
  editAuthorization,
  editHeader,
  editVendor,
  removeHeader,
  removeVendor,
  signedThen,
} from '../../support/wire-bad-input.ts'

const authorization = (what: string, code: BadInput['code'], change: (value: string) => string): BadInput => ({
  what: `authorization ${what}`,
  code,
  send: signedThen({}, editAuthorization(change)),
})

const malformed = (what: string, change: (value: string) => string): BadInput =>
  authorization(what, 'AuthorizationHeaderMalformed', change)

const dated = (what: string, code: BadInput['code'], value: string): BadInput => ({
  what: `date ${what}`,
  code,
  send: signedThen(
    {},
    editVendor('date', () => value),
  ),
})

const minute = 60_000

export const badSignatures: readonly BadInput[] = [
  { what: 'authorization missing', code: 'AccessDenied', send: signedThen({}, removeHeader('Authorization')) },
  authorization('empty', 'InvalidArgument', () => ''),
  authorization('of one word', 'InvalidArgument', () => 'nonsense'),
  authorization('by name and password', 'InvalidArgument', () => 'Basic dXNlcjpwYXNz'),
  authorization('by token', 'InvalidArgument', () => 'Bearer abc'),
  authorization('in version 2', 'InvalidRequest', () => 'AWS AKMAIN:frJIUN8DYpKDtOLCwo//yllqDzg='),
  authorization('by elliptic curve', 'NotImplemented', (value) => value.replace('HMAC', 'ECDSA-P256')),
  authorization('in lower case', 'InvalidArgument', (value) => value.replace('AWS4-HMAC-SHA256', 'aws4-hmac-sha256')),
  malformed('without components', () => 'AWS4-HMAC-SHA256'),
  malformed('without credential', (value) => value.replace(/Credential=[^,]*, /, '')),
  malformed('without signed headers', (value) => value.replace(/SignedHeaders=[^,]*, /, '')),
  malformed('without signature', (value) => value.replace(/, Signature=.*/, '')),
  malformed('with a component twice', (value) => `${value}, Signature=00`),
  malformed('with an unknown component', (value) => `${value}, Nonce=1`),
  malformed('with a component without value', (value) => value.replace(/Signature=/, 'Signature')),
  malformed('separated by semicolons', (value) => value.replaceAll(', ', '; ')),
  malformed('with a credential of one part', (value) => value.replace(/Credential=[^,]*/, 'Credential=AKMAIN')),
  malformed('with a credential of four parts', (value) => value.replace('/aws4_request', '')),
  malformed('with a credential without key', (value) => value.replace('Credential=AKMAIN', 'Credential=')),
  malformed('with a credential of 300 characters', (value) => value.replace('AKMAIN', 'A'.repeat(300))),
  malformed('with a scope of another service', (value) => value.replace('/s3/', '/ec2/')),
  malformed('with a scope of another end', (value) => value.replace('aws4_request', 'aws3_request')),
  malformed('with a scope of no region', (value) => value.replace('/us-east-1/', '//')),
  malformed('with a scope of a region that is no name', (value) => value.replace('us-east-1', 'us east')),
  malformed('with a scope of no date', (value) => value.replace(/\/\d{8}\//, '/today/')),
  malformed('with a scope of another date', (value) => value.replace(/\/\d{8}\//, '/20000101/')),
  authorization('of an unknown key', 'InvalidAccessKeyId', (value) => value.replace('AKMAIN', 'AKNOBODY')),
  authorization('of a key in lower case', 'InvalidAccessKeyId', (value) => value.replace('AKMAIN', 'akmain')),
  authorization('of another region than was signed', 'SignatureDoesNotMatch', (value) =>
    value.replace('us-east-1', 'eu-west-1'),
  ),
  authorization('with a signature of zeros', 'SignatureDoesNotMatch', (value) =>
    value.replace(/Signature=.*/, `Signature=${'0'.repeat(64)}`),
  ),
  authorization('with an empty signature', 'SignatureDoesNotMatch', (value) =>
    value.replace(/Signature=.*/, 'Signature='),
  ),
  authorization('with a signature cut short', 'SignatureDoesNotMatch', (value) => value.slice(0, -1)),
  authorization('with a signature in capitals', 'SignatureDoesNotMatch', (value) =>
    value.replace(/Signature=(.*)/, (_, hex: string) => `Signature=${hex.toUpperCase()}`),
  ),
  authorization('that leaves Host out', 'AccessDenied', (value) => value.replace('host;', '')),
  authorization('that leaves the date out', 'AccessDenied', (value) => value.replace(/;x-(?:amz|store)-date/, '')),
  authorization('that leaves all headers out', 'AccessDenied', (value) =>
    value.replace(/SignedHeaders=[^,]*/, 'SignedHeaders='),
  ),
  authorization('that signs a header that is not there', 'SignatureDoesNotMatch', (value) =>
    value.replace('host;', 'absent;host;'),
  ),
  authorization('that orders signed headers otherwise', 'SignatureDoesNotMatch', (value) =>
    value.replace(/SignedHeaders=host;(.*?),/, 'SignedHeaders=$1;host,'),
  ),
  {
    what: 'authorization sent twice',
    code: 'InvalidArgument',
    send: signedThen({}, addHeader('Authorization', 'AWS4-HMAC-SHA256 x')),
  },
  {
    what: 'authorization by header and by URL',
    code: 'InvalidArgument',
    send: signedThen({ query: [['X-Amz-Algorithm', 'AWS4-HMAC-SHA256']] }),
  },
  {
    what: 'authorization by header and by URL of the other dialect',
    code: 'InvalidArgument',
    send: signedThen({ query: [['X-Store-Signature', '00']] }),
  },
  {
    what: 'authorization by header and by URL in version 2',
    code: 'InvalidArgument',
    send: signedThen({
      query: [
        ['AWSAccessKeyId', 'AKMAIN'],
        ['Signature', 'x'],
      ],
    }),
  },
  {
    what: 'vendor header changed after signing',
    code: 'SignatureDoesNotMatch',
    send: signedThen(
      { method: 'PUT', vendor: [['meta-a', 'x']] },
      editVendor('meta-a', () => 'y'),
    ),
  },
  {
    what: 'vendor header added after signing',
    code: 'AccessDenied',
    send: signedThen({ method: 'PUT' }, (signed, on) => addHeader(`${on.prefix}acl`, 'private')(signed, on)),
  },
  {
    what: 'vendor header of the other dialect added after signing',
    code: 'AccessDenied',
    send: signedThen({ method: 'PUT' }, (signed, on) =>
      addHeader(`${on.prefix === 'x-amz-' ? 'x-store-' : 'x-amz-'}copy-source`, '/wire/a')(signed, on),
    ),
  },
  {
    what: 'signed header sent a second time',
    code: 'SignatureDoesNotMatch',
    send: signedThen({ method: 'PUT', vendor: [['meta-a', 'x']] }, (signed, on) =>
      addHeader(`${on.prefix}meta-a`, 'y')(signed, on),
    ),
  },
  {
    what: 'method changed after signing',
    code: 'SignatureDoesNotMatch',
    send: signedThen({}, (signed) => ({ ...signed, method: 'DELETE' })),
  },
  {
    what: 'path changed after signing',
    code: 'SignatureDoesNotMatch',
    send: signedThen({}, (signed) => ({ ...signed, target: '/wire/b' })),
  },
  {
    what: 'query changed after signing',
    code: 'SignatureDoesNotMatch',
    send: signedThen({}, (signed) => ({ ...signed, target: '/wire/a?acl' })),
  },
  {
    what: 'Host changed after signing',
    code: 'SignatureDoesNotMatch',
    send: signedThen(
      {},
      editHeader('Host', () => 'wire.localhost'),
    ),
  },
  { what: 'date missing', code: 'AccessDenied', send: signedThen({}, removeVendor('date')) },
  dated('empty', 'AccessDenied', ''),
  dated('in words', 'AccessDenied', 'today'),
  dated('with separators', 'AccessDenied', '2026-11-21T00:00:00Z'),
  dated('of month 13', 'AccessDenied', '20261321T000000Z'),
  dated('of hour 24', 'AccessDenied', '20261121T240000Z'),
  dated('of another zone', 'AccessDenied', '20261121T000000+0100'),
  {
    what: 'date 16 minutes ago',
    code: 'RequestTimeTooSkewed',
    send: (on) => signedThen({ nowMs: Date.now() - 16 * minute })(on),
  },
  {
    what: 'date in 16 minutes',
    code: 'RequestTimeTooSkewed',
    send: (on) => signedThen({ nowMs: Date.now() + 16 * minute })(on),
  },
  { what: 'date of 1970', code: 'RequestTimeTooSkewed', send: signedThen({ nowMs: 0 }) },
  { what: 'date of 9999', code: 'RequestTimeTooSkewed', send: signedThen({ nowMs: Date.UTC(9999, 11, 31) }) },
  { what: 'content-sha256 missing', code: 'InvalidRequest', send: signedThen({}, removeVendor('content-sha256')) },
  ...['', 'x', '0'.repeat(63), `${'0'.repeat(63)}g`, 'UNSIGNED', 'unsigned-payload', 'STREAMING-AWS4-HMAC-SHA256'].map(
    (payloadHash): BadInput => ({
      what: `content-sha256 "${payloadHash}"`,
      code: 'InvalidArgument',
      send: signedThen({ method: 'PUT', payloadHash }),
    }),
  ),
  {
    what: 'content-sha256 of chunks by elliptic curve',
    code: 'NotImplemented',
    send: signedThen({ method: 'PUT', payloadHash: 'STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD' }),
  },
  { what: 'session token by header', code: 'InvalidToken', send: signedThen({ vendor: [['security-token', 'x']] }) },
]
