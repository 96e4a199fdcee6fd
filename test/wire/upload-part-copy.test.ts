/** UploadPartCopy over the wire. */
import { UploadPartCopyCommand } from '@aws-sdk/client-s3'
import { expect } from 'vitest'
import { md5Hex, referenceChecksum } from '../support/wire-checksums.ts'
import type { Ask, Wire } from '../support/wire-client.ts'
import { thirdsOfCustomerKey } from '../support/wire-encryption.ts'
import { anInstant, type Facts, type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { sdk } from '../support/wire-sdk.ts'
import { otherKey } from '../support/wire-server.ts'
import { beginUpload, completeDocument } from '../support/wire-uploads.ts'

const text = 'The quick brown fox'
const etag = `"${md5Hex(text)}"`

const begun =
  (vendor?: Record<string, string>) =>
  async (wire: Wire): Promise<Facts> => {
    await wire.must({ method: 'PUT', key: 'from', body: text })
    await wire.must({ method: 'PUT', key: 'empty', body: '' })
    const { headers } = await wire.must({ method: 'HEAD', key: 'from' })
    return { lastModified: headers.get('last-modified') ?? '', uploadId: await beginUpload(wire, vendor) }
  }
const copy = (
  vendor: Record<string, string> = {},
  query: Record<string, string> = {},
  more: Partial<Ask> = {},
): Ask => ({
  method: 'PUT',
  key: 'big',
  query: { partNumber: '1', uploadId: '{{uploadId}}', ...query },
  vendor: { 'copy-source': '/wire/from', ...vendor },
  ...more,
})
const input = { Bucket: 'wire', Key: 'big', PartNumber: 1, UploadId: '{{uploadId}}', CopySource: '/wire/from' }
const copied = (bytes: string) => ({
  status: 200,
  given: begun(),
  xml: { CopyPartResult: { LastModified: anInstant, ETag: `"${md5Hex(bytes)}"` } },
})

const becomes =
  (bytes: string) =>
  async (wire: Wire, _: unknown, { uploadId = '' }: Facts): Promise<void> => {
    const body = completeDocument([[1, `"${md5Hex(bytes)}"`]])
    await wire.must({ method: 'POST', key: 'big', query: { uploadId }, body })
    expect((await wire.must({ method: 'GET', key: 'big' })).body.toString()).toBe(bytes)
  }
const noParts = async (wire: Wire, _: unknown, { uploadId = '' }: Facts): Promise<void> => {
  const { body } = await wire.must({ method: 'GET', key: 'big', query: { uploadId } })
  expect(body.toString()).not.toContain('<Part>')
}

const rows: Row[] = [
  {
    it: 'makes a part of a whole object',
    proves: ['query:uploadId', 'vendor:copy-source'],
    ...copied(text),
    ask: copy(),
    afterwards: becomes(text),
    sdk: sdk(UploadPartCopyCommand, input, { CopyPartResult: { ETag: etag, LastModified: expect.any(Date) } }),
  },
  {
    it: 'makes a part of an empty object',
    ...copied(''),
    ask: copy({ 'copy-source': 'wire/empty' }),
    afterwards: becomes(''),
  },
  ...(
    [
      ['bytes=4-8', 'quick'],
      ['bytes=0-0', 'T'],
      ['bytes=18-18', 'x'],
      ['bytes=0-18', text],
    ] as const
  ).map(
    ([range, bytes]): Row => ({
      it: `makes a part of range ${range}`,
      proves: ['vendor:copy-source-range'],
      ...copied(bytes),
      ask: copy({ 'copy-source-range': range }),
      afterwards: becomes(bytes),
      sdk: sdk(
        UploadPartCopyCommand,
        { ...input, CopySourceRange: range },
        { CopyPartResult: { ETag: `"${md5Hex(bytes)}"` } },
      ),
    }),
  ),
  ...['bytes=4-', 'bytes=-4', 'bytes=8-4', '4-8', 'bytes=a-b', 'bytes=0-1,3-4', ''].map(
    (range): Row => ({
      it: `refuses range "${range}", as first and last must be given`,
      ...refusal('InvalidArgument', { ArgumentName: '{{prefix}}copy-source-range', ArgumentValue: range }),
      message:
        'The {{prefix}}copy-source-range value must be of the form bytes=first-last where first and last are the zero-based offsets of the first and last bytes to copy',
      given: begun(),
      ask: copy({ 'copy-source-range': range }),
      afterwards: noParts,
    }),
  ),
  ...['bytes=0-19', 'bytes=18-20'].map(
    (range): Row => ({
      it: `refuses range ${range} of 19 bytes, as a part must not turn out shorter than asked for`,
      ...refusal('InvalidArgument', { ArgumentName: '{{prefix}}copy-source-range', ArgumentValue: range }),
      given: begun(),
      ask: copy({ 'copy-source-range': range }),
      afterwards: noParts,
      sdk: sdk(UploadPartCopyCommand, { ...input, CopySourceRange: range }),
    }),
  ),
  {
    it: 'refuses a range that begins beyond the source',
    ...refusal('InvalidRequest', {}),
    given: begun(),
    ask: copy({ 'copy-source-range': 'bytes=19-20' }),
    afterwards: noParts,
  },
  {
    it: 'computes the checksum of the upload',
    ...copied(text),
    given: begun({ 'checksum-algorithm': 'SHA256' }),
    ask: copy(),
    xml: { CopyPartResult: { LastModified: anInstant, ETag: etag, ChecksumSHA256: referenceChecksum('SHA256', text) } },
    sdk: sdk(UploadPartCopyCommand, input, { CopyPartResult: { ChecksumSHA256: referenceChecksum('SHA256', text) } }),
  },
]

rows.push({
  it: 'makes part 10,000 of a source whose owner is the one that is expected',
  proves: ['query:partNumber', 'vendor:source-expected-bucket-owner'],
  ...copied(text),
  ask: copy({ 'source-expected-bucket-owner': 'main' }, { partNumber: '10000' }),
  afterwards: async (wire, _, { uploadId = '' }) => {
    const { body } = await wire.must({ method: 'GET', key: 'big', query: { uploadId } })
    expect(body.toString()).toContain('<PartNumber>10000</PartNumber>')
  },
})

const past = 'Sat, 01 Jan 2000 00:00:00 GMT'
const conditions: Row[] = [
  ...(
    [
      ['if-match', etag],
      ['if-none-match', '"another"'],
      ['if-modified-since', past],
      ['if-unmodified-since', '{{lastModified}}'],
    ] as const
  ).map(
    ([name, value]): Row => ({
      it: `copies if ${name} holds of the source`,
      proves: [`vendor:copy-source-${name}`],
      ...copied(text),
      ask: copy({ [`copy-source-${name}`]: value }),
    }),
  ),
  ...(
    [
      ['if-match', '"another"'],
      ['if-none-match', etag],
      ['if-modified-since', '{{lastModified}}'],
      ['if-unmodified-since', past],
    ] as const
  ).map(
    ([name, value]): Row => ({
      it: `does not copy if ${name} fails of the source`,
      proves: [`vendor:copy-source-${name}`],
      ...refusal('PreconditionFailed'),
      given: begun(),
      ask: copy({ [`copy-source-${name}`]: value }),
      afterwards: noParts,
    }),
  ),
  {
    it: 'answers a condition to the SDK',
    ...refusal('PreconditionFailed'),
    given: begun(),
    ask: copy({ 'copy-source-if-match': '"another"' }),
    sdk: sdk(UploadPartCopyCommand, { ...input, CopySourceIfMatch: '"another"' }),
  },
]

const refused: Row[] = [
  {
    it: 'answers NoSuchKey where there is no source',
    ...refusal('NoSuchKey', { Key: 'nothing' }),
    given: begun(),
    ask: copy({ 'copy-source': '/wire/nothing' }),
    afterwards: noParts,
    sdk: sdk(UploadPartCopyCommand, { ...input, CopySource: '/wire/nothing' }),
  },
  {
    it: 'answers NoSuchBucket where the source has no bucket',
    ...refusal('NoSuchBucket', { BucketName: 'nowhere' }),
    given: begun(),
    ask: copy({ 'copy-source': '/nowhere/x' }),
    afterwards: noParts,
  },
  {
    it: 'answers NoSuchUpload where there is no upload',
    ...refusal('NoSuchUpload', { UploadId: 'nothing' }),
    given: begun(),
    ask: copy({}, { uploadId: 'nothing' }),
    sdk: sdk(UploadPartCopyCommand, { ...input, UploadId: 'nothing' }),
  },
  {
    it: 'answers InvalidArgument for what can name no version of the source',
    ...refusal('InvalidArgument', { ArgumentName: '{{prefix}}copy-source', ArgumentValue: 'v1' }),
    given: begun(),
    ask: copy({ 'copy-source': '/wire/from?versionId=v1' }),
    afterwards: noParts,
  },
  ...['0', '10001', 'x'].map(
    (partNumber): Row => ({
      it: `refuses part number ${partNumber}`,
      proves: ['query:partNumber'],
      ...refusal('InvalidArgument', { ArgumentName: 'partNumber', ArgumentValue: partNumber }),
      given: begun(),
      ask: copy({}, { partNumber }),
      afterwards: noParts,
    }),
  ),
  {
    it: 'refuses a source that is none',
    ...refusal('InvalidArgument'),
    given: begun(),
    ask: copy({ 'copy-source': 'from' }),
    afterwards: noParts,
  },
  {
    it: "answers AccessDenied for another account's source",
    ...refusal('AccessDenied', {}),
    given: async (wire) => {
      await wire.must({ method: 'PUT', bucket: 'theirs', signedBy: otherKey })
      await wire.must({ method: 'PUT', bucket: 'theirs', key: 'from', body: text, signedBy: otherKey })
      return begun()(wire)
    },
    ask: copy({ 'copy-source': '/theirs/from' }),
    afterwards: noParts,
    sdk: sdk(UploadPartCopyCommand, { ...input, CopySource: '/theirs/from' }),
  },
  {
    it: "answers AccessDenied for another account's upload",
    ...refusal('AccessDenied', {}),
    given: begun(),
    ask: copy({}, {}, { signedBy: otherKey }),
    afterwards: noParts,
  },
  {
    it: 'answers AccessDenied where another owner of the source is expected',
    proves: ['vendor:source-expected-bucket-owner'],
    ...refusal('AccessDenied', {}),
    given: begun(),
    ask: copy({ 'source-expected-bucket-owner': 'other' }),
    afterwards: noParts,
  },
  {
    it: 'answers AccessDenied where another owner of the upload is expected',
    ...refusal('AccessDenied', {}),
    given: begun(),
    ask: copy({ 'expected-bucket-owner': 'other' }),
    afterwards: noParts,
  },
  ...['', 'copy-source-'].flatMap((prefix) =>
    thirdsOfCustomerKey((vendor) => ({ given: begun(), ask: copy(vendor), afterwards: noParts }), prefix),
  ),
]

wireTests('UploadPartCopy', [...rows, ...conditions, ...refused])
