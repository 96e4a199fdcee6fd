/** UploadPart over the wire. */
import { UploadPartCommand } from '@aws-sdk/client-s3'
import { expect } from 'vitest'
import { md5Base64, md5Hex, referenceChecksum } from '../support/wire-checksums.ts'
import type { Ask, Wire } from '../support/wire-client.ts'
import { storeHeaders, thirdsOfCustomerKey } from '../support/wire-encryption.ts'
import { type Facts, type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { sdk } from '../support/wire-sdk.ts'
import { otherKey } from '../support/wire-server.ts'
import { beginUpload, completeDocument, putPart } from '../support/wire-uploads.ts'

const text = 'a part'
const etag = `"${md5Hex(text)}"`

const begun =
  (vendor?: Record<string, string>) =>
  async (wire: Wire): Promise<Facts> => ({
    uploadId: await beginUpload(wire, vendor),
  })
const put = (more: Partial<Ask> = {}, query: Record<string, string> = {}): Ask => ({
  method: 'PUT',
  key: 'big',
  query: { partNumber: '1', uploadId: '{{uploadId}}', ...query },
  body: text,
  ...more,
})
const input = { Bucket: 'wire', Key: 'big', PartNumber: 1, UploadId: '{{uploadId}}', Body: text }
const stored = { status: 200, given: begun(), headers: { ETag: etag, 'Content-Length': '0' } }

const partsHold =
  (...wanted: string[]) =>
  async (wire: Wire, _: unknown, { uploadId = '' }: Facts): Promise<void> => {
    const { body } = await wire.must({ method: 'GET', key: 'big', query: { uploadId } })
    const found = [...body.toString().matchAll(/<PartNumber>(\d+)<\/PartNumber>.*?<Size>(\d+)<\/Size>/g)]
    expect(found.map(([, number, size]) => `${number}:${size}`)).toEqual(wanted)
  }

const rows: Row[] = [
  {
    it: 'stores a part',
    proves: ['query:uploadId'],
    ...stored,
    ask: put(),
    vendor: {},
    afterwards: partsHold('1:6'),
    sdk: sdk(UploadPartCommand, input, { ETag: etag }),
  },
  {
    it: 'stores the last part number there is',
    proves: ['query:partNumber'],
    ...stored,
    ask: put({}, { partNumber: '10000' }),
    afterwards: partsHold('10000:6'),
    sdk: sdk(UploadPartCommand, { ...input, PartNumber: 10_000 }),
  },
  {
    it: 'stores an empty part',
    status: 200,
    given: begun(),
    ask: put({ body: '' }),
    headers: { ETag: `"${md5Hex('')}"` },
    afterwards: partsHold('1:0'),
  },
  {
    it: 'replaces a part that is sent again',
    proves: ['UploadPart: a part with an earlier part number replaces that part'],
    ...stored,
    given: async (wire) => {
      const uploadId = await beginUpload(wire)
      await putPart(wire, uploadId, 1, 'the first time')
      await putPart(wire, uploadId, 2, 'another')
      return { uploadId }
    },
    ask: put(),
    afterwards: partsHold('1:6', '2:7'),
  },
  {
    it: 'accepts the right Content-MD5',
    ...stored,
    ask: put({ headers: { 'Content-MD5': md5Base64(text) } }),
    sdk: sdk(UploadPartCommand, { ...input, ContentMD5: md5Base64(text) }),
  },
  {
    it: 'refuses a wrong Content-MD5, and keeps no part',
    ...refusal('BadDigest', { ExpectedDigest: md5Hex('x'), CalculatedDigest: md5Base64(text) }),
    given: begun(),
    ask: put({ headers: { 'Content-MD5': md5Base64('x') } }),
    afterwards: partsHold(),
    sdk: sdk(UploadPartCommand, { ...input, ContentMD5: md5Base64('x') }),
  },
  {
    it: 'refuses a malformed Content-MD5',
    ...refusal('InvalidDigest', { 'Content-MD5': 'x' }),
    given: begun(),
    ask: put({ headers: { 'Content-MD5': 'x' } }),
    afterwards: partsHold(),
  },
]

const addresses: Row[] = [
  ...['0', '10001', '-1', 'one', '', '1.0', '+1', '0x1'].map(
    (partNumber): Row => ({
      it: `refuses part number "${partNumber}"`,
      proves: ['query:partNumber', 'part numbers 1 to 10,000 of UploadPart'],
      ...refusal('InvalidArgument', { ArgumentName: 'partNumber', ArgumentValue: partNumber }),
      message: 'Part number must be an integer between 1 and 10000, inclusive',
      given: begun(),
      ask: put({}, { partNumber }),
      afterwards: partsHold(),
    }),
  ),
  {
    it: 'refuses part number 0 of the SDK',
    ...refusal('InvalidArgument'),
    given: begun(),
    ask: put({}, { partNumber: '0' }),
    sdk: sdk(UploadPartCommand, { ...input, PartNumber: 0 }),
  },
  ...['nothing', '', '../x', '\u0000'].map(
    (uploadId): Row => ({
      it: `answers NoSuchUpload for the upload ${JSON.stringify(uploadId)}`,
      ...refusal('NoSuchUpload', { UploadId: uploadId }),
      ask: put({}, { uploadId }),
    }),
  ),
  {
    it: 'answers NoSuchUpload to the SDK',
    ...refusal('NoSuchUpload'),
    ask: put({}, { uploadId: 'nothing' }),
    sdk: sdk(UploadPartCommand, { ...input, UploadId: 'nothing' }),
  },
  {
    it: 'answers NoSuchUpload for the upload of another key',
    ...refusal('NoSuchUpload'),
    given: begun(),
    ask: put({ key: 'other' }),
    afterwards: partsHold(),
  },
  {
    it: 'answers NoSuchUpload for an upload that was aborted',
    ...refusal('NoSuchUpload'),
    given: async (wire) => {
      const uploadId = await beginUpload(wire)
      await wire.must({ method: 'DELETE', key: 'big', query: { uploadId } })
      return { uploadId }
    },
    ask: put(),
  },
  {
    it: 'answers NoSuchUpload for an upload that was completed',
    ...refusal('NoSuchUpload'),
    given: async (wire) => {
      const uploadId = await beginUpload(wire)
      const body = completeDocument([[1, await putPart(wire, uploadId, 1, 'x')]])
      await wire.must({ method: 'POST', key: 'big', query: { uploadId }, body })
      return { uploadId }
    },
    ask: put(),
    afterwards: async (wire) => {
      expect((await wire.must({ method: 'GET', key: 'big' })).body.toString()).toBe('x')
    },
  },
  {
    it: 'answers NoSuchBucket where there is no bucket',
    withoutBucket: true,
    ...refusal('NoSuchBucket', { BucketName: 'wire' }),
    ask: put({}, { uploadId: 'nothing' }),
    sdk: sdk(UploadPartCommand, { ...input, UploadId: 'nothing' }),
  },
  {
    it: "answers AccessDenied for another account's bucket",
    ...refusal('AccessDenied', {}),
    given: begun(),
    ask: put({ signedBy: otherKey }),
    afterwards: partsHold(),
  },
  {
    it: 'answers AccessDenied where another owner is expected',
    ...refusal('AccessDenied', {}),
    given: begun(),
    ask: put({ vendor: { 'expected-bucket-owner': 'other' } }),
    afterwards: partsHold(),
    sdk: sdk(UploadPartCommand, { ...input, ExpectedBucketOwner: 'other' }),
  },
]

const checksums: Row[] = [
  ...(['CRC32', 'CRC32C', 'CRC64NVME', 'SHA1', 'SHA256'] as const).flatMap((algorithm): Row[] => {
    const name = `checksum-${algorithm.toLowerCase()}`
    const value = referenceChecksum(algorithm, text)
    const given = begun({ 'checksum-algorithm': algorithm })
    return [
      {
        it: `accepts the right ${algorithm}, and answers it`,
        ...stored,
        given,
        ask: put({ vendor: { [name]: value } }),
        vendor: { [name]: value },
        sdk: sdk(UploadPartCommand, { ...input, [`Checksum${algorithm}`]: value }, { [`Checksum${algorithm}`]: value }),
      },
    ]
  }),
  {
    it: 'refuses another algorithm than that of the upload',
    ...refusal('InvalidRequest', {}),
    given: begun({ 'checksum-algorithm': 'SHA256' }),
    ask: put({ vendor: { 'checksum-sha1': referenceChecksum('SHA1', text) } }),
    afterwards: partsHold(),
    sdk: sdk(UploadPartCommand, { ...input, ChecksumSHA1: referenceChecksum('SHA1', text) }),
  },
]

const refused: Row[] = [
  ...thirdsOfCustomerKey((vendor) => ({ given: begun(), ask: put({ vendor }), afterwards: partsHold() })),
  {
    it: 'refuses encryption where the upload has none',
    ...refusal('InvalidRequest', {}),
    given: begun(),
    ask: put({ vendor: storeHeaders }),
    afterwards: partsHold(),
  },
]

wireTests('UploadPart', [...rows, ...addresses, ...checksums, ...refused])
