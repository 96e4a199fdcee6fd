/** PutObject over the wire: attributes, conditions, Content-MD5. Tags and refusals, checksums, and framings of the body have tests of their own. */
import { PutObjectCommand } from '@aws-sdk/client-s3'
import { expect } from 'vitest'
import { md5Base64, md5Hex } from '../support/wire-checksums.ts'
import type { Reply, Wire } from '../support/wire-client.ts'
import { type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { sdk } from '../support/wire-sdk.ts'
import { otherKey } from '../support/wire-server.ts'

const text = 'hello, wire'
const etag = `"${md5Hex(text)}"`
const put = { method: 'PUT', key: 'a', body: text } as const
const stored = { status: 200, headers: { ETag: etag, 'Content-Length': '0' } }
const input = { Bucket: 'wire', Key: 'a', Body: text }

const old = async (wire: Wire): Promise<void> => {
  await wire.must({ method: 'PUT', key: 'a', body: 'old', vendor: { 'meta-age': 'old', tagging: 'age=old' } })
}
const oldEtag = `"${md5Hex('old')}"`

const answers =
  (body: string) =>
  async (wire: Wire): Promise<void> => {
    expect((await wire.must({ method: 'GET', key: 'a' })).body.toString()).toBe(body)
  }
const answersHead =
  (check: (reply: Reply, prefix: string) => void) =>
  async (wire: Wire): Promise<void> =>
    check(await wire.must({ method: 'HEAD', key: 'a' }), wire.style.prefix)
const isNotThere = async (wire: Wire): Promise<void> => {
  expect((await wire.ask({ method: 'HEAD', key: 'a' })).status).toBe(404)
}
const isOld = answers('old')

const rows: Row[] = [
  {
    it: 'stores the bytes',
    proves: ['PutObject: the object exists', 'the body of an answer is empty unless stated'],
    ...stored,
    ask: put,
    afterwards: answers(text),
    sdk: sdk(PutObjectCommand, input, { ETag: etag }),
  },
  {
    it: 'stores an empty object',
    status: 200,
    ask: { ...put, body: '' },
    headers: { ETag: `"${md5Hex('')}"` },
    afterwards: answers(''),
    sdk: sdk(PutObjectCommand, { ...input, Body: '' }, { ETag: `"${md5Hex('')}"` }),
  },
  {
    it: 'replaces the object with all that was stored with it',
    ...stored,
    given: old,
    ask: put,
    afterwards: answersHead(({ headers }, prefix) => {
      expect([headers.get('etag'), headers.get(`${prefix}meta-age`), headers.get(`${prefix}tagging-count`)]).toEqual([
        etag,
        undefined,
        undefined,
      ])
    }),
  },
  {
    it: 'stores the headers that describe the object',
    ...stored,
    ask: {
      ...put,
      headers: {
        'Content-Type': 'text/plain',
        'Content-Language': 'fr',
        'Content-Disposition': 'inline',
        'Cache-Control': 'private',
        Expires: 'never',
      },
    },
    afterwards: answersHead(({ headers }) => {
      const names = ['content-type', 'content-language', 'content-disposition', 'cache-control', 'expires']
      expect(names.map((name) => headers.get(name))).toEqual(['text/plain', 'fr', 'inline', 'private', 'never'])
    }),
    sdk: sdk(PutObjectCommand, { ...input, ContentType: 'text/plain', ContentLanguage: 'fr', CacheControl: 'private' }),
  },
  {
    it: 'takes an empty Content-Type for none, because browsers would guess the type of what has none',
    ...stored,
    ask: { ...put, headers: { 'Content-Type': '' } },
    afterwards: answersHead(({ headers }) => expect(headers.get('content-type')).toBe('binary/octet-stream')),
  },
  {
    it: 'stores Content-Encoding without aws-chunked, which says how the request was framed',
    ...stored,
    ask: { ...put, headers: { 'Content-Encoding': 'aws-chunked, gzip' } },
    afterwards: answersHead(({ headers }) => expect(headers.get('content-encoding')).toBe('gzip')),
  },
  {
    it: 'keeps bytes above ASCII in metadata as they came',
    ...stored,
    ask: { ...put, vendor: { 'meta-name': Buffer.from('Ünïcödé 日本 🎉').toString('latin1') } },
    afterwards: answersHead(({ headers }, prefix) => {
      expect(Buffer.from(headers.get(`${prefix}meta-name`) ?? '', 'latin1').toString()).toBe('Ünïcödé 日本 🎉')
    }),
  },
  {
    it: 'keeps names of metadata in lower case',
    ...stored,
    ask: { ...put, vendor: { 'meta-CamelCase': 'x', 'meta-a.b_c': 'y' } },
    afterwards: answersHead(({ headers }, prefix) => {
      expect([headers.get(`${prefix}meta-camelcase`), headers.get(`${prefix}meta-a.b_c`)]).toEqual(['x', 'y'])
    }),
    sdk: sdk(PutObjectCommand, { ...input, Metadata: { CamelCase: 'x' } }),
  },
  { it: 'takes 2 KiB of metadata', ...stored, ask: { ...put, vendor: { 'meta-k': 'v'.repeat(2047) } } },
  {
    it: 'refuses more than 2 KiB of metadata',
    ...refusal('MetadataTooLarge', { Size: '2049', MaxSizeAllowed: '2048' }),
    ask: { ...put, vendor: { 'meta-k': 'v'.repeat(2048) } },
    afterwards: isNotThere,
    sdk: sdk(PutObjectCommand, { ...input, Metadata: { k: 'v'.repeat(2048) } }),
  },
  {
    it: 'stores an object at a key of 1,024 bytes',
    ...stored,
    ask: { ...put, key: 'ü'.repeat(512) },
    sdk: sdk(PutObjectCommand, { ...input, Key: 'ü'.repeat(512) }),
  },
  {
    it: 'refuses a key of 1,025 bytes',
    ...refusal('KeyTooLongError', { Size: '1025', MaxSizeAllowed: '1024' }),
    takenFor: '',
    ask: { ...put, key: `${'ü'.repeat(512)}x` },
    sdk: sdk(PutObjectCommand, { ...input, Key: `${'ü'.repeat(512)}x` }),
  },
  {
    it: 'accepts the class STANDARD',
    ...stored,
    ask: { ...put, vendor: { 'storage-class': 'STANDARD' } },
    sdk: sdk(PutObjectCommand, { ...input, StorageClass: 'STANDARD' }),
  },
  {
    it: 'refuses a class that nobody knows',
    ...refusal('InvalidStorageClass', { StorageClassRequested: 'COLD' }),
    ask: { ...put, vendor: { 'storage-class': 'COLD' } },
    afterwards: isNotThere,
    sdk: sdk(PutObjectCommand, { ...input, StorageClass: 'COLD' as 'GLACIER' }),
  },
  {
    it: 'answers NoSuchBucket where there is no bucket',
    withoutBucket: true,
    ...refusal('NoSuchBucket', { BucketName: 'wire' }),
    ask: put,
    sdk: sdk(PutObjectCommand, input),
  },
  {
    it: "answers AccessDenied for another account's bucket",
    ...refusal('AccessDenied', {}),
    ask: { ...put, signedBy: otherKey },
    afterwards: isNotThere,
  },
  {
    it: 'accepts the owner that is expected',
    ...stored,
    ask: { ...put, vendor: { 'expected-bucket-owner': 'main' } },
    sdk: sdk(PutObjectCommand, { ...input, ExpectedBucketOwner: 'main' }),
  },
  {
    it: 'answers AccessDenied where another owner is expected',
    ...refusal('AccessDenied', {}),
    ask: { ...put, vendor: { 'expected-bucket-owner': 'other' } },
    afterwards: isNotThere,
    sdk: sdk(PutObjectCommand, { ...input, ExpectedBucketOwner: 'other' }),
  },
  {
    it: 'accepts an unsigned body',
    ...stored,
    ask: { ...put, payload: 'unsigned' },
    afterwards: answers(text),
  },
]

const conditions: Row[] = [
  {
    it: 'writes if there is nothing, where there is nothing',
    proves: ['header:If-None-Match'],
    ...stored,
    ask: { ...put, headers: { 'If-None-Match': '*' } },
    afterwards: answers(text),
    sdk: sdk(PutObjectCommand, { ...input, IfNoneMatch: '*' }),
  },
  {
    it: 'does not write if there is nothing, where there is something',
    proves: ['header:If-None-Match', '412: a write with If-None-Match where the key exists'],
    ...refusal('PreconditionFailed', { Condition: 'If-None-Match' }),
    given: old,
    ask: { ...put, headers: { 'If-None-Match': '*' } },
    afterwards: isOld,
    sdk: sdk(PutObjectCommand, { ...input, IfNoneMatch: '*' }),
  },
  {
    it: 'refuses If-None-Match with a tag by name',
    ...refusal('NotImplemented', { Header: 'If-None-Match' }),
    given: old,
    ask: { ...put, headers: { 'If-None-Match': '"tag"' } },
    afterwards: isOld,
  },
  {
    it: 'writes over the object that the client knows',
    proves: ['header:If-Match'],
    ...stored,
    given: old,
    ask: { ...put, headers: { 'If-Match': oldEtag } },
    afterwards: answers(text),
    sdk: sdk(PutObjectCommand, { ...input, IfMatch: oldEtag }),
  },
  {
    it: 'writes over any object with If-Match: *',
    ...stored,
    given: old,
    ask: { ...put, headers: { 'If-Match': '*' } },
    afterwards: answers(text),
  },
  {
    it: 'does not write over another object than the client knows',
    proves: ['header:If-Match'],
    ...refusal('PreconditionFailed', { Condition: 'If-Match' }),
    given: old,
    ask: { ...put, headers: { 'If-Match': etag } },
    afterwards: isOld,
    sdk: sdk(PutObjectCommand, { ...input, IfMatch: etag }),
  },
  {
    it: 'answers NoSuchKey to If-Match where there is nothing',
    ...refusal('NoSuchKey', { Key: 'a' }),
    ask: { ...put, headers: { 'If-Match': etag } },
    afterwards: isNotThere,
    sdk: sdk(PutObjectCommand, { ...input, IfMatch: etag }),
  },
]

const digests: Row[] = [
  {
    it: 'accepts the right Content-MD5',
    ...stored,
    ask: { ...put, headers: { 'Content-MD5': md5Base64(text) } },
    sdk: sdk(PutObjectCommand, { ...input, ContentMD5: md5Base64(text) }),
  },
  {
    it: 'refuses a wrong Content-MD5, and stores nothing',
    ...refusal('BadDigest', { ExpectedDigest: md5Hex('other'), CalculatedDigest: md5Base64(text) }),
    given: old,
    ask: { ...put, headers: { 'Content-MD5': md5Base64('other') } },
    afterwards: isOld,
    sdk: sdk(PutObjectCommand, { ...input, ContentMD5: md5Base64('other') }),
  },
  ...[
    '',
    'x',
    'not base64!',
    md5Hex(text),
    md5Base64(text).replace('=', ''),
    Buffer.alloc(15).toString('base64'),
    Buffer.alloc(17).toString('base64'),
  ].map(
    (value): Row => ({
      it: `refuses Content-MD5 "${value}"`,
      ...refusal('InvalidDigest', { 'Content-MD5': value }),
      ask: { ...put, headers: { 'Content-MD5': value } },
      afterwards: isNotThere,
    }),
  ),
]

wireTests('PutObject', [...rows, ...conditions, ...digests])
