/** GetObject over the wire. What it shares with HeadObject is in wire-read-rows, wire-range-rows and wire-condition-rows. */
import { GetObjectCommand } from '@aws-sdk/client-s3'
import { expect } from 'vitest'
import { md5Hex, referenceChecksum } from '../support/wire-checksums.ts'
import type { Wire } from '../support/wire-client.ts'
import { multipartChecksumRows, multipartReadRows, partChecksumRows } from '../support/wire-range-rows.ts'
import { readRows } from '../support/wire-read-rows.ts'
import { type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { sdk } from '../support/wire-sdk.ts'
import { multipartObject, partOf } from '../support/wire-uploads.ts'

const first = partOf(1)
const last = partOf(2, 1000)

const text = 'hello, wire'
const etag = `"${md5Hex(text)}"`
const ask = { method: 'GET', key: 'a b/ü' } as const
const Key = ask.key
const stored = async (wire: Wire): Promise<void> => {
  await wire.must({
    method: 'PUT',
    key: Key,
    body: text,
    headers: { 'Content-Type': 'text/plain', 'Cache-Control': 'no-cache' },
    vendor: { 'meta-colour': 'red', tagging: 'a=1', 'checksum-crc64nvme': referenceChecksum('CRC64NVME', text) },
  })
}

/** The same as through raw requests, as the SDK sees it. */
const throughSdk: Row[] = [
  {
    it: 'answers the object with all its fields',
    status: 200,
    given: stored,
    ask,
    vendor: { 'meta-colour': 'red', 'tagging-count': '1' },
    body: text,
    sdk: sdk(
      GetObjectCommand,
      { Bucket: 'wire', Key, ChecksumMode: 'ENABLED' },
      {
        Body: text,
        ContentLength: text.length,
        ContentType: 'text/plain',
        CacheControl: 'no-cache',
        ETag: etag,
        LastModified: expect.any(Date),
        AcceptRanges: 'bytes',
        Metadata: { colour: 'red' },
        TagCount: 1,
        ChecksumCRC64NVME: referenceChecksum('CRC64NVME', text),
        ChecksumType: 'FULL_OBJECT',
      },
    ),
  },
  {
    it: 'answers a range',
    status: 206,
    given: stored,
    ask: { ...ask, headers: { Range: 'bytes=7-' } },
    vendor: { 'meta-colour': 'red', 'tagging-count': '1' },
    body: 'wire',
    sdk: sdk(
      GetObjectCommand,
      { Bucket: 'wire', Key, Range: 'bytes=7-' },
      {
        Body: 'wire',
        ContentRange: 'bytes 7-10/11',
        ContentLength: 4,
      },
    ),
  },
  {
    it: 'answers InvalidRange',
    ...refusal('InvalidRange'),
    given: stored,
    ask: { ...ask, headers: { Range: 'bytes=11-' } },
    sdk: sdk(GetObjectCommand, { Bucket: 'wire', Key, Range: 'bytes=11-' }),
  },
  {
    it: 'answers NotModified',
    ...refusal('NotModified'),
    given: stored,
    ask: { ...ask, headers: { 'If-None-Match': etag } },
    sdk: sdk(GetObjectCommand, { Bucket: 'wire', Key, IfNoneMatch: etag }),
  },
  {
    it: 'answers PreconditionFailed',
    ...refusal('PreconditionFailed'),
    given: stored,
    ask: { ...ask, headers: { 'If-Match': '"another"' } },
    sdk: sdk(GetObjectCommand, { Bucket: 'wire', Key, IfMatch: '"another"' }),
  },
  {
    it: 'answers PreconditionFailed for a date',
    ...refusal('PreconditionFailed'),
    given: stored,
    ask: { ...ask, headers: { 'If-Unmodified-Since': 'Sat, 01 Jan 2000 00:00:00 GMT' } },
    sdk: sdk(GetObjectCommand, { Bucket: 'wire', Key, IfUnmodifiedSince: new Date('2000-01-01T00:00:00Z') }),
  },
  {
    it: 'answers headers as the request says',
    status: 200,
    given: stored,
    ask: { ...ask, query: { 'response-content-type': 'image/png' } },
    vendor: { 'meta-colour': 'red', 'tagging-count': '1' },
    sdk: sdk(
      GetObjectCommand,
      { Bucket: 'wire', Key, ResponseContentType: 'image/png', ResponseCacheControl: 'x' },
      {
        ContentType: 'image/png',
        CacheControl: 'x',
      },
    ),
  },
  {
    it: 'answers NoSuchKey',
    ...refusal('NoSuchKey', { Key }),
    ask,
    sdk: sdk(GetObjectCommand, { Bucket: 'wire', Key }),
  },
  {
    it: 'answers NoSuchBucket',
    withoutBucket: true,
    ...refusal('NoSuchBucket'),
    ask,
    sdk: sdk(GetObjectCommand, { Bucket: 'wire', Key }),
  },
  {
    it: 'refuses the source of a copy, as it makes none',
    ...refusal('InvalidArgument', { ArgumentName: '{{prefix}}copy-source', ArgumentValue: '/wire/b' }),
    message: 'You can only specify a copy source header for copy requests.',
    ask: { method: 'GET', key: 'a', vendor: { 'copy-source': '/wire/b' } },
  },
  {
    it: 'answers a part',
    status: 206,
    given: (wire) => multipartObject(wire, [first, last]),
    ask: { method: 'GET', key: 'big', query: { partNumber: '2' } },
    vendor: { 'mp-parts-count': '2' },
    body: last,
    sdk: sdk(
      GetObjectCommand,
      { Bucket: 'wire', Key: 'big', PartNumber: 2 },
      {
        ContentLength: last.length,
        PartsCount: 2,
        ContentRange: `bytes ${first.length}-${first.length + last.length - 1}/${first.length + last.length}`,
      },
    ),
  },
]

wireTests('GetObject', [
  ...readRows('GET'),
  ...multipartReadRows('GET', first, last),
  ...multipartChecksumRows('GET', first, last),
  ...partChecksumRows('GET'),
  ...throughSdk,
])
