/** CompleteMultipartUpload over the wire. Answers that take long have a test of their own. */
import { CompleteMultipartUploadCommand } from '@aws-sdk/client-s3'
import { expect } from 'vitest'
import { algorithms, multipartEtag, referenceChecksum, referenceComposite } from '../support/wire-checksums.ts'
import type { Ask, Wire } from '../support/wire-client.ts'
import { type Facts, type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { sdk } from '../support/wire-sdk.ts'
import { otherKey } from '../support/wire-server.ts'
import { beginUpload, completeDocument, type ListedPart, partOf, putPart, uploadOf } from '../support/wire-uploads.ts'

const first = partOf(1)
const last = partOf(2, 100)
const etag = multipartEtag([first, last])
const listed: ListedPart[] = [
  [1, '{{etag1}}'],
  [2, '{{etag2}}'],
]

const complete = (parts: readonly ListedPart[] | string, more: Partial<Ask> = {}, uploadId = '{{uploadId}}'): Ask => ({
  method: 'POST',
  key: 'big',
  query: { uploadId },
  body: typeof parts === 'string' ? parts : completeDocument(parts),
  ...more,
})
const input = {
  Bucket: 'wire',
  Key: 'big',
  UploadId: '{{uploadId}}',
  MultipartUpload: {
    Parts: [
      { PartNumber: 1, ETag: '{{etag1}}' },
      { PartNumber: 2, ETag: '{{etag2}}' },
    ],
  },
}

const two = (wire: Wire) => uploadOf(wire, [first, last])
/** Cheaper than `two`, where the parts' sizes don't matter. */
const small = (wire: Wire) => uploadOf(wire, ['only'])
const smallEtag = multipartEtag(['only'])
const smallInput = { ...input, MultipartUpload: { Parts: [{ PartNumber: 1, ETag: '{{etag1}}' }] } }
const only: ListedPart[] = [[1, '{{etag1}}']]

const done = (ETag: string, more: object = {}) => ({
  status: 200,
  headers: { 'Content-Type': 'application/xml' },
  xml: {
    CompleteMultipartUploadResult: {
      Location: expect.stringMatching(/^http:\/\/(?:127\.0\.0\.1:\d+\/wire|wire\.localhost:\d+)\/big$/),
      Bucket: 'wire',
      Key: 'big',
      ETag,
      ...more,
    },
  },
})

const isWhole =
  (...parts: (string | Buffer)[]) =>
  async (wire: Wire): Promise<void> => {
    const whole = Buffer.concat(parts.map((part) => Buffer.from(part)))
    const { body, headers } = await wire.must({ method: 'GET', key: 'big' })
    expect(body.equals(whole)).toBe(true)
    expect(headers.get('etag')).toBe(multipartEtag(parts))
  }
const isOpen = async (wire: Wire, _: unknown, { uploadId = '' }: Facts): Promise<void> => {
  await wire.must({ method: 'GET', key: 'big', query: { uploadId } })
  expect((await wire.ask({ method: 'HEAD', key: 'big' })).status).toBe(404)
}

const rows: Row[] = [
  {
    it: 'makes one object of all parts',
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
    it: 'refuses parts out of order',
    ...refusal('InvalidPartOrder', {}),
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
    ...refusal('InvalidPartOrder', {}),
    given: two,
    ask: complete([
      [1, '{{etag1}}'],
      [1, '{{etag1}}'],
    ]),
    afterwards: isOpen,
  },
  {
    it: 'refuses a part that was not sent',
    ...refusal('InvalidPart', { PartNumber: '2', ETag: '"x"' }),
    given: two,
    ask: complete([
      [1, '{{etag1}}'],
      [2, '"x"'],
    ]),
    afterwards: isOpen,
  },
  {
    it: 'refuses a part by the tag of another',
    ...refusal('InvalidPart', { PartNumber: '1', ETag: '{{etag2}}' }),
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
    ...refusal('InvalidPart', { PartNumber: '1', ETag: '*' }),
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
      ETag: '{{etag1}}',
      ProposedSize: '5242879',
      MinSizeAllowed: '5242880',
    }),
    given: (wire) => uploadOf(wire, [first.subarray(1), last]),
    ask: complete(listed),
    afterwards: isOpen,
    sdk: sdk(CompleteMultipartUploadCommand, input),
  },
  ...['0', '10001', '-1'].map(
    (number): Row => ({
      it: `refuses part number ${number}`,
      ...refusal('InvalidPart', { PartNumber: number }),
      given: small,
      ask: complete([[number, '{{etag1}}']]),
      afterwards: isOpen,
    }),
  ),
  {
    it: 'refuses no parts',
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
    ...refusal('MissingRequestBodyError', {}),
    given: small,
    ask: complete(''),
    afterwards: isOpen,
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
  ...['algorithm', 'key', 'key-MD5'].map(
    (part): Row => ({
      it: `refuses server-side-encryption-customer-${part} by name`,
      ...refusal('NotImplemented', { NotImplemented: `{{prefix}}server-side-encryption-customer-${part}` }),
      given: small,
      ask: complete(only, { vendor: { [`server-side-encryption-customer-${part}`]: 'x' } }),
      afterwards: isOpen,
    }),
  ),
]

const over = async (wire: Wire): Promise<Facts> => {
  await wire.must({ method: 'PUT', key: 'big', body: 'old' })
  const { headers } = await wire.must({ method: 'HEAD', key: 'big' })
  return { ...(await small(wire)), old: headers.get('etag') ?? '' }
}
const isOld = async (wire: Wire, _: unknown, { uploadId = '' }: Facts): Promise<void> => {
  expect((await wire.must({ method: 'GET', key: 'big' })).body.toString()).toBe('old')
  await wire.must({ method: 'GET', key: 'big', query: { uploadId } })
}

const conditions: Row[] = [
  {
    it: 'completes if there is nothing, where there is nothing',
    given: small,
    ask: complete(only, { headers: { 'If-None-Match': '*' } }),
    ...done(smallEtag),
    afterwards: isWhole('only'),
    sdk: sdk(CompleteMultipartUploadCommand, { ...smallInput, IfNoneMatch: '*' }),
  },
  {
    it: 'does not complete if there is nothing, where there is something',
    ...refusal('PreconditionFailed', { Condition: 'If-None-Match' }),
    given: over,
    ask: complete(only, { headers: { 'If-None-Match': '*' } }),
    afterwards: isOld,
    sdk: sdk(CompleteMultipartUploadCommand, { ...smallInput, IfNoneMatch: '*' }),
  },
  {
    it: 'completes over the object that the client knows',
    given: over,
    ask: complete(only, { headers: { 'If-Match': '{{old}}' } }),
    ...done(smallEtag),
    afterwards: isWhole('only'),
    sdk: sdk(CompleteMultipartUploadCommand, { ...smallInput, IfMatch: '{{old}}' }),
  },
  {
    it: 'does not complete over another object than the client knows',
    ...refusal('PreconditionFailed', { Condition: 'If-Match' }),
    given: over,
    ask: complete(only, { headers: { 'If-Match': '"another"' } }),
    afterwards: isOld,
    sdk: sdk(CompleteMultipartUploadCommand, { ...smallInput, IfMatch: '"another"' }),
  },
  {
    it: 'answers NoSuchKey to If-Match where there is nothing',
    ...refusal('NoSuchKey', {}),
    given: small,
    ask: complete(only, { headers: { 'If-Match': '"another"' } }),
    afterwards: isOpen,
  },
  {
    it: 'accepts the size of the whole',
    given: small,
    ask: complete(only, { vendor: { 'mp-object-size': '4' } }),
    ...done(smallEtag),
    sdk: sdk(CompleteMultipartUploadCommand, { ...smallInput, MpuObjectSize: 4 }),
  },
  {
    it: 'refuses another size of the whole',
    ...refusal('InvalidRequest', {}),
    given: small,
    ask: complete(only, { vendor: { 'mp-object-size': '5' } }),
    afterwards: isOpen,
    sdk: sdk(CompleteMultipartUploadCommand, { ...smallInput, MpuObjectSize: 5 }),
  },
  ...['-1', 'four', ''].map(
    (size): Row => ({
      it: `refuses the size "${size}"`,
      ...refusal('InvalidArgument', { ArgumentName: '{{prefix}}mp-object-size', ArgumentValue: size }),
      given: small,
      ask: complete(only, { vendor: { 'mp-object-size': size } }),
      afterwards: isOpen,
    }),
  ),
]

/** Of short parts: the first is as long as a part but the last must be, and mostly zero, so that a checksum bit by bit would take seconds. */
const checksums: Row[] = algorithms.flatMap((algorithm): Row[] => {
  const name = `checksum-${algorithm.toLowerCase()}`
  const element = `Checksum${algorithm}`
  const part = referenceChecksum(algorithm, 'only')
  const composite = referenceComposite(algorithm, [Buffer.from('only')])
  const type = algorithm === 'CRC64NVME' ? 'FULL_OBJECT' : 'COMPOSITE'
  const whole = type === 'COMPOSITE' ? composite : part
  const given = (wire: Wire) => uploadOf(wire, ['only'], { 'checksum-algorithm': algorithm })
  const withPart = (value: string): ListedPart[] => [[1, '{{etag1}}', `<${element}>${value}</${element}>`]]
  return [
    {
      it: `answers ${type} ${algorithm} of the whole`,
      given,
      ask: complete(only),
      ...done(smallEtag, { [element]: whole, ChecksumType: type }),
      afterwards: checksumIs(name, whole, type),
      sdk: sdk(CompleteMultipartUploadCommand, smallInput, { [element]: whole, ChecksumType: type }),
    },
    {
      it: `accepts the right ${algorithm} of a part`,
      given,
      ask: complete(withPart(part)),
      ...done(smallEtag, { [element]: whole, ChecksumType: type }),
    },
    {
      it: `refuses a wrong ${algorithm} of a part`,
      ...refusal('InvalidPart'),
      given,
      ask: complete(withPart(referenceChecksum(algorithm, 'x'))),
      afterwards: isOpen,
    },
    {
      it: `accepts the right ${algorithm} of the whole`,
      given,
      ask: complete(only, { vendor: { [name]: whole, 'checksum-type': type } }),
      ...done(smallEtag, { [element]: whole, ChecksumType: type }),
    },
    {
      it: `refuses a wrong ${algorithm} of the whole`,
      ...refusal('BadDigest', {}),
      given,
      ask: complete(only, { vendor: { [name]: referenceChecksum(algorithm, 'x') } }),
      afterwards: isOpen,
      sdk: sdk(CompleteMultipartUploadCommand, { ...smallInput, [element]: referenceChecksum(algorithm, 'x') }),
    },
  ]
})

const checksumRules: Row[] = [
  {
    it: 'refuses another type of checksum than that of the upload',
    ...refusal('InvalidRequest', {}),
    given: (wire) => uploadOf(wire, ['only'], { 'checksum-algorithm': 'CRC32' }),
    ask: complete(only, { vendor: { 'checksum-type': 'FULL_OBJECT' } }),
    afterwards: isOpen,
  },
  {
    it: 'refuses two checksums of the whole',
    ...refusal('InvalidRequest', {}),
    given: small,
    ask: complete(only, {
      vendor: {
        'checksum-crc32': referenceChecksum('CRC32', 'only'),
        'checksum-sha1': referenceChecksum('SHA1', 'only'),
      },
    }),
    afterwards: isOpen,
  },
  {
    it: 'refuses gaps between part numbers where the checksum is composite, as S3 documents',
    ...refusal('InvalidPartOrder', {}),
    given: async (wire) => {
      const uploadId = await beginUpload(wire, { 'checksum-algorithm': 'SHA256' })
      return { uploadId, etag1: await putPart(wire, uploadId, 2, 'only') }
    },
    ask: complete([[2, '{{etag1}}']]),
    afterwards: isOpen,
  },
]

function checksumIs(name: string, value: string, type: string) {
  return async (wire: Wire): Promise<void> => {
    const { headers } = await wire.must({ method: 'HEAD', key: 'big', vendor: { 'checksum-mode': 'ENABLED' } })
    const { prefix } = wire.style
    expect([headers.get(prefix + name), headers.get(`${prefix}checksum-type`)]).toEqual([value, type])
  }
}

wireTests('CompleteMultipartUpload', [...rows, ...wrong, ...conditions, ...checksums, ...checksumRules])
