/** HeadObject over the wire. What it shares with GetObject is in wire-read-rows, wire-range-rows and wire-condition-rows. */
import { HeadObjectCommand } from '@aws-sdk/client-s3'
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
const ask = { method: 'HEAD', key: 'a b/ü' } as const
const Key = ask.key
const stored = async (wire: Wire): Promise<void> => {
  const vendor = { 'meta-colour': 'red', 'checksum-crc32': referenceChecksum('CRC32', text) }
  await wire.must({ method: 'PUT', key: Key, body: text, headers: { 'Content-Type': 'text/plain' }, vendor })
}

/** The same as through raw requests, as the SDK sees it. */
const throughSdk: Row[] = [
  {
    it: 'answers all fields',
    status: 200,
    given: stored,
    ask: { ...ask, vendor: { 'checksum-mode': 'ENABLED' } },
    vendor: {
      'meta-colour': 'red',
      'checksum-crc32': referenceChecksum('CRC32', text),
      'checksum-type': 'FULL_OBJECT',
    },
    sdk: sdk(
      HeadObjectCommand,
      { Bucket: 'wire', Key, ChecksumMode: 'ENABLED' },
      {
        ContentLength: text.length,
        ContentType: 'text/plain',
        ETag: etag,
        LastModified: expect.any(Date),
        AcceptRanges: 'bytes',
        Metadata: { colour: 'red' },
        ChecksumCRC32: referenceChecksum('CRC32', text),
        ChecksumType: 'FULL_OBJECT',
      },
    ),
  },
  {
    it: 'answers 416',
    ...refusal('InvalidRange'),
    given: stored,
    ask: { ...ask, headers: { Range: 'bytes=11-' } },
    sdk: sdk(HeadObjectCommand, { Bucket: 'wire', Key, Range: 'bytes=11-' }),
  },
  {
    it: 'answers 304',
    ...refusal('NotModified'),
    given: stored,
    ask: { ...ask, headers: { 'If-None-Match': etag } },
    sdk: sdk(HeadObjectCommand, { Bucket: 'wire', Key, IfNoneMatch: etag }),
  },
  {
    it: 'answers 412',
    ...refusal('PreconditionFailed'),
    given: stored,
    ask: { ...ask, headers: { 'If-Match': '"another"' } },
    sdk: sdk(HeadObjectCommand, { Bucket: 'wire', Key, IfMatch: '"another"' }),
  },
  {
    it: 'answers 404 without a body',
    ...refusal('NoSuchKey'),
    ask,
    body: '',
    sdk: sdk(HeadObjectCommand, { Bucket: 'wire', Key }, { name: 'NotFound' }),
  },
  {
    it: 'answers the size of a part',
    status: 206,
    given: (wire) => multipartObject(wire, [first, last]),
    ask: { method: 'HEAD', key: 'big', query: { partNumber: '1' } },
    vendor: { 'mp-parts-count': '2' },
    sdk: sdk(
      HeadObjectCommand,
      { Bucket: 'wire', Key: 'big', PartNumber: 1 },
      {
        ContentLength: first.length,
        PartsCount: 2,
      },
    ),
  },
]

wireTests('HeadObject', [
  ...readRows('HEAD'),
  ...multipartReadRows('HEAD', first, last),
  ...multipartChecksumRows('HEAD', first, last),
  ...partChecksumRows('HEAD'),
  ...throughSdk,
])
