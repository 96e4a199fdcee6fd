/** A server that is told to give objects CRC64NVME whose clients send no checksum, as S3 does. Without the setting there is none: see `checksum-matrix`. */
import { PutObjectCommand } from '@aws-sdk/client-s3'
import { expect } from 'vitest'
import { bytesOf, elementOf, headerOf, sumsOf } from '../support/wire-checksum-matrix.ts'
import { md5Base64, multipartEtag, referenceChecksum } from '../support/wire-checksums.ts'
import type { Wire } from '../support/wire-client.ts'
import { complete, done } from '../support/wire-completions.ts'
import { anInstant, type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { sdk } from '../support/wire-sdk.ts'
import { beginUpload, partOf, putPart, uploadOf } from '../support/wire-uploads.ts'
import { onHold, vault } from '../support/wire-versions.ts'

const crc = headerOf('CRC64NVME')
const crcOf = (data: string | Buffer): string => referenceChecksum('CRC64NVME', data)
const has = (data: string | Buffer) => ({ [crc]: crcOf(data), 'checksum-type': 'FULL_OBJECT' })
const text = 'without a checksum'
const put = { method: 'PUT', key: 'a', body: text } as const

const puts: Row[] = [
  ...[Buffer.alloc(0), Buffer.from(text), bytesOf(70_000), bytesOf(3_000_000)].map(
    (body): Row => ({
      it: `computes the default of ${body.length} bytes`,
      status: 200,
      ask: { ...put, body },
      vendor: has(body),
      afterwards: async (wire) => expect(await sumsOf(wire, 'a')).toEqual(has(body)),
    }),
  ),
  {
    it: 'computes it beside Content-MD5, which is no checksum of the object',
    status: 200,
    ask: { ...put, headers: { 'Content-MD5': md5Base64(text) } },
    vendor: has(text),
  },
  {
    it: 'computes no other than the client sends',
    status: 200,
    ask: { ...put, vendor: { 'checksum-sha1': referenceChecksum('SHA1', text) } },
    vendor: { 'checksum-sha1': referenceChecksum('SHA1', text), 'checksum-type': 'FULL_OBJECT' },
    afterwards: async (wire) =>
      expect(Object.keys(await sumsOf(wire, 'a')).sort()).toEqual(['checksum-sha1', 'checksum-type']),
    sdk: sdk(
      PutObjectCommand,
      { Bucket: 'wire', Key: 'a', Body: text, ChecksumAlgorithm: 'SHA1' },
      { ChecksumSHA1: referenceChecksum('SHA1', text), ChecksumCRC64NVME: undefined },
    ),
  },
  {
    it: 'does not take its own for one that the client sent with a lock',
    ...refusal('InvalidRequest', {}),
    given: async (wire) => vault(wire),
    ask: { ...put, vendor: onHold },
  },
]

const copying = { method: 'PUT', key: 'to', vendor: { 'copy-source': '/wire/a' } } as const
const result = { LastModified: anInstant, ETag: expect.any(String), ChecksumType: 'FULL_OBJECT' }

const copies: Row[] = [
  {
    it: 'keeps the checksum of the source',
    status: 200,
    given: async (wire) => {
      await wire.must({ ...put, vendor: { 'checksum-sha1': referenceChecksum('SHA1', text) } })
    },
    ask: copying,
    xml: { CopyObjectResult: { ...result, ChecksumSHA1: referenceChecksum('SHA1', text) } },
  },
  {
    it: 'makes one of a source whose checksum is not of the whole object',
    status: 200,
    given: async (wire) => {
      const { uploadId = '', etag1 = '' } = await uploadOf(wire, [text])
      await wire.must(complete([[1, etag1]], { query: { uploadId } }))
    },
    ask: { ...copying, vendor: { 'copy-source': '/wire/big' } },
    xml: { CopyObjectResult: { ...result, [elementOf('CRC64NVME')]: crcOf(text) } },
  },
]

const big = partOf(3)
const last = Buffer.from('and the rest')

const parts: Row[] = [
  {
    it: 'computes it of a part that comes without one',
    status: 200,
    given: async (wire) => ({ uploadId: await beginUpload(wire) }),
    ask: { method: 'PUT', key: 'big', query: { partNumber: '1', uploadId: '{{uploadId}}' }, body: text },
    vendor: { [crc]: crcOf(text) },
  },
]

/** Two parts, the second with a checksum of the client's own choice. */
const mixed = async (wire: Wire) => {
  const uploadId = await beginUpload(wire)
  const etag1 = await putPart(wire, uploadId, 1, big)
  const sum = { 'checksum-crc32': referenceChecksum('CRC32', last) }
  return { uploadId, etag1, etag2: await putPart(wire, uploadId, 2, last, sum) }
}
const both = complete([
  [1, '{{etag1}}'],
  [2, '{{etag2}}'],
])

const completions: Row[] = [
  {
    it: 'joins that of the full object',
    given: (wire) => uploadOf(wire, [big, last]),
    ask: both,
    ...done(multipartEtag([big, last]), {
      [elementOf('CRC64NVME')]: crcOf(Buffer.concat([big, last])),
      ChecksumType: 'FULL_OBJECT',
    }),
    afterwards: async (wire) => expect(await sumsOf(wire, 'big')).toEqual(has(Buffer.concat([big, last]))),
  },
  {
    it: 'refuses another than it has',
    ...refusal('BadDigest', {}),
    given: (wire) => uploadOf(wire, [big, last]),
    ask: { ...both, vendor: { [crc]: crcOf(big) } },
  },
  {
    it: 'takes parts with checksums of their own, and then has none of the whole',
    given: mixed,
    ask: both,
    ...done(multipartEtag([big, last])),
    afterwards: async (wire) => expect(await sumsOf(wire, 'big')).toEqual({}),
  },
]

const options = {
  hostings: ['path' as const],
  over: <S extends object>(store: S) => ({ ...store, defaultChecksum: 'CRC64NVME' as const }),
}
wireTests('PutObject', puts, options)
wireTests('CopyObject', copies, options)
wireTests('UploadPart', parts, options)
wireTests('CompleteMultipartUpload', completions, options)
