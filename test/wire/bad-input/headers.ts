/** Headers that are malformed, repeated, contradict each other, or ask for what is not kept. */
import type { HeaderPair } from '../../support/signer.ts'
import { addHeader, type BadInput, signedThen } from '../../support/wire-bad-input.ts'

const put = (
  what: string,
  code: BadInput['code'],
  headers: readonly HeaderPair[],
  vendor: readonly HeaderPair[] = [],
): BadInput => ({
  what: `PUT with ${what}`,
  code,
  send: signedThen({ method: 'PUT', headers, vendor, body: 'x' }),
})
const vendor = (what: string, code: BadInput['code'], ...pairs: HeaderPair[]): BadInput => put(what, code, [], pairs)

const get = (what: string, code: BadInput['code'], ...headers: HeaderPair[]): BadInput => ({
  what: `GET with ${what}`,
  code,
  send: signedThen({ headers }),
})

/** The two prefixes with one value each. */
const both = (name: string, amz: string, store: string) =>
  signedThen({
    method: 'PUT',
    headers: [
      [`x-amz-${name}`, amz],
      [`x-store-${name}`, store],
    ],
    body: 'x',
  })

export const badHeaders: readonly BadInput[] = [
  vendor('acl twice', 'InvalidArgument', ['acl', 'private'], ['acl', 'private']),
  vendor('acl public-read', 'AccessControlListNotSupported', ['acl', 'public-read']),
  vendor('an acl that nobody knows', 'InvalidArgument', ['acl', 'nonsense']),
  vendor('an empty acl', 'InvalidArgument', ['acl', '']),
  vendor('a grant', 'AccessControlListNotSupported', [
    'grant-read',
    'uri="http://acs.amazonaws.com/groups/global/AllUsers"',
  ]),
  vendor('a storage class that nobody knows', 'InvalidStorageClass', ['storage-class', 'COLD']),
  vendor('a storage class in lower case', 'InvalidStorageClass', ['storage-class', 'standard']),
  vendor('encryption that nobody knows', 'InvalidArgument', ['server-side-encryption', 'aes256']),
  vendor('encryption of no name', 'InvalidArgument', ['server-side-encryption', '']),
  vendor('encryption in two layers', 'NotImplemented', ['server-side-encryption', 'aws:kms:dsse']),
  vendor(
    'encryption twice',
    'InvalidArgument',
    ['server-side-encryption', 'AES256'],
    ['server-side-encryption', 'AES256'],
  ),
  vendor("a customer's key alone", 'InvalidArgument', ['server-side-encryption-customer-key', 'x']),
  vendor('a lock without a date', 'InvalidArgument', ['object-lock-mode', 'COMPLIANCE']),
  vendor('a lock that nobody knows', 'InvalidArgument', ['object-lock-mode', 'compliance']),
  vendor('a hold where nothing can be held', 'InvalidRequest', ['object-lock-legal-hold', 'ON']),
  vendor('a redirect to nowhere', 'InvalidRedirectLocation', ['website-redirect-location', 'x']),
  vendor('a lock header that nobody knows', 'NotImplemented', ['object-lock-nonsense', 'x']),
  vendor('a payer that nobody knows', 'InvalidArgument', ['request-payer', 'bucket-owner']),
  vendor('metadata of 3 KiB', 'MetadataTooLarge', ['meta-a', 'x'.repeat(3072)]),
  vendor('metadata without a name', 'NotImplemented', ['meta-', 'x']),
  vendor('11 tags', 'BadRequest', ['tagging', Array.from({ length: 11 }, (_, i) => `k${i}=v`).join('&')]),
  vendor('a tag twice', 'InvalidArgument', ['tagging', 'a=1&a=2']),
  vendor('tags that are not UTF-8', 'InvalidArgument', ['tagging', 'a=%ff']),
  vendor('a tag without a key', 'InvalidTag', ['tagging', '=1']),
  vendor('a source without key', 'InvalidArgument', ['copy-source', '/wire']),
  vendor('an empty source', 'InvalidArgument', ['copy-source', '']),
  vendor('a source that is not UTF-8', 'InvalidArgument', ['copy-source', '/wire/%ff']),
  vendor('a source twice', 'InvalidArgument', ['copy-source', '/wire/a'], ['copy-source', '/wire/a']),
  vendor('a source of the same key', 'InvalidRequest', ['copy-source', '/wire/a']),
  vendor('a source of a malformed version', 'InvalidArgument', ['copy-source', '/wire/a?versionId=x']),
  vendor('a source of an unknown version', 'NoSuchVersion', ['copy-source', `/wire/a?versionId=${'0'.repeat(32)}`]),
  vendor(
    'a directive that nobody knows',
    'InvalidArgument',
    ['copy-source', '/wire/a'],
    ['metadata-directive', 'MERGE'],
  ),
  put('Content-Type twice', 'InvalidRequest', [
    ['Content-Type', 'a/b'],
    ['Content-Type', 'c/d'],
  ]),
  put('If-None-Match of a tag', 'NotImplemented', [['If-None-Match', '"x"']]),
  put('Content-MD5 twice', 'InvalidRequest', [
    ['Content-MD5', 'nQdOzJ9FSYNCuxOjJ8TNwg=='],
    ['Content-MD5', 'nQdOzJ9FSYNCuxOjJ8TNwg=='],
  ]),
  get('Range twice', 'InvalidRequest', ['Range', 'bytes=0-0'], ['Range', 'bytes=1-1']),
  get('a range behind the end', 'InvalidRange', ['Range', 'bytes=3-']),
  get('a suffix of nothing', 'InvalidRange', ['Range', 'bytes=-0']),
  get(
    'If-Modified-Since twice',
    'InvalidRequest',
    ['If-Modified-Since', 'Sat, 01 Jan 2000 00:00:00 GMT'],
    ['If-Modified-Since', 'Sat, 01 Jan 2000 00:00:00 GMT'],
  ),
  {
    what: 'GET with an unknown checksum mode',
    code: 'InvalidRequest',
    send: signedThen({ vendor: [['checksum-mode', 'DISABLED']] }),
  },
  {
    what: 'GET with another owner expected',
    code: 'AccessDenied',
    send: signedThen({ vendor: [['expected-bucket-owner', 'other']] }),
  },
  {
    what: 'GET with an owner expected twice',
    code: 'InvalidArgument',
    send: signedThen({
      vendor: [
        ['expected-bucket-owner', 'main'],
        ['expected-bucket-owner', 'main'],
      ],
    }),
  },
  {
    what: 'PUT with two prefixes that differ',
    code: 'InvalidArgument',
    send: both('acl', 'private', 'bucket-owner-full-control'),
  },
  { what: 'PUT with two prefixes that differ in metadata', code: 'InvalidArgument', send: both('meta-a', '1', '2') },
  {
    what: 'PUT with two dates of the two dialects',
    code: 'InvalidArgument',
    send: signedThen({
      method: 'PUT',
      headers: [
        ['x-amz-decoded-content-length', '1'],
        ['x-store-decoded-content-length', '2'],
      ],
      body: 'x',
    }),
  },
  {
    what: 'header section of 40 KiB',
    code: 'RequestHeaderSectionTooLarge',
    send: signedThen({ headers: [['x-large', 'x'.repeat(40 * 1024)]] }),
  },
  {
    what: 'header with a control character',
    code: 'BadRequest',
    send: signedThen({}, addHeader('x-control', 'a\u0001b')),
  },
  { what: 'header name with a space', code: 'BadRequest', send: signedThen({}, addHeader('x space', 'a')) },
  { what: 'header folded over two lines', code: 'BadRequest', send: signedThen({}, addHeader('x-folded', 'a\r\n b')) },
]
