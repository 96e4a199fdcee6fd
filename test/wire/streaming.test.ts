/** Bodies in aws-chunked framing: the modes of today's SDKs decoded and verified, and what may not pass. */
import { Readable } from 'node:stream'
import { PutObjectCommand, UploadPartCommand } from '@aws-sdk/client-s3'
import { expect } from 'vitest'
import { md5Base64, md5Hex, referenceChecksum } from '../support/wire-checksums.ts'
import type { Ask, ChunkedPayload, Wire } from '../support/wire-client.ts'
import { type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { sdk } from '../support/wire-sdk.ts'
import { beginUpload } from '../support/wire-uploads.ts'

const large = Buffer.alloc(200_001, 'streamed ')
const chunks = (size: number): Buffer[] =>
  Array.from({ length: Math.ceil(large.length / size) }, (_, i) => large.subarray(i * size, (i + 1) * size))
const crc = { 'checksum-crc32': referenceChecksum('CRC32', large) }

const put = (payload: ChunkedPayload, more: Partial<Ask> = {}): Ask => ({ method: 'PUT', key: 'a', payload, ...more })

const isStored = (body: Buffer) => async (wire: Wire) => {
  const reply = await wire.must({ method: 'GET', key: 'a' })
  expect(reply.body.equals(body)).toBe(true)
  expect(reply.headers.get('content-encoding')).toBeUndefined()
}
const isNotThere = async (wire: Wire): Promise<void> => {
  expect((await wire.ask({ method: 'HEAD', key: 'a' })).status).toBe(404)
}

const modes = ['signed', 'signed-trailer', 'unsigned-trailer'] as const
const stored = { status: 200, headers: { ETag: `"${md5Hex(large)}"` } }

const announcing: Partial<Ask>[] = [{ presigned: true }, { payload: 'unsigned' }, {}]

const rows: Row[] = [
  ...modes.flatMap((mode) =>
    [8192, 65_536, large.length].map(
      (size): Row => ({
        it: `decodes ${mode} chunks of ${size} bytes`,
        ...stored,
        ask: put({ mode, chunks: chunks(size), ...(mode === 'signed' ? {} : { trailers: crc }) }),
        vendor: mode === 'signed' ? {} : { ...crc, 'checksum-type': 'FULL_OBJECT' },
        afterwards: isStored(large),
      }),
    ),
  ),
  ...modes.map(
    (mode): Row => ({
      it: `decodes ${mode} chunks of an empty body`,
      status: 200,
      ask: put({ mode, chunks: [] }),
      headers: { ETag: `"${md5Hex('')}"` },
      afterwards: isStored(Buffer.alloc(0)),
    }),
  ),
  {
    it: 'decodes unsigned chunks of any size, as some SDKs cut them',
    ...stored,
    ask: put({ mode: 'unsigned-trailer', chunks: [large.subarray(0, 1), large.subarray(1, 3), large.subarray(3)] }),
    afterwards: isStored(large),
  },
  {
    it: 'refuses signed chunks below 8 KiB but the last, as S3 does',
    ...refusal('InvalidChunkSizeError', {}),
    ask: put({ mode: 'signed', chunks: [large.subarray(0, 8191), large.subarray(8191)] }),
    afterwards: isNotThere,
  },
  {
    it: 'holds the data, not its framing, to Content-MD5',
    ...stored,
    ask: put({ mode: 'signed', chunks: chunks(65_536) }, { headers: { 'Content-MD5': md5Base64(large) } }),
  },
  ...announcing.map(
    (how): Row => ({
      it: `refuses a body that is no chunks and announces a trailer, sent with ${JSON.stringify(how)}`,
      ...refusal('MalformedTrailerError', {}),
      ask: { method: 'PUT', key: 'a', body: large, vendor: { trailer: '{{prefix}}checksum-crc32' }, ...how },
      afterwards: isNotThere,
    }),
  ),
  {
    it: 'refuses signed chunks without trailers that announce one',
    ...refusal('MalformedTrailerError', {}),
    ask: put({ mode: 'signed', chunks: chunks(65_536) }, { vendor: { trailer: '{{prefix}}checksum-crc32' } }),
    afterwards: isNotThere,
  },
  {
    it: 'refuses chunks that are not what Content-MD5 says',
    ...refusal('BadDigest', { ExpectedDigest: md5Hex('x'), CalculatedDigest: md5Base64(large) }),
    ask: put({ mode: 'signed', chunks: chunks(65_536) }, { headers: { 'Content-MD5': md5Base64('x') } }),
    afterwards: isNotThere,
  },
  {
    it: 'refuses data longer than was announced',
    ...refusal('IncompleteBody', {}),
    ask: put({ mode: 'signed', chunks: chunks(65_536), decodedLength: String(large.length - 1) }),
    afterwards: isNotThere,
  },
  {
    it: 'refuses data shorter than was announced',
    ...refusal('IncompleteBody', {}),
    ask: put({ mode: 'signed', chunks: chunks(65_536), decodedLength: String(large.length + 1) }),
    afterwards: isNotThere,
  },
  ...['', '-1', 'x', '1.5', '0x10'].map(
    (decodedLength): Row => ({
      it: `refuses the decoded length "${decodedLength}"`,
      ...refusal('InvalidArgument', {
        ArgumentName: '{{prefix}}decoded-content-length',
        ArgumentValue: decodedLength,
      }),
      ask: put({ mode: 'signed', chunks: ['x'], decodedLength }),
      afterwards: isNotThere,
    }),
  ),
]

wireTests('PutObject', rows)

const parts: Row[] = modes.map((mode) => ({
  it: `decodes ${mode} chunks of a part`,
  ...stored,
  given: async (wire) => ({ uploadId: await beginUpload(wire) }),
  ask: {
    method: 'PUT',
    key: 'big',
    query: { partNumber: '1', uploadId: '{{uploadId}}' },
    payload: { mode, chunks: chunks(65_536), ...(mode === 'signed' ? {} : { trailers: crc }) },
  },
  vendor: mode === 'signed' ? {} : crc,
  sdk: sdk(
    UploadPartCommand,
    { Bucket: 'wire', Key: 'big', PartNumber: 1, UploadId: '{{uploadId}}', Body: large },
    { ETag: `"${md5Hex(large)}"` },
  ),
}))

wireTests('UploadPart', parts)

const documents: Row[] = modes.map((mode) => ({
  it: `reads a document from ${mode} chunks`,
  status: 200,
  ask: {
    method: 'PUT',
    query: { tagging: '' },
    payload: { mode, chunks: ['<Tagging><TagSet><Tag><Key>a</Key><Value>b</Value></Tag></TagSet></Tagging>'] },
  },
  afterwards: async (wire) => {
    expect((await wire.must({ method: 'GET', query: { tagging: '' } })).body.toString()).toContain('<Key>a</Key>')
  },
}))

wireTests('PutBucketTagging', documents)

const streams: Row[] = [
  {
    it: 'decodes a stream that the SDK sends, of which it knows the length alone',
    ...stored,
    ask: put({ mode: 'unsigned-trailer', chunks: chunks(65_536), trailers: crc }),
    vendor: { ...crc, 'checksum-type': 'FULL_OBJECT' },
    sdk: {
      output: { ETag: `"${md5Hex(large)}"`, ChecksumCRC32: crc['checksum-crc32'] },
      send: (client) =>
        client.send(
          new PutObjectCommand({
            Bucket: 'wire',
            Key: 'a',
            Body: Readable.from(chunks(10_000)),
            ContentLength: large.length,
          }),
        ),
    },
  },
]

wireTests('PutObject', streams)
