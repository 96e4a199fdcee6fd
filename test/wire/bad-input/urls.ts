/** Presigned URLs that are malformed, changed, or out of date. */
import { type BadInput, type On, presignedThen } from '../../support/wire-bad-input.ts'

const upper = ({ prefix }: On): string => (prefix === 'x-amz-' ? 'X-Amz-' : 'X-Store-')

/** Removes a parameter, its value and its separator. */
const without =
  (name: string) =>
  (target: string, on: On): string =>
    target.replace(new RegExp(`([?&])${upper(on)}${name}=[^&]*&?`), '$1').replace(/[?&]$/, '')

const withValue =
  (name: string, value: string) =>
  (target: string, on: On): string =>
    target.replace(new RegExp(`(${upper(on)}${name}=)[^&]*`), `$1${value}`)

const twice =
  (name: string) =>
  (target: string, on: On): string => {
    const parameter = new RegExp(`${upper(on)}${name}=[^&]*`).exec(target)?.[0]
    return `${target}&${parameter}`
  }

const changed = (what: string, code: BadInput['code'], edit: (target: string, on: On) => string): BadInput => ({
  what: `URL ${what}`,
  code,
  send: presignedThen({}, edit),
})

const wrong = (what: string, edit: (target: string, on: On) => string): BadInput =>
  changed(what, 'AuthorizationQueryParametersError', edit)

const expiring = (expires: string): BadInput => ({
  what: `URL that expires in "${expires}" seconds`,
  code: 'AuthorizationQueryParametersError',
  send: presignedThen({ expires }),
})

const hour = 3_600_000

const urlInVersion2 = (what: string, code: BadInput['code'], query: (nowSeconds: number) => string): BadInput => ({
  what: `URL in version 2 ${what}`,
  code,
  send: ({ port }) =>
    `GET /wire/a?AWSAccessKeyId=AKMAIN&${query(Math.floor(Date.now() / 1000))} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`,
})

export const badUrls: readonly BadInput[] = [
  ...['0', '-1', '604801', '99999999999999999999', 'soon', '1.5', '', '1e3', '0x10'].map(expiring),
  ...['Credential', 'Date', 'SignedHeaders', 'Expires', 'Signature', 'Algorithm'].map((name) =>
    wrong(`without ${name}`, without(name)),
  ),
  ...['Credential', 'Date', 'SignedHeaders', 'Expires', 'Signature', 'Algorithm'].map((name) =>
    wrong(`with ${name} twice`, twice(name)),
  ),
  wrong('of an unknown algorithm', withValue('Algorithm', 'AWS4-HMAC-MD5')),
  changed('by elliptic curve', 'NotImplemented', withValue('Algorithm', 'AWS4-ECDSA-P256-SHA256')),
  wrong('of a date that is none', withValue('Date', 'today')),
  wrong('of a credential that is none', withValue('Credential', 'AKMAIN')),
  wrong('of a credential of another service', (target) => target.replace('%2Fs3%2F', '%2Fec2%2F')),
  changed('of an unknown key', 'InvalidAccessKeyId', (target) => target.replace('AKMAIN', 'AKNOBODY')),
  changed('with an empty signature', 'SignatureDoesNotMatch', withValue('Signature', '')),
  changed('with another signature', 'SignatureDoesNotMatch', withValue('Signature', '0'.repeat(64))),
  changed('that expires later than was signed', 'SignatureDoesNotMatch', withValue('Expires', '301')),
  changed('with a parameter more', 'SignatureDoesNotMatch', (target) => `${target}&response-content-type=text/html`),
  changed('with a vendor parameter more', 'SignatureDoesNotMatch', (target, on) => `${target}&${upper(on)}Acl=private`),
  changed('for another key', 'SignatureDoesNotMatch', (target) => target.replace('/wire/a?', '/wire/b?')),
  changed(
    'that signs a header that was not sent',
    'SignatureDoesNotMatch',
    withValue('SignedHeaders', 'absent%3Bhost'),
  ),
  changed('that does not sign Host', 'AccessDenied', withValue('SignedHeaders', 'range')),
  {
    what: 'URL that has expired',
    code: 'AccessDenied',
    send: (on) => presignedThen({ nowMs: Date.now() - hour, expires: 3599 })(on),
  },
  {
    what: 'URL that is not valid yet',
    code: 'AccessDenied',
    send: (on) => presignedThen({ nowMs: Date.now() + hour })(on),
  },
  {
    what: 'URL with a session token',
    code: 'InvalidToken',
    send: (on) => presignedThen({ query: [[`${upper(on)}Security-Token`, 'x']] })(on),
  },
  {
    what: 'URL with a body that it does not vouch for as said',
    code: 'InvalidArgument',
    send: (on) => presignedThen({ method: 'PUT', body: 'x', query: [[`${upper(on)}Content-Sha256`, 'nonsense']] })(on),
  },
  urlInVersion2('that never ends', 'AccessDenied', () => 'Expires=4102444800&Signature=x'),
  urlInVersion2('that says no end', 'AccessDenied', () => 'Signature=x'),
  urlInVersion2('that nobody signed', 'SignatureDoesNotMatch', (now) => `Expires=${now + 60}&Signature=x`),
  urlInVersion2(
    'with an input that is not signed',
    'AccessDenied',
    (now) => `Expires=${now + 60}&Signature=x&range=1&prefix=a`,
  ),
  {
    what: 'URL signed in both dialects',
    code: 'InvalidArgument',
    send: presignedThen(
      {},
      (target, { prefix }) => `${target}&${prefix === 'x-amz-' ? 'X-Store' : 'X-Amz'}-Signature=00`,
    ),
  },
]
