/** DeleteObjects over the wire. */
import { DeleteObjectsCommand, type ObjectIdentifier } from '@aws-sdk/client-s3'
import { expect } from 'vitest'
import { algorithms, md5Base64, md5Hex, referenceChecksum } from '../support/wire-checksums.ts'
import type { Ask, Wire } from '../support/wire-client.ts'
import { type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { sdk } from '../support/wire-sdk.ts'
import { otherKey } from '../support/wire-server.ts'

const document = (objects: readonly string[], more = ''): string =>
  `<Delete>${objects.map((object) => `<Object>${object}</Object>`).join('')}${more}</Delete>`
const named = (...keys: string[]): string => document(keys.map((key) => `<Key>${key}</Key>`))

/** With the digest that S3 asks of every such request. */
const ask = (body: string, more: Partial<Ask> = {}): Ask => ({
  method: 'POST',
  query: { delete: '' },
  headers: { 'Content-MD5': md5Base64(body) },
  body,
  ...more,
})
const throughSdk = (Objects: ObjectIdentifier[], output: object = {}, Quiet?: boolean) =>
  sdk(DeleteObjectsCommand, { Bucket: 'wire', Delete: Quiet === undefined ? { Objects } : { Objects, Quiet } }, output)

const stored = async (wire: Wire): Promise<void> => {
  for (const key of ['a', 'b', 'c']) await wire.must({ method: 'PUT', key, body: key })
}
const left = (keys: string[]) => async (wire: Wire) => {
  const { body } = await wire.must({ method: 'GET' })
  expect([...body.toString().matchAll(/<Key>(.*?)<\/Key>/g)].map(([, key]) => key)).toEqual(keys)
}

const error = (Key: string, Code: string) => ({ Key, Code, Message: expect.any(String) })

const answered: Row[] = [
  {
    it: 'removes the objects named, and answers each',
    proves: ['element:Delete/Object/Key'],
    status: 200,
    given: stored,
    ask: ask(named('a', 'c')),
    headers: { 'Content-Type': 'application/xml' },
    xml: { DeleteResult: { Deleted: [{ Key: 'a' }, { Key: 'c' }] } },
    afterwards: left(['b']),
    sdk: throughSdk([{ Key: 'a' }, { Key: 'c' }], { Deleted: [{ Key: 'a' }, { Key: 'c' }] }),
  },
  {
    it: 'answers a key that is not there as removed',
    status: 200,
    ask: ask(named('nothing')),
    xml: { DeleteResult: { Deleted: { Key: 'nothing' } } },
    sdk: throughSdk([{ Key: 'nothing' }], { Deleted: [{ Key: 'nothing' }] }),
  },
  {
    it: 'answers a key once that is named twice',
    status: 200,
    given: stored,
    ask: ask(named('a', 'a')),
    xml: { DeleteResult: { Deleted: { Key: 'a' } } },
    afterwards: left(['b', 'c']),
  },
  {
    it: 'answers nothing that went well in quiet mode',
    proves: ['element:Delete/Quiet'],
    status: 200,
    given: stored,
    ask: ask(document(['<Key>a</Key>'], '<Quiet>true</Quiet>')),
    xml: { DeleteResult: '' },
    afterwards: left(['b', 'c']),
    sdk: throughSdk([{ Key: 'a' }], { Deleted: undefined, Errors: undefined }, true),
  },
  {
    it: 'answers each with Quiet false',
    proves: ['element:Delete/Quiet'],
    status: 200,
    given: stored,
    ask: ask(document(['<Key>a</Key>'], '<Quiet>false</Quiet>')),
    xml: { DeleteResult: { Deleted: { Key: 'a' } } },
    sdk: throughSdk([{ Key: 'a' }], { Deleted: [{ Key: 'a' }] }, false),
  },
  {
    it: 'refuses the whole request for a key that is too long',
    ...refusal('KeyTooLongError', { Size: '1025', MaxSizeAllowed: '1024' }),
    given: stored,
    ask: ask(document(['<Key>a</Key>', `<Key>${'k'.repeat(1025)}</Key>`])),
    afterwards: left(['a', 'b', 'c']),
  },
  {
    it: 'answers errors for themselves, and removes the others',
    proves: [
      'element:Delete/Object/ETag',
      'DeleteObjects: the failure of one object is an Error in the result',
      'DeleteObjects: each object is reported in Deleted or in Error',
    ],
    status: 200,
    given: stored,
    ask: ask(document(['<Key>a</Key>', '<Key>b</Key><VersionId>v1</VersionId>', '<Key>c</Key><ETag>"another"</ETag>'])),
    xml: {
      DeleteResult: {
        Deleted: { Key: 'a' },
        Error: [{ ...error('b', 'NoSuchVersion'), VersionId: 'v1' }, error('c', 'PreconditionFailed')],
      },
    },
    afterwards: left(['b', 'c']),
    sdk: throughSdk([{ Key: 'a' }, { Key: 'b', VersionId: 'v1' }, { Key: 'c', ETag: '"another"' }], {
      Deleted: [{ Key: 'a' }],
      Errors: [
        { Key: 'b', VersionId: 'v1', Code: 'NoSuchVersion' },
        { Key: 'c', Code: 'PreconditionFailed' },
      ],
    }),
  },
  {
    it: 'answers errors in quiet mode too',
    status: 200,
    given: stored,
    ask: ask(document(['<Key>a</Key>', '<Key>b</Key><VersionId>v1</VersionId>'], '<Quiet>true</Quiet>')),
    xml: { DeleteResult: { Error: { ...error('b', 'NoSuchVersion'), VersionId: 'v1' } } },
    afterwards: left(['b', 'c']),
    sdk: throughSdk(
      [{ Key: 'a' }, { Key: 'b', VersionId: 'v1' }],
      { Deleted: undefined, Errors: [{ Key: 'b', Code: 'NoSuchVersion' }] },
      true,
    ),
  },
  {
    it: 'removes the version null, and answers it',
    status: 200,
    given: stored,
    ask: ask(document(['<Key>a</Key><VersionId>null</VersionId>'])),
    xml: { DeleteResult: { Deleted: { Key: 'a', VersionId: 'null' } } },
    afterwards: left(['b', 'c']),
    sdk: throughSdk([{ Key: 'a', VersionId: 'null' }], { Deleted: [{ Key: 'a', VersionId: 'null' }] }),
  },
  {
    it: 'removes the object that the client knows',
    proves: ['element:Delete/Object/ETag'],
    status: 200,
    given: stored,
    ask: ask(document([`<Key>a</Key><ETag>"${md5Hex('a')}"</ETag>`])),
    xml: { DeleteResult: { Deleted: { Key: 'a' } } },
    afterwards: left(['b', 'c']),
    sdk: throughSdk([{ Key: 'a', ETag: `"${md5Hex('a')}"` }], { Deleted: [{ Key: 'a' }] }),
  },
  {
    it: 'takes an element for one entity tag, and so removes nothing for a list of them',
    status: 200,
    given: stored,
    ask: ask(document([`<Key>a</Key><ETag>"x", "${md5Hex('a')}"</ETag>`])),
    xml: { DeleteResult: { Error: error('a', 'PreconditionFailed') } },
    afterwards: left(['a', 'b', 'c']),
  },
  {
    it: 'answers NoSuchKey for an entity tag of nothing',
    status: 200,
    ask: ask(document(['<Key>a</Key><ETag>"x"</ETag>'])),
    xml: { DeleteResult: { Error: error('a', 'NoSuchKey') } },
  },
  {
    it: 'takes 1,000 keys',
    status: 200,
    ask: ask(named(...Array.from({ length: 1000 }, (_, i) => `key${i}`))),
    xml: { DeleteResult: { Deleted: Array.from({ length: 1000 }, (_, i) => ({ Key: `key${i}` })) } },
    sdk: throughSdk(Array.from({ length: 1000 }, (_, i) => ({ Key: `key${i}` }))),
  },
  {
    it: 'takes keys with characters that XML escapes',
    status: 200,
    given: async (wire) => {
      await wire.must({ method: 'PUT', key: '<&>"\'\r\n', body: 'x' })
    },
    ask: ask(named('&lt;&amp;&gt;&quot;&apos;&#13;&#xA;')),
    xml: { DeleteResult: { Deleted: { Key: '<&>"\'\r\n' } } },
    afterwards: left([]),
    sdk: throughSdk([{ Key: '<&>"\'\r\n' }], { Deleted: [{ Key: '<&>"\'\r\n' }] }),
  },
]

const body = named('a')
const keepsAll = { given: stored, afterwards: left(['a', 'b', 'c']) }

const refused: Row[] = [
  {
    it: 'refuses 1,001 keys',
    ...keepsAll,
    ...refusal('MalformedXML', {}),
    ask: ask(named('a', ...Array.from({ length: 1000 }, (_, i) => `key${i}`))),
    sdk: throughSdk(Array.from({ length: 1001 }, (_, i) => ({ Key: `key${i}` }))),
  },
  {
    it: 'deletes nothing where a key is empty',
    ...keepsAll,
    ...refusal('UserKeyMustBeSpecified', {}),
    message: 'User key must be specified.',
    ask: ask(named('', 'a')),
  },
  { it: 'refuses no keys', ...keepsAll, ...refusal('MalformedXML', {}), ask: ask('<Delete/>'), sdk: throughSdk([]) },
  { it: 'refuses no body', ...keepsAll, ...refusal('MissingRequestBodyError', {}), ask: ask('') },
  {
    it: 'refuses a document without any digest',
    ...keepsAll,
    ...refusal('InvalidRequest', {}),
    ask: ask(body, { headers: {} }),
  },
  {
    it: 'refuses a wrong Content-MD5',
    ...keepsAll,
    ...refusal('BadDigest', { ExpectedDigest: md5Base64('another'), CalculatedDigest: md5Base64(body) }),
    ask: ask(body, { headers: { 'Content-MD5': md5Base64('another') } }),
  },
  {
    it: 'refuses a malformed Content-MD5',
    ...keepsAll,
    ...refusal('InvalidDigest', { 'Content-MD5': 'x' }),
    ask: ask(body, { headers: { 'Content-MD5': 'x' } }),
  },
  {
    it: 'refuses a wrong checksum',
    ...keepsAll,
    ...refusal('BadDigest', {}),
    message: 'The SHA256 you specified did not match the calculated checksum.',
    ask: ask(body, { headers: {}, vendor: { 'checksum-sha256': referenceChecksum('SHA256', 'another') } }),
  },
  {
    it: 'refuses a checksum that is announced and not sent',
    ...keepsAll,
    ...refusal('InvalidRequest', {}),
    message:
      '{{prefix}}sdk-checksum-algorithm specified, but no corresponding {{prefix}}checksum-* or {{prefix}}trailer headers were found.',
    ask: ask(body, {
      headers: { 'Content-MD5': md5Base64(body) },
      vendor: { 'sdk-checksum-algorithm': 'CRC32' },
    }),
  },
  {
    it: 'refuses another checksum than the one that is announced',
    ...keepsAll,
    ...refusal('InvalidRequest', {}),
    message: 'Value for {{prefix}}sdk-checksum-algorithm header is invalid.',
    ask: ask(body, {
      headers: {},
      vendor: { 'checksum-sha256': referenceChecksum('SHA256', body), 'sdk-checksum-algorithm': 'CRC32' },
    }),
  },
  {
    it: 'refuses a malformed checksum',
    ...keepsAll,
    ...refusal('InvalidRequest', {}),
    message: 'Value for {{prefix}}checksum-sha256 header is invalid.',
    ask: ask(body, { headers: {}, vendor: { 'checksum-sha256': 'AAAA' } }),
  },
  ...['mfa'].map(
    (name): Row => ({
      it: `refuses ${name} by name`,
      ...keepsAll,
      ...refusal('NotImplemented', { NotImplemented: `{{prefix}}${name}` }),
      ask: ask(body, { vendor: { [name]: 'true' } }),
    }),
  ),
  {
    it: 'answers NoSuchBucket where there is no bucket',
    withoutBucket: true,
    ...refusal('NoSuchBucket', { BucketName: 'wire' }),
    ask: ask(body),
    sdk: throughSdk([{ Key: 'a' }]),
  },
  {
    it: "answers AccessDenied for another account's bucket, and removes nothing",
    ...keepsAll,
    ...refusal('AccessDenied', {}),
    ask: ask(body, { signedBy: otherKey }),
  },
  {
    it: 'answers AccessDenied where another owner is expected',
    ...keepsAll,
    ...refusal('AccessDenied', {}),
    ask: ask(body, { vendor: { 'expected-bucket-owner': 'other' } }),
  },
]

const digested: Row[] = algorithms.map((algorithm) => ({
  it: `accepts ${algorithm} in the place of Content-MD5`,
  status: 200,
  given: stored,
  ask: ask(body, {
    headers: {},
    vendor: { [`checksum-${algorithm.toLowerCase()}`]: referenceChecksum(algorithm, body) },
  }),
  xml: { DeleteResult: { Deleted: { Key: 'a' } } },
  sdk: sdk(DeleteObjectsCommand, {
    Bucket: 'wire',
    ChecksumAlgorithm: algorithm === 'CRC64NVME' ? 'CRC32' : algorithm,
    Delete: { Objects: [{ Key: 'a' }] },
  }),
}))

wireTests('DeleteObjects', [...answered, ...digested, ...refused])
