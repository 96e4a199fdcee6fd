/** Buckets that can have no such name, keys that are too long, and paths that cannot be decoded. */
import type { ErrorCode } from '../../../src/errors.ts'
import { type BadInput, signedThen } from '../../support/wire-bad-input.ts'

const invalidNames = [
  'ab',
  'a'.repeat(64),
  'Upper',
  'under_score',
  'double..dot',
  '-leading',
  'trailing-',
  '.leading',
  'trailing.',
  '192.168.5.4',
  'xn--bucket',
  'sthree-bucket',
  'bucket-s3alias',
  'bucket--ol-s3',
  'spa%20ce',
  'b%C3%BCcket',
  '%2e%2e',
  '..',
  'nul%00byte',
  '%3Cscript%3E',
]

const path = (what: string, code: ErrorCode, target: string, method = 'GET'): BadInput => ({
  what: `path ${what}`,
  code,
  send: signedThen({ method, path: target }),
})

/** Sent as it is behind a signature for something else: the path fails before the signature is compared. */
const rawPath = (what: string, code: ErrorCode, target: string): BadInput => ({
  what: `path ${what}`,
  code,
  send: signedThen({}, (signed) => ({ ...signed, target })),
})

export const badAddresses: readonly BadInput[] = [
  ...invalidNames.map(
    (name): BadInput => ({
      what: `bucket ${name}`,
      code: 'InvalidBucketName',
      send: signedThen({ method: 'PUT', path: `/${name}` }),
    }),
  ),
  { what: 'bucket without a name in front of a key', code: 'InvalidBucketName', send: signedThen({ path: '//a' }) },
  {
    what: 'bucket that is there, over again with Object Lock',
    code: 'BucketAlreadyOwnedByYou',
    send: signedThen({ method: 'PUT', path: '/wire', vendor: [['bucket-object-lock-enabled', 'true']] }),
  },
  {
    what: 'bucket in capitals that is there in small letters',
    code: 'NoSuchBucket',
    send: signedThen({ path: '/WIRE/a' }),
  },
  { what: 'bucket that is not there', code: 'NoSuchBucket', send: signedThen({ path: '/nowhere/a' }) },
  { what: 'bucket that is not empty', code: 'BucketNotEmpty', send: signedThen({ method: 'DELETE', path: '/wire' }) },
  {
    what: 'bucket in Host that can have no such name',
    code: 'InvalidBucketName',
    send: signedThen({ method: 'PUT', path: '/', host: 'under_score.localhost' }),
  },
  {
    what: 'bucket in Host that is empty',
    code: 'InvalidBucketName',
    send: signedThen({ path: '/', host: '.localhost' }),
  },
  path('with an escaped slash behind its bucket', 'NoSuchBucket', '/a%2Fb', 'PUT'),
  path('of a key of 1,025 bytes', 'KeyTooLongError', `/wire/${'k'.repeat(1025)}`, 'PUT'),
  path('of a key of 1,026 bytes in 513 characters', 'KeyTooLongError', `/wire/${'%C3%BC'.repeat(513)}`, 'PUT'),
  path('of a key of 10,000 bytes', 'KeyTooLongError', `/wire/${'k'.repeat(10_000)}`),
  path('of a key that is not there', 'NoSuchKey', '/wire/nothing'),
  path('that climbs is a key like any other', 'NoSuchKey', '/wire/../../etc/passwd'),
  path('that climbs in escapes is a key like any other', 'NoSuchKey', '/wire/%2e%2e/%2e%2e/etc/passwd'),
  path('that climbs out of the bucket names no other', 'NoSuchKey', '/wire/../other/a'),
  path('of an escaped slash is a key like any other', 'NoSuchKey', '/wire/%2fa'),
  path('decoded twice would be there', 'NoSuchKey', '/wire/%2561'),
  rawPath('with a broken escape', 'InvalidURI', '/wire/%zz'),
  rawPath('with half an escape', 'InvalidURI', '/wire/%4'),
  rawPath('with a percent sign at its end', 'InvalidURI', '/wire/a%'),
  path('that is not UTF-8', 'InvalidURI', '/wire/%ff'),
  path('with half a character', 'InvalidURI', '/wire/%c3'),
  path('in overlong UTF-8', 'InvalidURI', '/wire/%c0%af'),
  path('with an overlong NUL', 'InvalidURI', '/wire/%c0%80'),
  path('with a surrogate in UTF-8', 'InvalidURI', '/wire/%ed%a0%80'),
  path('beyond Unicode', 'InvalidURI', '/wire/%f4%90%80%80'),
  rawPath('that is no path', 'InvalidURI', '*'),
  rawPath('that is empty but for a scheme of another kind', 'InvalidURI', 'ftp://127.0.0.1/wire/a'),
  rawPath('of another host than Host', 'BadRequest', 'http://elsewhere/wire/a'),
  {
    what: 'HEAD of a key that is not there',
    code: 'NoSuchKey',
    bodiless: true,
    send: signedThen({ method: 'HEAD', path: '/wire/nothing' }),
  },
  { what: 'POST to the service', code: 'MethodNotAllowed', send: signedThen({ method: 'POST', path: '/' }) },
  { what: 'DELETE of the service', code: 'MethodNotAllowed', send: signedThen({ method: 'DELETE', path: '/' }) },
  { what: 'PATCH of an object', code: 'MethodNotAllowed', send: signedThen({ method: 'PATCH' }) },
  { what: 'OPTIONS without an origin', code: 'BadRequest', send: signedThen({ method: 'OPTIONS' }) },
  {
    what: 'OPTIONS without a CORS configuration',
    code: 'AccessForbidden',
    send: signedThen({ method: 'OPTIONS', headers: [['Origin', 'https://app.test']] }),
  },
  {
    what: 'form post that is signed as a whole',
    code: 'PreconditionFailed',
    send: signedThen({
      method: 'POST',
      path: '/wire',
      headers: [['Content-Type', 'multipart/form-data; boundary=x']],
      body: '--x--',
    }),
  },
]
