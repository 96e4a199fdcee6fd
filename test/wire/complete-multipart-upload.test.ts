/** CompleteMultipartUpload over the wire. Conditions and checksums, and answers that take long, have tests of their own. */
import { CompleteMultipartUploadCommand } from '@aws-sdk/client-s3'
import { expect } from 'vitest'
import { md5Hex, multipartEtag } from '../support/wire-checksums.ts'
import {
  complete,
  done,
  etag,
  first,
  input,
  isOpen,
  isWhole,
  last,
  listed,
  only,
  small,
  smallEtag,
  smallInput,
  two,
} from '../support/wire-completions.ts'
import { thirdsOfCustomerKey } from '../support/wire-encryption.ts'
import { type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { sdk } from '../support/wire-sdk.ts'
import { otherKey } from '../support/wire-server.ts'
import { beginUpload, putPart, uploadOf } from '../support/wire-uploads.ts'

const rows: Row[] = [
  {
    it: 'makes one object of all parts',
    proves: ['query:uploadId'],
    given: two,
    ask: complete(listed),
    ...done(etag),
    vendor: {},
    afterwards: isWhole(first, last),
    sdk: sdk(CompleteMultipartUploadCommand, input, { ETag: etag, Bucket: 'wire', Key: 'big' }),
  },
  {
    it: 'reads entity tags without quotes, and elements in any order',
    given: async (wire) => {
      const facts = await small(wire)
      return { ...facts, bare: (facts.etag1 ?? '').replaceAll('"', '') }
    },
    ask: complete(
      '<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Part><ETag>{{bare}}</ETag><PartNumber>1</PartNumber></Part></CompleteMultipartUpload>',
    ),
    ...done(smallEtag),
  },
  {
    it: 'orders parts by number, whatever the order in which they came',
    proves: [
      'element:CompleteMultipartUpload/Part/PartNumber',
      'CompleteMultipartUpload: the parts are concatenated in ascending order',
    ],
    given: async (wire) => {
      const uploadId = await beginUpload(wire)
      const etag7 = await putPart(wire, uploadId, 7, last)
      const etag3 = await putPart(wire, uploadId, 3, first)
      return { uploadId, etag1: etag3, etag2: etag7 }
    },
    ask: complete([
      [3, '{{etag1}}'],
      [7, '{{etag2}}'],
    ]),
    ...done(etag),
    afterwards: isWhole(first, last),
  },
  {
    it: 'takes a part as it was sent last',
    proves: ['UploadPart: a part with an earlier part number replaces that part'],
    given: async (wire) => {
      const uploadId = await beginUpload(wire)
      await putPart(wire, uploadId, 1, 'the first time')
      return { uploadId, etag1: await putPart(wire, uploadId, 1, 'only') }
    },
    ask: complete(only),
    ...done(smallEtag),
    afterwards: isWhole('only'),
  },
  {
    it: 'leaves out parts that are not listed',
    given: async (wire) => {
      const facts = await small(wire)
      await putPart(wire, facts.uploadId ?? '', 2, 'left out')
      return facts
    },
    ask: complete(only),
    ...done(smallEtag),
    afterwards: isWhole('only'),
  },
  {
    it: 'makes an empty object of one empty part',
    given: (wire) => uploadOf(wire, ['']),
    ask: complete(only),
    ...done(multipartEtag([''])),
    afterwards: isWhole(''),
  },
  {
    it: 'answers the same again when it is repeated',
    given: async (wire) => {
      const facts = await two(wire)
      await wire.must(
        complete(
          [
            [1, facts.etag1 ?? ''],
            [2, facts.etag2 ?? ''],
          ],
          {},
          facts.uploadId,
        ),
      )
      return facts
    },
    ask: complete(listed),
    ...done(etag),
    afterwards: isWhole(first, last),
    sdk: sdk(CompleteMultipartUploadCommand, input, { ETag: etag }),
  },
  {
    it: 'does not bring back what was replaced since when it is repeated',
    given: async (wire) => {
      const facts = await small(wire)
      await wire.must(complete([[1, facts.etag1 ?? '']], {}, facts.uploadId))
      await wire.must({ method: 'PUT', key: 'big', body: 'newer' })
      return facts
    },
    ask: complete(only),
    ...done(smallEtag),
    afterwards: async (wire) => {
      expect((await wire.must({ method: 'GET', key: 'big' })).body.toString()).toBe('newer')
    },
  },
]

const wrong: Row[] = [
  {
    it: 'refuses to repeat it with other parts, because no object was made of those',
    ...refusal('NoSuchUpload', { UploadId: '{{uploadId}}' }),
    given: async (wire) => {
      const facts = await two(wire)
      const { etag1 = '', etag2 = '', uploadId } = facts
      const both = complete(
        [
          [1, etag1],
          [2, etag2],
        ],
        {},
        uploadId,
      )
      await wire.must(both)
      return facts
    },
    ask: complete(only),
    afterwards: isWhole(first, last),
  },
  {
    it: 'refuses parts out of order',
    proves: ['element:CompleteMultipartUpload/Part/PartNumber'],
    ...refusal('InvalidPartOrder', { UploadId: '{{uploadId}}' }),
    given: (wire) => uploadOf(wire, ['a', 'b']),
    ask: complete([
      [2, '{{etag2}}'],
      [1, '{{etag1}}'],
    ]),
    afterwards: isOpen,
    sdk: sdk(CompleteMultipartUploadCommand, {
      ...input,
      MultipartUpload: { Parts: input.MultipartUpload.Parts.toReversed() },
    }),
  },
  {
    it: 'refuses a part listed twice',
    ...refusal('InvalidPartOrder', { UploadId: '{{uploadId}}' }),
    given: two,
    ask: complete([
      [1, '{{etag1}}'],
      [1, '{{etag1}}'],
    ]),
    afterwards: isOpen,
  },
  {
    it: 'refuses a part that was not sent',
    proves: ['400: CompleteMultipartUpload without a valid Part'],
    ...refusal('InvalidPart', { UploadId: '{{uploadId}}', PartNumber: '2', ETag: 'x' }),
    given: two,
    ask: complete([
      [1, '{{etag1}}'],
      [2, '"x"'],
    ]),
    afterwards: isOpen,
  },
  {
    it: 'refuses a part by the tag of another',
    proves: [
      'element:CompleteMultipartUpload/Part/ETag',
      'the listed parts need the entity tags that their uploads answered',
    ],
    ...refusal('InvalidPart', { UploadId: '{{uploadId}}', PartNumber: '1', ETag: md5Hex(last) }),
    given: two,
    ask: complete([[1, '{{etag2}}']]),
    afterwards: isOpen,
    sdk: sdk(CompleteMultipartUploadCommand, {
      ...input,
      MultipartUpload: { Parts: [{ PartNumber: 1, ETag: '{{etag2}}' }] },
    }),
  },
  {
    it: 'refuses the tag * for a part',
    ...refusal('InvalidPart', { UploadId: '{{uploadId}}', PartNumber: '1', ETag: '*' }),
    given: small,
    ask: complete([[1, '*']]),
    afterwards: isOpen,
  },
  {
    it: 'refuses a part as it was before it was sent again',
    ...refusal('InvalidPart'),
    given: async (wire) => {
      const facts = await small(wire)
      await putPart(wire, facts.uploadId ?? '', 1, 'again')
      return facts
    },
    ask: complete(only),
    afterwards: isOpen,
  },
  {
    it: 'refuses a part below 5 MiB that is not the last',
    ...refusal('EntityTooSmall', {
      PartNumber: '1',
      ETag: md5Hex(first.subarray(1)),
      ProposedSize: '5242879',
      MinSizeAllowed: '5242880',
    }),
    given: (wire) => uploadOf(wire, [first.subarray(1), last]),
    ask: complete(listed),
    afterwards: isOpen,
    sdk: sdk(CompleteMultipartUploadCommand, input),
  },
  ...['0', '-1'].map(
    (number): Row => ({
      it: `refuses part number ${number}`,
      ...refusal('InvalidArgument', { ArgumentName: 'partNumber', ArgumentValue: number }),
      given: small,
      ask: complete([[number, '{{etag1}}']]),
      afterwards: isOpen,
    }),
  ),
  {
    it: 'refuses part number 10001',
    ...refusal('InvalidPart', { UploadId: '{{uploadId}}', PartNumber: '10001' }),
    given: small,
    ask: complete([['10001', '{{etag1}}']]),
    afterwards: isOpen,
  },
  {
    it: 'refuses no parts',
    proves: ['400: CompleteMultipartUpload without a valid Part'],
    ...refusal('MalformedXML', {}),
    given: small,
    ask: complete([]),
    afterwards: isOpen,
    sdk: sdk(CompleteMultipartUploadCommand, { ...input, MultipartUpload: { Parts: [] } }),
  },
  {
    it: 'refuses more parts than there are numbers',
    ...refusal('MalformedXML', {}),
    given: small,
    ask: complete(Array.from({ length: 10_001 }, (_, i) => [i + 1, '"x"'] as const)),
    afterwards: isOpen,
  },
  {
    it: 'refuses no body',
    ...refusal('InvalidRequest', {}),
    given: small,
    ask: complete(''),
    afterwards: isOpen,
  },
  {
    it: 'answers no body to an upload that is not there with NoSuchUpload',
    ...refusal('NoSuchUpload', { UploadId: 'nothing' }),
    ask: { ...complete(''), query: { uploadId: 'nothing' } },
  },
  ...[
    '<Complete/>',
    '<CompleteMultipartUpload><Part><PartNumber>1</PartNumber></Part></CompleteMultipartUpload>',
    '<CompleteMultipartUpload><Part><ETag>"x"</ETag></Part></CompleteMultipartUpload>',
    '<CompleteMultipartUpload><Part><PartNumber>one</PartNumber><ETag>"x"</ETag></Part></CompleteMultipartUpload>',
    '<CompleteMultipartUpload><Part/></CompleteMultipartUpload>',
    '<CompleteMultipartUpload>',
  ].map(
    (body): Row => ({
      it: `refuses ${body}`,
      ...refusal('MalformedXML'),
      given: small,
      ask: complete(body),
      afterwards: isOpen,
    }),
  ),
  {
    it: 'answers NoSuchUpload where there is no upload',
    ...refusal('NoSuchUpload', { UploadId: 'nothing' }),
    ask: complete([[1, '"x"']], {}, 'nothing'),
    sdk: sdk(CompleteMultipartUploadCommand, {
      ...input,
      UploadId: 'nothing',
      MultipartUpload: { Parts: [{ PartNumber: 1, ETag: 'x' }] },
    }),
  },
  {
    it: 'answers NoSuchUpload for the upload of another key',
    ...refusal('NoSuchUpload'),
    given: small,
    ask: complete(only, { key: 'other' }),
    afterwards: isOpen,
  },
  {
    it: 'answers NoSuchUpload for an upload that was aborted',
    ...refusal('NoSuchUpload'),
    given: async (wire) => {
      const facts = await small(wire)
      await wire.must({ method: 'DELETE', key: 'big', query: { uploadId: facts.uploadId ?? '' } })
      return facts
    },
    ask: complete(only),
    sdk: sdk(CompleteMultipartUploadCommand, smallInput),
  },
  {
    it: 'answers NoSuchBucket where there is no bucket',
    withoutBucket: true,
    ...refusal('NoSuchBucket', { BucketName: 'wire' }),
    ask: complete([[1, '"x"']], {}, 'nothing'),
  },
  {
    it: "answers AccessDenied for another account's bucket",
    ...refusal('AccessDenied', {}),
    given: small,
    ask: complete(only, { signedBy: otherKey }),
    afterwards: isOpen,
  },
  {
    it: 'answers AccessDenied where another owner is expected',
    ...refusal('AccessDenied', {}),
    given: small,
    ask: complete(only, { vendor: { 'expected-bucket-owner': 'other' } }),
    afterwards: isOpen,
  },
  ...thirdsOfCustomerKey((vendor) => ({ given: small, ask: complete(only, { vendor }), afterwards: isOpen })),
]

wireTests('CompleteMultipartUpload', [...rows, ...wrong])
