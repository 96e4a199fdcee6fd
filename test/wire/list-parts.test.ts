/** ListParts over the wire. */
import { ListPartsCommand } from '@aws-sdk/client-s3'
import { expect } from 'vitest'
import { uploadChecksums } from '../support/wire-checksum-matrix.ts'
import { md5Hex, referenceChecksum } from '../support/wire-checksums.ts'
import type { Wire } from '../support/wire-client.ts'
import { anInstant, type Facts, type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { sdk } from '../support/wire-sdk.ts'
import { otherKey } from '../support/wire-server.ts'
import { beginUpload, putPart, uploadOf } from '../support/wire-uploads.ts'

const person = { ID: 'main', DisplayName: 'Main' }
const bodies: Record<number, string> = { 1: 'one', 2: 'two', 5: 'five', 30: 'thirty' }
const part = (number: number, more: object = {}) => ({
  PartNumber: String(number),
  LastModified: anInstant,
  ETag: `"${md5Hex(bodies[number] ?? '')}"`,
  Size: String(bodies[number]?.length),
  ...more,
})

const ask = (query: Record<string, string> = {}) =>
  ({ method: 'GET', key: 'big', query: { uploadId: '{{uploadId}}', ...query } }) as const
const input = { Bucket: 'wire', Key: 'big', UploadId: '{{uploadId}}' }

async function parts(wire: Wire): Promise<Facts> {
  const uploadId = await beginUpload(wire)
  for (const number of [30, 2, 5, 1]) await putPart(wire, uploadId, number, bodies[number] ?? '')
  return { uploadId }
}

const page = (elements: object) => ({
  status: 200,
  xml: {
    ListPartsResult: {
      Bucket: 'wire',
      Key: 'big',
      UploadId: '{{uploadId}}',
      Initiator: person,
      Owner: person,
      StorageClass: 'STANDARD',
      PartNumberMarker: '0',
      MaxParts: '1000',
      IsTruncated: 'false',
      ...elements,
    },
  },
})

const rows: Row[] = [
  {
    it: 'lists parts by number, whatever the order in which they came',
    proves: ['query:uploadId'],
    given: parts,
    ask: ask(),
    headers: { 'Content-Type': 'application/xml' },
    vendor: {},
    ...page({ NextPartNumberMarker: '30', Part: [1, 2, 5, 30].map((number) => part(number)) }),
    sdk: sdk(ListPartsCommand, input, {
      Bucket: 'wire',
      Key: 'big',
      UploadId: '{{uploadId}}',
      IsTruncated: false,
      MaxParts: 1000,
      Owner: person,
      Initiator: person,
      StorageClass: 'STANDARD',
      Parts: [
        { PartNumber: 1, Size: 3, ETag: `"${md5Hex('one')}"`, LastModified: expect.any(Date) },
        { PartNumber: 2 },
        { PartNumber: 5 },
        { PartNumber: 30 },
      ],
    }),
  },
  {
    it: 'lists no parts of an upload that has none',
    given: async (wire) => ({ uploadId: await beginUpload(wire) }),
    ask: ask(),
    ...page({ NextPartNumberMarker: '0' }),
    sdk: sdk(ListPartsCommand, input, { Parts: undefined, IsTruncated: false }),
  },
  {
    it: 'fills a page, and says how to continue',
    proves: ['query:max-parts'],
    given: parts,
    ask: ask({ 'max-parts': '2' }),
    ...page({ MaxParts: '2', NextPartNumberMarker: '2', IsTruncated: 'true', Part: [part(1), part(2)] }),
    sdk: sdk(ListPartsCommand, { ...input, MaxParts: 2 }, { IsTruncated: true, NextPartNumberMarker: '2' }),
  },
  {
    it: 'continues behind a part number',
    proves: ['query:part-number-marker'],
    given: parts,
    ask: ask({ 'max-parts': '2', 'part-number-marker': '2' }),
    ...page({ MaxParts: '2', PartNumberMarker: '2', NextPartNumberMarker: '30', Part: [part(5), part(30)] }),
    sdk: sdk(
      ListPartsCommand,
      { ...input, MaxParts: 2, PartNumberMarker: '2' },
      { IsTruncated: false, PartNumberMarker: '2', Parts: [{ PartNumber: 5 }, { PartNumber: 30 }] },
    ),
  },
  {
    it: 'continues behind a part number that is not there',
    given: parts,
    ask: ask({ 'part-number-marker': '3' }),
    ...page({ PartNumberMarker: '3', NextPartNumberMarker: '30', Part: [part(5), part(30)] }),
  },
  {
    // Truncated and with the same marker, it would have clients ask for ever.
    it: 'lists nothing where nothing is asked for, and is not truncated',
    given: parts,
    ask: ask({ 'max-parts': '0' }),
    ...page({ MaxParts: '0', NextPartNumberMarker: '0' }),
    sdk: sdk(ListPartsCommand, { ...input, MaxParts: 0 }, { IsTruncated: false, NextPartNumberMarker: '0' }),
  },
  {
    it: 'takes empty numbers for none',
    given: parts,
    ask: ask({ 'max-parts': '', 'part-number-marker': '' }),
    ...page({ NextPartNumberMarker: '30', Part: [part(1), part(2), part(5), part(30)] }),
  },
  {
    it: 'lists nothing behind the last part',
    given: parts,
    ask: ask({ 'part-number-marker': '10000' }),
    ...page({ PartNumberMarker: '10000', NextPartNumberMarker: '10000' }),
  },
  {
    it: 'takes more than 1,000 for 1,000',
    given: parts,
    ask: ask({ 'max-parts': '5000', 'part-number-marker': '5' }),
    ...page({ PartNumberMarker: '5', NextPartNumberMarker: '30', Part: part(30) }),
  },
  {
    it: 'lists a part sent again once, as it is now',
    given: async (wire) => {
      const facts = await uploadOf(wire, ['one'])
      await putPart(wire, facts.uploadId ?? '', 1, 'two')
      return facts
    },
    ask: ask(),
    ...page({
      NextPartNumberMarker: '1',
      Part: { PartNumber: '1', LastModified: anInstant, ETag: `"${md5Hex('two')}"`, Size: '3' },
    }),
  },
  ...uploadChecksums.map(
    ([algorithm, type]): Row => ({
      it: `lists parts with their ${algorithm} and its type ${type}`,
      given: (wire) => uploadOf(wire, ['one'], { 'checksum-algorithm': algorithm, 'checksum-type': type }),
      ask: ask(),
      ...page({
        ChecksumAlgorithm: algorithm,
        ChecksumType: type,
        NextPartNumberMarker: '1',
        Part: part(1, { [`Checksum${algorithm}`]: referenceChecksum(algorithm, 'one') }),
      }),
      sdk: sdk(ListPartsCommand, input, {
        ChecksumAlgorithm: algorithm,
        ChecksumType: type,
        Parts: [{ [`Checksum${algorithm}`]: referenceChecksum(algorithm, 'one') }],
      }),
    }),
  ),
  ...['max-parts', 'part-number-marker'].flatMap((name) =>
    ['-1', 'abc', '1.5', '2147483648'].map(
      (value): Row => ({
        it: `refuses ${name} "${value}"`,
        ...refusal('InvalidArgument', { ArgumentName: name, ArgumentValue: value }),
        given: parts,
        ask: ask({ [name]: value }),
      }),
    ),
  ),
  {
    it: 'answers NoSuchUpload where there is no upload',
    ...refusal('NoSuchUpload', { UploadId: 'nothing' }),
    ask: ask({ uploadId: 'nothing' }),
    sdk: sdk(ListPartsCommand, { ...input, UploadId: 'nothing' }),
  },
  {
    it: 'answers NoSuchUpload for the upload of another key',
    ...refusal('NoSuchUpload'),
    given: parts,
    ask: { ...ask(), key: 'other' },
  },
  {
    it: 'answers NoSuchBucket where there is no bucket',
    withoutBucket: true,
    ...refusal('NoSuchBucket', { BucketName: 'wire' }),
    ask: ask({ uploadId: 'nothing' }),
    sdk: sdk(ListPartsCommand, { ...input, UploadId: 'nothing' }),
  },
  {
    it: "answers AccessDenied for another account's bucket",
    ...refusal('AccessDenied', {}),
    given: parts,
    ask: { ...ask(), signedBy: otherKey },
  },
  {
    it: 'answers AccessDenied where another owner is expected',
    ...refusal('AccessDenied', {}),
    given: parts,
    ask: { ...ask(), vendor: { 'expected-bucket-owner': 'other' } },
  },
]

wireTests('ListParts', rows)
