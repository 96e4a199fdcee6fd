/** ListMultipartUploads over the wire. */
import { ListMultipartUploadsCommand } from '@aws-sdk/client-s3'
import { expect } from 'vitest'
import type { Wire } from '../support/wire-client.ts'
import { anInstant, type Facts, type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { sdk } from '../support/wire-sdk.ts'
import { otherKey } from '../support/wire-server.ts'
import { beginUpload, multipartObject } from '../support/wire-uploads.ts'
import { readXml } from '../support/wire-xml.ts'

const person = { ID: 'main', DisplayName: 'Main' }
const upload = (Key: string, UploadId: string, more: object = {}) => ({
  Key,
  UploadId,
  Initiator: person,
  Owner: person,
  StorageClass: 'STANDARD',
  Initiated: anInstant,
  ...more,
})

const ask = (query: Record<string, string> = {}) => ({ method: 'GET', query: { uploads: '', ...query } }) as const
const input = { Bucket: 'wire' }

/** Uploads of a, a again, b/1, b/2 and c. Ids of one key sort by time; uploads of one millisecond by chance. */
async function five(wire: Wire): Promise<Facts> {
  const [one = '', two = ''] = [await beginUpload(wire, {}, 'a'), await beginUpload(wire, {}, 'a')].sort()
  const c = await beginUpload(wire, {}, 'c')
  const b2 = await beginUpload(wire, {}, 'b/2')
  const b1 = await beginUpload(wire, {}, 'b/1')
  return { a1: one, a2: two, b1, b2, c }
}

const page = (elements: object) => ({
  status: 200,
  xml: {
    ListMultipartUploadsResult: {
      Bucket: 'wire',
      KeyMarker: '',
      UploadIdMarker: '',
      Prefix: '',
      MaxUploads: '1000',
      IsTruncated: 'false',
      ...elements,
    },
  },
})
const a1 = upload('a', '{{a1}}')
const a2 = upload('a', '{{a2}}')
const b1 = upload('b/1', '{{b1}}')
const b2 = upload('b/2', '{{b2}}')
const c = upload('c', '{{c}}')

const rows: Row[] = [
  {
    it: 'lists open uploads by key, and those of one key by time',
    given: five,
    ask: ask(),
    headers: { 'Content-Type': 'application/xml' },
    vendor: {},
    ...page({ Upload: [a1, a2, b1, b2, c] }),
    sdk: sdk(ListMultipartUploadsCommand, input, {
      Bucket: 'wire',
      IsTruncated: false,
      MaxUploads: 1000,
      Uploads: [
        {
          Key: 'a',
          UploadId: '{{a1}}',
          Initiated: expect.any(Date),
          Owner: person,
          Initiator: person,
          StorageClass: 'STANDARD',
        },
        { UploadId: '{{a2}}' },
        { Key: 'b/1' },
        { Key: 'b/2' },
        { Key: 'c' },
      ],
    }),
  },
  {
    it: 'lists none where there are none',
    ask: ask(),
    ...page({}),
    sdk: sdk(ListMultipartUploadsCommand, input, { Uploads: undefined }),
  },
  { it: 'lists no upload that was completed', given: (wire) => multipartObject(wire, ['x']), ask: ask(), ...page({}) },
  {
    it: 'lists those that start with a prefix',
    proves: ['query:prefix'],
    given: five,
    ask: ask({ prefix: 'b/' }),
    ...page({ Prefix: 'b/', Upload: [b1, b2] }),
    sdk: sdk(
      ListMultipartUploadsCommand,
      { ...input, Prefix: 'b/' },
      { Prefix: 'b/', Uploads: [{ Key: 'b/1' }, { Key: 'b/2' }] },
    ),
  },
  {
    it: 'folds by delimiter',
    proves: ['query:delimiter'],
    given: five,
    ask: ask({ delimiter: '/' }),
    ...page({ Delimiter: '/', Upload: [a1, a2, c], CommonPrefixes: { Prefix: 'b/' } }),
    sdk: sdk(
      ListMultipartUploadsCommand,
      { ...input, Delimiter: '/' },
      { Delimiter: '/', CommonPrefixes: [{ Prefix: 'b/' }] },
    ),
  },
  {
    it: 'fills a page, and says by which markers to continue',
    proves: ['query:max-uploads'],
    given: five,
    ask: ask({ 'max-uploads': '1' }),
    ...page({ MaxUploads: '1', IsTruncated: 'true', NextKeyMarker: 'a', NextUploadIdMarker: '{{a1}}', Upload: a1 }),
    sdk: sdk(
      ListMultipartUploadsCommand,
      { ...input, MaxUploads: 1 },
      { IsTruncated: true, NextKeyMarker: 'a', NextUploadIdMarker: '{{a1}}' },
    ),
  },
  {
    it: 'continues within the uploads of one key',
    proves: ['query:upload-id-marker'],
    given: five,
    ask: ask({ 'max-uploads': '2', 'key-marker': 'a', 'upload-id-marker': '{{a1}}' }),
    ...page({
      KeyMarker: 'a',
      UploadIdMarker: '{{a1}}',
      MaxUploads: '2',
      IsTruncated: 'true',
      NextKeyMarker: 'b/1',
      NextUploadIdMarker: '{{b1}}',
      Upload: [a2, b1],
    }),
    sdk: sdk(
      ListMultipartUploadsCommand,
      { ...input, KeyMarker: 'a', UploadIdMarker: '{{a1}}', MaxUploads: 2 },
      { Uploads: [{ UploadId: '{{a2}}' }, { UploadId: '{{b1}}' }] },
    ),
  },
  {
    it: 'continues behind all uploads of a key',
    proves: ['query:key-marker'],
    given: five,
    ask: ask({ 'key-marker': 'a' }),
    ...page({ KeyMarker: 'a', Upload: [b1, b2, c] }),
    sdk: sdk(
      ListMultipartUploadsCommand,
      { ...input, KeyMarker: 'a' },
      { Uploads: [{ Key: 'b/1' }, { Key: 'b/2' }, { Key: 'c' }] },
    ),
  },
  {
    it: 'ignores an upload id marker without a key marker, as S3 documents, and does not repeat it',
    given: five,
    ask: ask({ 'upload-id-marker': '{{c}}' }),
    ...page({ Upload: [a1, a2, b1, b2, c] }),
  },
  {
    it: 'continues behind a common prefix without showing it again',
    given: five,
    ask: ask({ delimiter: '/', 'key-marker': 'b/' }),
    ...page({ Delimiter: '/', KeyMarker: 'b/', Upload: c }),
  },
  {
    it: 'answers a common prefix as the next marker when it is the last of the page',
    given: five,
    ask: ask({ delimiter: '/', 'max-uploads': '3' }),
    ...page({
      Delimiter: '/',
      MaxUploads: '3',
      IsTruncated: 'true',
      NextKeyMarker: 'b/',
      Upload: [a1, a2],
      CommonPrefixes: { Prefix: 'b/' },
    }),
  },
  {
    it: 'answers an empty page for max-uploads 0',
    given: five,
    ask: ask({ 'max-uploads': '0' }),
    ...page({ MaxUploads: '0' }),
  },
  { it: 'takes an empty max-uploads for none', ask: ask({ 'max-uploads': '' }), ...page({}) },
  {
    it: 'refuses an upload that is none as the place to go on from',
    given: five,
    ask: ask({ 'key-marker': 'a', 'upload-id-marker': 'abc' }),
    ...refusal('InvalidArgument', { ArgumentName: 'upload-id-marker', ArgumentValue: 'abc' }),
  },
  {
    it: 'refuses an upload of another key',
    given: five,
    ask: ask({ 'key-marker': 'b/1', 'upload-id-marker': '{{a1}}' }),
    ...refusal('InvalidArgument', { ArgumentName: 'upload-id-marker', ArgumentValue: '{{a1}}' }),
  },
  { it: 'takes more than 1,000 for 1,000', ask: ask({ 'max-uploads': '2000' }), ...page({}) },
  {
    it: 'encodes keys, prefixes and markers when asked to',
    proves: ['query:encoding-type'],
    given: async (wire) => ({ id: await beginUpload(wire, {}, 'a b/ü') }),
    ask: ask({ 'encoding-type': 'url', prefix: 'a ', 'key-marker': ' ' }),
    ...page({ EncodingType: 'url', Prefix: 'a%20', KeyMarker: '%20', Upload: upload('a%20b/%C3%BC', '{{id}}') }),
  },
  {
    it: 'tells the checksum of an upload',
    given: async (wire) => ({ id: await beginUpload(wire, { 'checksum-algorithm': 'SHA1' }) }),
    ask: ask(),
    ...page({ Upload: upload('big', '{{id}}', { ChecksumAlgorithm: 'SHA1', ChecksumType: 'COMPOSITE' }) }),
    sdk: sdk(ListMultipartUploadsCommand, input, {
      Uploads: [{ ChecksumAlgorithm: 'SHA1', ChecksumType: 'COMPOSITE' }],
    }),
  },
  ...['-1', 'abc', '2147483648'].map(
    (value): Row => ({
      it: `refuses max-uploads "${value}"`,
      ...refusal('InvalidArgument', { ArgumentName: 'max-uploads', ArgumentValue: value }),
      ask: ask({ 'max-uploads': value }),
    }),
  ),
  {
    it: 'refuses an encoding that it does not know',
    ...refusal('InvalidArgument', { ArgumentName: 'encoding-type', ArgumentValue: 'base64' }),
    ask: ask({ 'encoding-type': 'base64' }),
  },
  {
    it: 'answers NoSuchBucket where there is no bucket',
    withoutBucket: true,
    ...refusal('NoSuchBucket', { BucketName: 'wire' }),
    ask: ask(),
    sdk: sdk(ListMultipartUploadsCommand, input),
  },
  {
    it: "answers AccessDenied for another account's bucket",
    ...refusal('AccessDenied', {}),
    ask: { ...ask(), signedBy: otherKey },
  },
  {
    it: 'answers AccessDenied where another owner is expected',
    ...refusal('AccessDenied', {}),
    ask: { ...ask(), vendor: { 'expected-bucket-owner': 'other' } },
  },
]

const walks: Row[] = [1, 2, 3].flatMap((max) =>
  ['', '/'].map(
    (delimiter): Row => ({
      it: `walks all uploads in pages of ${max}${delimiter === '' ? '' : ', folded'}, and shows each once`,
      given: five,
      status: 200,
      ask: ask({ 'max-uploads': '0' }),
      afterwards: async (wire, _, facts) => {
        const { a1 = '', a2 = '', b1 = '', b2 = '', c = '' } = facts
        expect(await walk(wire, max, delimiter)).toEqual(delimiter === '' ? [a1, a2, b1, b2, c] : [a1, a2, 'b/', c])
      },
    }),
  ),
)

/** More than any walk here takes: a listing that never ends fails rather than hangs. */
const pagesMax = 30

/** What pages show of each other in turn: ids of uploads, and common prefixes in the places of their keys. */
async function walk(wire: Wire, max: number, delimiter: string): Promise<string[]> {
  const shown: [place: string, what: string][] = []
  let markers: Record<string, string> = {}
  for (let pages = 1; pages <= pagesMax; pages++) {
    const { body } = await wire.must(ask({ 'max-uploads': String(max), delimiter, ...markers }))
    const page = readXml(body).value as Record<string, string | Record<string, string> | Record<string, string>[]>
    const { Upload = [], CommonPrefixes = [], NextKeyMarker, NextUploadIdMarker } = page
    for (const found of [Upload, CommonPrefixes].flat()) {
      if (typeof found === 'string') continue
      const { Key = '', UploadId = '', Prefix } = found
      shown.push(Prefix === undefined ? [Key, UploadId] : [Prefix, Prefix])
    }
    if (typeof NextKeyMarker !== 'string') return inPlace(shown)
    markers = {
      'key-marker': NextKeyMarker,
      ...(typeof NextUploadIdMarker === 'string' ? { 'upload-id-marker': NextUploadIdMarker } : {}),
    }
  }
  throw new Error(`the listing goes on behind ${pagesMax} pages`)
}

const inPlace = (shown: [place: string, what: string][]): string[] =>
  shown.sort(([a, x], [b, y]) => (a === b ? x.localeCompare(y) : a < b ? -1 : 1)).map(([, what]) => what)

wireTests('ListMultipartUploads', [...rows, ...walks])
