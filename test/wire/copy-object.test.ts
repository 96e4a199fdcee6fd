/** CopyObject over the wire. */
import { CopyObjectCommand } from '@aws-sdk/client-s3'
import { expect } from 'vitest'
import { md5Hex, referenceChecksum } from '../support/wire-checksums.ts'
import type { Ask, Reply, Wire } from '../support/wire-client.ts'
import { unkeptHeaders } from '../support/wire-refused.ts'
import { anInstant, type Facts, type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { sdk } from '../support/wire-sdk.ts'
import { otherKey } from '../support/wire-server.ts'
import { multipartObject, partOf } from '../support/wire-uploads.ts'

const text = 'to be copied'
const etag = `"${md5Hex(text)}"`

/** The source, in a bucket of its own; its Last-Modified is a fact. */
async function source(wire: Wire): Promise<Facts> {
  await wire.must({ method: 'PUT', bucket: 'source' })
  await wire.must({
    method: 'PUT',
    bucket: 'source',
    key: 'from',
    body: text,
    headers: { 'Content-Type': 'text/plain', 'Cache-Control': 'no-cache' },
    vendor: { 'meta-colour': 'red', tagging: 'a=1&b=2' },
  })
  const { headers } = await wire.must({ method: 'HEAD', bucket: 'source', key: 'from' })
  return { lastModified: headers.get('last-modified') ?? '' }
}

const copy = (vendor: Record<string, string> = {}, more: Partial<Ask> = {}): Ask => ({
  method: 'PUT',
  key: 'to',
  vendor: { 'copy-source': '/source/from', ...vendor },
  ...more,
})
const input = { Bucket: 'wire', Key: 'to', CopySource: '/source/from' }
const copied = { status: 200, given: source, xml: { CopyObjectResult: { LastModified: anInstant, ETag: etag } } }

const answers =
  (check: (reply: Reply, prefix: string) => void, key = 'to') =>
  async (wire: Wire): Promise<void> =>
    check(await wire.must({ method: 'GET', key }), wire.style.prefix)
const isCopy = answers(({ body }) => expect(body.toString()).toBe(text))
const isNotThere = async (wire: Wire): Promise<void> => {
  expect((await wire.ask({ method: 'HEAD', key: 'to' })).status).toBe(404)
}
const described = ({ headers }: Reply, prefix: string) =>
  ['content-type', 'cache-control', `${prefix}meta-colour`, `${prefix}meta-size`, `${prefix}tagging-count`].map(
    (name) => headers.get(name),
  )

const rows: Row[] = [
  {
    it: 'copies bytes, headers, metadata and tags',
    ...copied,
    ask: copy(),
    headers: { 'Content-Type': 'application/xml' },
    afterwards: answers((reply, prefix) => {
      expect(reply.body.toString()).toBe(text)
      expect(described(reply, prefix)).toEqual(['text/plain', 'no-cache', 'red', undefined, '2'])
    }),
    sdk: sdk(CopyObjectCommand, input, { CopyObjectResult: { ETag: etag, LastModified: expect.any(Date) } }),
  },
  {
    it: 'reads a source without the first slash',
    ...copied,
    ask: copy({ 'copy-source': 'source/from' }),
    afterwards: isCopy,
    sdk: sdk(CopyObjectCommand, { ...input, CopySource: 'source/from' }),
  },
  {
    it: 'reads a source that is encoded through and through',
    ...copied,
    ask: copy({ 'copy-source': '%2Fsource%2Ffr%6Fm' }),
    afterwards: isCopy,
  },
  {
    it: 'reads the version null of a source',
    ...copied,
    ask: copy({ 'copy-source': '/source/from?versionId=null' }),
    afterwards: isCopy,
    sdk: sdk(CopyObjectCommand, { ...input, CopySource: '/source/from?versionId=null' }),
  },
  {
    it: 'copies what is replaced afterwards as it was',
    ...copied,
    ask: copy(),
    afterwards: async (wire) => {
      await wire.must({ method: 'PUT', bucket: 'source', key: 'from', body: 'new' })
      await isCopy(wire)
    },
  },
  {
    it: 'copies an empty object',
    status: 200,
    given: async (wire) => {
      await wire.must({ method: 'PUT', key: 'empty', body: '' })
    },
    ask: copy({ 'copy-source': '/wire/empty' }),
    xml: { CopyObjectResult: { LastModified: anInstant, ETag: `"${md5Hex('')}"` } },
  },
  {
    it: 'copies an object made of parts into one of one piece',
    status: 200,
    given: (wire) => multipartObject(wire, [partOf(1), partOf(2, 10)]),
    ask: copy({ 'copy-source': '/wire/big' }),
    xml: {
      CopyObjectResult: { LastModified: anInstant, ETag: `"${md5Hex(Buffer.concat([partOf(1), partOf(2, 10)]))}"` },
    },
  },
]

const replaced = { 'Content-Type': 'image/png' }
const directives: Row[] = [
  {
    it: 'takes the metadata of the request when told to replace it, and the tags of the source all the same',
    ...copied,
    ask: copy({ 'metadata-directive': 'REPLACE', 'meta-size': 'L' }, { headers: replaced }),
    afterwards: answers((reply, prefix) =>
      expect(described(reply, prefix)).toEqual(['image/png', undefined, undefined, 'L', '2']),
    ),
    sdk: sdk(CopyObjectCommand, {
      ...input,
      MetadataDirective: 'REPLACE',
      ContentType: 'image/png',
      Metadata: { size: 'L' },
    }),
  },
  {
    it: 'takes the metadata of the source when told to copy it, whatever the request says',
    ...copied,
    ask: copy({ 'metadata-directive': 'COPY', 'meta-size': 'L' }, { headers: replaced }),
    afterwards: answers((reply, prefix) =>
      expect(described(reply, prefix)).toEqual(['text/plain', 'no-cache', 'red', undefined, '2']),
    ),
    sdk: sdk(CopyObjectCommand, { ...input, MetadataDirective: 'COPY' }),
  },
  {
    it: 'takes the tags of the request when told to replace them',
    ...copied,
    ask: copy({ 'tagging-directive': 'REPLACE', tagging: 'c=3' }),
    afterwards: answers((reply, prefix) =>
      expect(described(reply, prefix)).toEqual(['text/plain', 'no-cache', 'red', undefined, '1']),
    ),
    sdk: sdk(CopyObjectCommand, { ...input, TaggingDirective: 'REPLACE', Tagging: 'c=3' }),
  },
  {
    it: 'removes the tags when told to replace them by none',
    ...copied,
    ask: copy({ 'tagging-directive': 'REPLACE' }),
    afterwards: answers(({ headers }, prefix) => expect(headers.get(`${prefix}tagging-count`)).toBeUndefined()),
  },
  {
    it: 'refuses tags that are none',
    ...refusal('InvalidTag'),
    given: source,
    ask: copy({ 'tagging-directive': 'REPLACE', tagging: 'a=1&a=2' }),
    afterwards: isNotThere,
  },
  ...['metadata-directive', 'tagging-directive'].map(
    (name): Row => ({
      it: `refuses a ${name} that it does not know`,
      ...refusal('InvalidArgument', { ArgumentName: `{{prefix}}${name}`, ArgumentValue: 'MERGE' }),
      given: source,
      ask: copy({ [name]: 'MERGE' }),
      afterwards: isNotThere,
    }),
  ),
  {
    it: 'computes the checksum that the request asks for',
    ...copied,
    ask: copy({ 'checksum-algorithm': 'SHA256' }),
    xml: {
      CopyObjectResult: {
        LastModified: anInstant,
        ETag: etag,
        ChecksumSHA256: referenceChecksum('SHA256', text),
        ChecksumType: 'FULL_OBJECT',
      },
    },
    sdk: sdk(
      CopyObjectCommand,
      { ...input, ChecksumAlgorithm: 'SHA256' },
      { CopyObjectResult: { ChecksumSHA256: referenceChecksum('SHA256', text) } },
    ),
  },
  {
    it: 'keeps the checksum of the source',
    status: 200,
    given: async (wire) => {
      await wire.must({
        method: 'PUT',
        key: 'summed',
        body: text,
        vendor: { 'checksum-crc64nvme': referenceChecksum('CRC64NVME', text) },
      })
    },
    ask: copy({ 'copy-source': '/wire/summed' }),
    xml: {
      CopyObjectResult: {
        LastModified: anInstant,
        ETag: etag,
        ChecksumCRC64NVME: referenceChecksum('CRC64NVME', text),
        ChecksumType: 'FULL_OBJECT',
      },
    },
  },
  {
    it: 'refuses a checksum that it does not know',
    ...refusal('InvalidRequest', {}),
    given: source,
    ask: copy({ 'checksum-algorithm': 'CRC16' }),
    afterwards: isNotThere,
  },
]

const self = async (wire: Wire): Promise<void> => {
  await wire.must({
    method: 'PUT',
    key: 'to',
    body: text,
    headers: { 'Content-Type': 'text/plain' },
    vendor: { 'meta-colour': 'red' },
  })
}
const onto = (vendor: Record<string, string> = {}, more: Partial<Ask> = {}) =>
  copy({ 'copy-source': '/wire/to', ...vendor }, more)

const selfCopies: Row[] = [
  {
    it: 'refuses to copy an object onto itself with nothing changed',
    ...refusal('InvalidRequest', {}),
    given: self,
    ask: onto(),
    afterwards: isCopy,
    sdk: sdk(CopyObjectCommand, { ...input, CopySource: '/wire/to' }),
  },
  {
    it: 'replaces the metadata of an object by copying it onto itself',
    ...copied,
    given: self,
    ask: onto({ 'metadata-directive': 'REPLACE', 'meta-size': 'L' }, { headers: replaced }),
    afterwards: answers((reply, prefix) => {
      expect(reply.body.toString()).toBe(text)
      expect(described(reply, prefix)).toEqual(['image/png', undefined, undefined, 'L', undefined])
    }),
    sdk: sdk(
      CopyObjectCommand,
      { ...input, CopySource: '/wire/to', MetadataDirective: 'REPLACE' },
      { CopyObjectResult: { ETag: etag } },
    ),
  },
]

const past = 'Sat, 01 Jan 2000 00:00:00 GMT'
const another = '"another"'
const condition = (name: string, value: string) => copy({ [`copy-source-${name}`]: value })

const conditions: Row[] = [
  ...(
    [
      ['if-match', etag],
      ['if-match', '*'],
      ['if-none-match', another],
      ['if-modified-since', past],
      ['if-unmodified-since', '{{lastModified}}'],
    ] as const
  ).map(
    ([name, value]): Row => ({
      it: `copies if ${name} ${value} holds of the source`,
      ...copied,
      ask: condition(name, value),
      afterwards: isCopy,
    }),
  ),
  ...(
    [
      ['if-match', another],
      ['if-none-match', etag],
      ['if-none-match', '*'],
      ['if-modified-since', '{{lastModified}}'],
      ['if-unmodified-since', past],
    ] as const
  ).map(
    ([name, value]): Row => ({
      it: `does not copy if ${name} ${value} fails of the source`,
      ...refusal('PreconditionFailed'),
      given: source,
      ask: condition(name, value),
      afterwards: isNotThere,
    }),
  ),
  {
    it: 'lets a match of the source outweigh its date, as S3 documents',
    ...copied,
    ask: copy({ 'copy-source-if-match': etag, 'copy-source-if-unmodified-since': past }),
    afterwards: isCopy,
  },
  {
    it: 'lets a failed none-match of the source outweigh its date, as S3 documents',
    ...refusal('PreconditionFailed'),
    given: source,
    ask: copy({ 'copy-source-if-none-match': etag, 'copy-source-if-modified-since': past }),
    afterwards: isNotThere,
  },
  {
    it: 'answers a condition of the source to the SDK',
    ...refusal('PreconditionFailed'),
    given: source,
    ask: condition('if-match', another),
    sdk: sdk(CopyObjectCommand, { ...input, CopySourceIfMatch: another }),
  },
  {
    it: 'copies if there is nothing, where there is nothing',
    ...copied,
    ask: copy({}, { headers: { 'If-None-Match': '*' } }),
    afterwards: isCopy,
    sdk: sdk(CopyObjectCommand, { ...input, IfNoneMatch: '*' }),
  },
  {
    it: 'does not copy if there is nothing, where there is something',
    ...refusal('PreconditionFailed', { Condition: 'If-None-Match' }),
    given: async (wire) => {
      await source(wire)
      await self(wire)
    },
    ask: copy({}, { headers: { 'If-None-Match': '*' } }),
    sdk: sdk(CopyObjectCommand, { ...input, IfNoneMatch: '*' }),
  },
  {
    it: 'does not copy over another object than the client knows',
    ...refusal('PreconditionFailed', { Condition: 'If-Match' }),
    given: async (wire) => {
      await source(wire)
      await self(wire)
    },
    ask: copy({}, { headers: { 'If-Match': another } }),
    sdk: sdk(CopyObjectCommand, { ...input, IfMatch: another }),
  },
]

const othersSource = async (wire: Wire): Promise<void> => {
  await wire.must({ method: 'PUT', bucket: 'source', signedBy: otherKey })
  await wire.must({ method: 'PUT', bucket: 'source', key: 'from', body: text, signedBy: otherKey })
}

const refused: Row[] = [
  {
    it: 'answers NoSuchKey where there is no source',
    ...refusal('NoSuchKey', { Key: 'nothing' }),
    given: source,
    ask: copy({ 'copy-source': '/source/nothing' }),
    afterwards: isNotThere,
    sdk: sdk(CopyObjectCommand, { ...input, CopySource: '/source/nothing' }),
  },
  {
    it: 'answers NoSuchBucket where the source has no bucket',
    ...refusal('NoSuchBucket', { BucketName: 'nowhere' }),
    ask: copy({ 'copy-source': '/nowhere/from' }),
    sdk: sdk(CopyObjectCommand, { ...input, CopySource: '/nowhere/from' }),
  },
  {
    it: 'answers NoSuchBucket where the copy would have none',
    withoutBucket: true,
    ...refusal('NoSuchBucket', { BucketName: 'wire' }),
    given: source,
    ask: copy(),
    sdk: sdk(CopyObjectCommand, input),
  },
  {
    it: "answers AccessDenied for another account's source",
    ...refusal('AccessDenied', {}),
    given: othersSource,
    ask: copy(),
    afterwards: isNotThere,
    sdk: sdk(CopyObjectCommand, input),
  },
  {
    it: "answers AccessDenied for another account's bucket to copy to",
    ...refusal('AccessDenied', {}),
    given: source,
    ask: copy({}, { signedBy: otherKey }),
    afterwards: isNotThere,
  },
  {
    it: 'answers AccessDenied where another owner of the source is expected',
    ...refusal('AccessDenied', {}),
    given: source,
    ask: copy({ 'source-expected-bucket-owner': 'other' }),
    afterwards: isNotThere,
    sdk: sdk(CopyObjectCommand, { ...input, ExpectedSourceBucketOwner: 'other' }),
  },
  {
    it: 'answers AccessDenied where another owner of the copy is expected',
    ...refusal('AccessDenied', {}),
    given: source,
    ask: copy({ 'expected-bucket-owner': 'other' }),
    afterwards: isNotThere,
    sdk: sdk(CopyObjectCommand, { ...input, ExpectedBucketOwner: 'other' }),
  },
  {
    it: 'answers NoSuchVersion for any version of the source but null',
    ...refusal('NoSuchVersion', { VersionId: 'v1' }),
    given: source,
    ask: copy({ 'copy-source': '/source/from?versionId=v1' }),
    afterwards: isNotThere,
    sdk: sdk(CopyObjectCommand, { ...input, CopySource: '/source/from?versionId=v1' }),
  },
  ...['', '/', 'source', '/source', '/source/', '//from', '/source/%zz', '/source/%ff', '/source/from?uploadId=1'].map(
    (value): Row => ({
      it: `refuses the source "${value}"`,
      ...refusal('InvalidArgument'),
      given: source,
      ask: copy({ 'copy-source': value }),
      afterwards: isNotThere,
    }),
  ),
  {
    it: 'refuses a source whose key is too long',
    ...refusal('KeyTooLongError', {}),
    given: source,
    ask: copy({ 'copy-source': `/source/${'k'.repeat(1025)}` }),
    afterwards: isNotThere,
  },
  {
    it: 'refuses acl public-read',
    ...refusal('AccessControlListNotSupported', {}),
    given: source,
    ask: copy({ acl: 'public-read' }),
    afterwards: isNotThere,
  },
  {
    it: 'refuses a storage class that it does not have',
    ...refusal('InvalidStorageClass', { StorageClassRequested: 'GLACIER' }),
    given: source,
    ask: copy({ 'storage-class': 'GLACIER' }),
    afterwards: isNotThere,
  },
  ...[
    ...unkeptHeaders,
    'copy-source-server-side-encryption-customer-algorithm',
    'copy-source-server-side-encryption-customer-key',
    'copy-source-server-side-encryption-customer-key-MD5',
  ].map(
    (name): Row => ({
      it: `refuses ${name} by name`,
      ...refusal('NotImplemented', { NotImplemented: `{{prefix}}${name}` }),
      given: source,
      ask: copy({ [name]: 'x' }),
      afterwards: isNotThere,
    }),
  ),
]

wireTests('CopyObject', [...rows, ...directives, ...selfCopies, ...conditions, ...refused])
