/** Bodies that are not what their headers say. */
import { createHash } from 'node:crypto'
import type { HeaderPair } from '../../support/signer.ts'
import { type BadInput, removeHeader, setBody, setHeader, signedThen } from '../../support/wire-bad-input.ts'
import { md5Base64, referenceChecksum } from '../../support/wire-checksums.ts'

const put = (
  what: string,
  code: BadInput['code'],
  headers: readonly HeaderPair[],
  vendor: readonly HeaderPair[] = [],
): BadInput => ({
  what: `body with ${what}`,
  code,
  send: signedThen({ method: 'PUT', headers, vendor, body: 'x' }),
})

const length = (what: string, code: BadInput['code'], value: string, ends?: true): BadInput => ({
  what: `Content-Length ${what}`,
  code,
  send: signedThen({ method: 'PUT', body: 'x' }, (signed) => setHeader(signed, 'Content-Length', value)),
  ...(ends === undefined ? {} : { ends }),
})

/** An optional document that somebody on the way took off a request. */
const creation = { method: 'PUT', path: '/new-bucket', body: '<CreateBucketConfiguration/>' }
const takenOff = setBody('')

export const badBodies: readonly BadInput[] = [
  { what: 'signed document taken off', code: 'XAmzContentSHA256Mismatch', send: signedThen(creation, takenOff) },
  {
    what: 'signed document taken off with its length',
    code: 'XAmzContentSHA256Mismatch',
    send: signedThen(creation, (signed, on) => removeHeader('Content-Length')(takenOff(signed, on), on)),
  },
  {
    what: 'document with a Content-MD5 taken off',
    code: 'BadDigest',
    send: signedThen(
      { ...creation, headers: [['Content-MD5', md5Base64(creation.body)]], payloadHash: 'UNSIGNED-PAYLOAD' },
      takenOff,
    ),
  },
  {
    what: 'body that is not what was signed',
    code: 'XAmzContentSHA256Mismatch',
    send: signedThen({ method: 'PUT', body: 'signed' }, setBody('other!')),
  },
  {
    what: 'body that has another SHA-256 than it says',
    code: 'XAmzContentSHA256Mismatch',
    send: signedThen({ method: 'PUT', body: 'x', payloadHash: createHash('sha256').update('y').digest('hex') }),
  },
  {
    what: 'large body that is not what was signed',
    code: 'XAmzContentSHA256Mismatch',
    send: signedThen({ method: 'PUT', body: 'x'.repeat(300_000) }, setBody(`${'x'.repeat(299_999)}y`)),
  },
  {
    what: 'document that is not what was signed',
    code: 'XAmzContentSHA256Mismatch',
    send: signedThen({
      method: 'PUT',
      path: '/wire',
      query: [['tagging', '']],
      body: '<Tagging><TagSet/></Tagging>',
      payloadHash: createHash('sha256').update('y').digest('hex'),
    }),
  },
  put('a wrong Content-MD5', 'BadDigest', [['Content-MD5', md5Base64('y')]]),
  put('a Content-MD5 in hex', 'InvalidDigest', [['Content-MD5', createHash('md5').update('x').digest('hex')]]),
  put('an empty Content-MD5', 'InvalidDigest', [['Content-MD5', '']]),
  put('a Content-MD5 without its padding', 'InvalidDigest', [['Content-MD5', md5Base64('x').slice(0, -2)]]),
  put('a Content-MD5 of 15 bytes', 'InvalidDigest', [['Content-MD5', Buffer.alloc(15).toString('base64')]]),
  ...(['CRC32', 'CRC32C', 'CRC64NVME', 'SHA1', 'SHA256'] as const).flatMap((algorithm): BadInput[] => {
    const name = `checksum-${algorithm.toLowerCase()}`
    return [
      put(`a wrong ${algorithm}`, 'BadDigest', [], [[name, referenceChecksum(algorithm, 'y')]]),
      put(`a malformed ${algorithm}`, 'InvalidRequest', [], [[name, '!']]),
      put(`an empty ${algorithm}`, 'InvalidRequest', [], [[name, '']]),
    ]
  }),
  put(
    'two checksums',
    'InvalidRequest',
    [],
    [
      ['checksum-crc32', referenceChecksum('CRC32', 'x')],
      ['checksum-sha1', referenceChecksum('SHA1', 'x')],
    ],
  ),
  put(
    'a checksum twice',
    'InvalidArgument',
    [],
    [
      ['checksum-crc32', referenceChecksum('CRC32', 'x')],
      ['checksum-crc32', referenceChecksum('CRC32', 'x')],
    ],
  ),
  put('a checksum announced that does not come', 'InvalidRequest', [], [['sdk-checksum-algorithm', 'SHA256']]),
  put('a checksum announced that nobody knows', 'InvalidRequest', [], [['sdk-checksum-algorithm', 'MD6']]),
  {
    what: 'Content-Length missing',
    code: 'MissingContentLength',
    send: signedThen({ method: 'PUT' }, removeHeader('Content-Length')),
  },
  length('negative', 'BadRequest', '-1'),
  length('in words', 'BadRequest', 'one'),
  length('with a sign', 'BadRequest', '+1'),
  length('in hex', 'BadRequest', '0x1'),
  length('with a point', 'BadRequest', '1.0'),
  length('of two values', 'BadRequest', '1, 1'),
  length('empty', 'BadRequest', ''),
  length('of 25 digits', 'BadRequest', '9'.repeat(25)),
  length('beyond 5 GiB', 'EntityTooLarge', '5368709121'),
  length('of more than comes', 'IncompleteBody', '2', true),
]
