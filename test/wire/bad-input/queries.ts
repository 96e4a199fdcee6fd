/** Query parameters that are malformed, repeated, unknown together, or meant for another method. */
import type { HeaderPair } from '../../support/signer.ts'
import { type BadInput, presignedThen, signedThen } from '../../support/wire-bad-input.ts'

const listing = (what: string, code: BadInput['code'], ...query: HeaderPair[]): BadInput => ({
  what: `list with ${what}`,
  code,
  send: signedThen({ path: '/wire', query }),
})

const object = (what: string, code: BadInput['code'], method: string, ...query: HeaderPair[]): BadInput => ({
  what: `${method} with ${what}`,
  code,
  send: signedThen({ method, query }),
})

const bucket = (what: string, code: BadInput['code'], method: string, ...query: HeaderPair[]): BadInput => ({
  what: `${method} of a bucket with ${what}`,
  code,
  send: signedThen({ method, path: '/wire', query }),
})

export const badQueries: readonly BadInput[] = [
  listing('max-keys -1', 'InvalidArgument', ['max-keys', '-1']),
  listing('max-keys abc', 'InvalidArgument', ['max-keys', 'abc']),
  listing('max-keys of 20 digits', 'InvalidArgument', ['max-keys', '99999999999999999999']),
  listing('max-keys twice', 'InvalidArgument', ['max-keys', '1'], ['max-keys', '2']),
  listing('prefix twice', 'InvalidArgument', ['prefix', 'a'], ['prefix', 'b']),
  listing('a token of the other listing', 'InvalidArgument', ['list-type', '3'], ['continuation-token', 'x']),
  listing('a marker of the other listing', 'InvalidArgument', ['list-type', '2'], ['marker', 'x']),
  listing('an unknown encoding', 'InvalidArgument', ['encoding-type', 'hex']),
  listing('a token that it never gave', 'InvalidArgument', ['list-type', '2'], ['continuation-token', 'x']),
  listing('max-uploads -1', 'InvalidArgument', ['uploads', ''], ['max-uploads', '-1']),
  listing('versions behind a version of no key', 'InvalidArgument', ['versions', ''], ['version-id-marker', 'null']),
  listing('metadata configuration, which is not kept', 'NotImplemented', ['metadataConfiguration', '']),
  object('part number 0', 'InvalidArgument', 'GET', ['partNumber', '0']),
  object('part number 10001', 'InvalidArgument', 'GET', ['partNumber', '10001']),
  object('part number one', 'InvalidArgument', 'GET', ['partNumber', 'one']),
  object('part number twice', 'InvalidArgument', 'GET', ['partNumber', '1'], ['partNumber', '2']),
  object('part number 2 of a simple object', 'InvalidPartNumber', 'GET', ['partNumber', '2']),
  object('an unknown version', 'NoSuchVersion', 'GET', ['versionId', '0'.repeat(32)]),
  object('a malformed version', 'InvalidArgument', 'GET', ['versionId', 'x']),
  object('an empty version', 'InvalidArgument', 'GET', ['versionId', '']),
  object('a line end for a response header', 'InvalidArgument', 'GET', ['response-content-type', 'a\r\nb: c']),
  object('NUL for a response header', 'InvalidArgument', 'GET', ['response-cache-control', 'a\u0000']),
  object('an unknown upload', 'NoSuchUpload', 'GET', ['uploadId', 'x']),
  object('an upload and no part number', 'MethodNotAllowed', 'PUT', ['uploadId', 'x']),
  object('a part number and no upload', 'InvalidArgument', 'PUT', ['partNumber', '1']),
  object('a part of an unknown upload', 'NoSuchUpload', 'PUT', ['partNumber', '1'], ['uploadId', 'x']),
  object('acl, which would overwrite the object if it were not looked at', 'MissingSecurityHeader', 'PUT', ['acl', '']),
  object('acl, which would remove the object if it were not looked at', 'MethodNotAllowed', 'DELETE', ['acl', '']),
  object('a sub-resource of buckets', 'MethodNotAllowed', 'PUT', ['policy', '']),
  object('a sub-resource of buckets to read', 'MethodNotAllowed', 'GET', ['location', '']),
  object('two sub-resources', 'InvalidArgument', 'GET', ['tagging', ''], ['acl', '']),
  object('nothing it knows', 'MethodNotAllowed', 'POST'),
  bucket('versioning and nothing to set', 'MissingRequestBodyError', 'PUT', ['versioning', '']),
  bucket('a sub-resource of objects', 'MethodNotAllowed', 'DELETE', ['legal-hold', '']),
  bucket('uploads', 'MethodNotAllowed', 'PUT', ['uploads', '']),
  bucket('two sub-resources', 'InvalidArgument', 'GET', ['location', ''], ['tagging', '']),
  {
    what: 'vendor parameter with a name that no header can have',
    code: 'InvalidArgument',
    send: (on) => presignedThen({ query: [[`${on.prefix}a b`, 'x']] })(on),
  },
  {
    what: 'vendor parameter with a line end',
    code: 'InvalidArgument',
    send: (on) => presignedThen({ query: [[`${on.prefix}meta-a`, 'x\r\ny: z']] })(on),
  },
  {
    what: 'vendor parameter twice',
    code: 'InvalidArgument',
    send: (on) =>
      presignedThen({
        query: [
          [`${on.prefix}checksum-mode`, 'ENABLED'],
          [`${on.prefix}checksum-mode`, 'ENABLED'],
        ],
      })(on),
  },
  {
    what: 'query with a broken escape',
    code: 'InvalidURI',
    send: signedThen({ path: '/wire' }, (signed) => ({ ...signed, target: '/wire?prefix=%zz' })),
  },
  {
    what: 'query with half an escape',
    code: 'InvalidURI',
    send: signedThen({ path: '/wire' }, (signed) => ({ ...signed, target: '/wire?prefix=%4' })),
  },
]
