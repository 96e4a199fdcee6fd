/** CreateMultipartUpload over the wire. */
import { CreateMultipartUploadCommand } from '@aws-sdk/client-s3'
import { expect } from 'vitest'
import type { Reply, Wire } from '../support/wire-client.ts'
import { kmsHeaders, thirdsOfCustomerKey } from '../support/wire-encryption.ts'
import { anId, type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { sdk } from '../support/wire-sdk.ts'
import { otherKey } from '../support/wire-server.ts'
import { completeDocument, putPart, textIn } from '../support/wire-uploads.ts'

const key = 'dir/big & <small>'
const ask = { method: 'POST', key, query: { uploads: '' } } as const
const input = { Bucket: 'wire', Key: key }
const begun = {
  status: 200,
  xml: { InitiateMultipartUploadResult: { Bucket: 'wire', Key: key, UploadId: anId } },
}

const uploads = async (wire: Wire): Promise<string> =>
  (await wire.must({ method: 'GET', query: { uploads: '' } })).body.toString()
const noneOpen = async (wire: Wire): Promise<void> => expect(await uploads(wire)).not.toContain('<Upload>')

/** Puts one part, completes, and gives what the object then is. */
async function completed(wire: Wire, reply: Reply): Promise<Reply> {
  const uploadId = textIn(reply, 'UploadId')
  const etag = await putPart(wire, uploadId, 1, 'x', {}, key)
  await wire.must({ method: 'POST', key, query: { uploadId }, body: completeDocument([[1, etag]]) })
  return wire.must({ method: 'GET', key })
}

const rows: Row[] = [
  {
    it: 'begins an upload, which is listed and no object yet',
    proves: ['CreateMultipartUpload: the upload is open'],
    ...begun,
    ask,
    headers: { 'Content-Type': 'application/xml' },
    vendor: {},
    afterwards: async (wire, reply) => {
      expect(await uploads(wire)).toContain(`<UploadId>${textIn(reply, 'UploadId')}</UploadId>`)
      expect((await wire.ask({ method: 'HEAD', key })).status).toBe(404)
    },
    sdk: sdk(CreateMultipartUploadCommand, input, { Bucket: 'wire', Key: key, UploadId: anId }),
  },
  {
    it: 'begins another upload of the same key beside the first',
    ...begun,
    given: async (wire) => ({ first: textIn(await wire.must(ask), 'UploadId') }),
    ask,
    afterwards: async (wire, reply, { first = '' }) => {
      expect(textIn(reply, 'UploadId')).not.toBe(first)
      expect(await uploads(wire)).toContain(first)
    },
  },
  {
    it: 'keeps headers, metadata and tags for the object',
    ...begun,
    ask: {
      ...ask,
      headers: {
        'Content-Type': 'text/plain',
        'Content-Encoding': 'gzip',
        'Content-Language': 'fr',
        'Content-Disposition': 'inline',
        'Cache-Control': 'no-cache',
        Expires: 'never',
      },
      vendor: { 'meta-colour': 'red', tagging: 'a=1' },
    },
    afterwards: async (wire, reply) => {
      const { headers } = await completed(wire, reply)
      const names = [
        'content-type',
        'content-encoding',
        'content-language',
        'content-disposition',
        'cache-control',
        'expires',
      ]
      const vendor = [`${wire.style.prefix}meta-colour`, `${wire.style.prefix}tagging-count`]
      expect([...names, ...vendor].map((name) => headers.get(name))).toEqual([
        'text/plain',
        'gzip',
        'fr',
        'inline',
        'no-cache',
        'never',
        'red',
        '1',
      ])
    },
    sdk: sdk(CreateMultipartUploadCommand, {
      ...input,
      ContentType: 'text/plain',
      Metadata: { a: 'b' },
      Tagging: 'a=1',
    }),
  },
  ...(
    [
      ['CRC32', undefined, 'COMPOSITE'],
      ['CRC32', 'FULL_OBJECT', 'FULL_OBJECT'],
      ['CRC32C', 'COMPOSITE', 'COMPOSITE'],
      ['CRC32C', 'FULL_OBJECT', 'FULL_OBJECT'],
      ['CRC64NVME', undefined, 'FULL_OBJECT'],
      ['CRC64NVME', 'FULL_OBJECT', 'FULL_OBJECT'],
      ['SHA1', undefined, 'COMPOSITE'],
      ['SHA256', 'COMPOSITE', 'COMPOSITE'],
      ['MD5', undefined, 'COMPOSITE'],
      ['SHA512', 'COMPOSITE', 'COMPOSITE'],
      ['XXHASH64', undefined, 'COMPOSITE'],
      ['XXHASH3', undefined, 'COMPOSITE'],
      ['XXHASH128', 'COMPOSITE', 'COMPOSITE'],
    ] as const
  ).map(
    ([ChecksumAlgorithm, asked, type]): Row => ({
      it: `answers ${ChecksumAlgorithm} of type ${asked ?? 'unsaid'} as ${type}`,
      ...begun,
      ask: {
        ...ask,
        vendor: { 'checksum-algorithm': ChecksumAlgorithm, ...(asked === undefined ? {} : { 'checksum-type': asked }) },
      },
      vendor: { 'checksum-algorithm': ChecksumAlgorithm, 'checksum-type': type },
      sdk: sdk(
        CreateMultipartUploadCommand,
        { ...input, ChecksumAlgorithm, ...(asked === undefined ? {} : { ChecksumType: asked }) },
        { ChecksumAlgorithm, ChecksumType: type },
      ),
    }),
  ),
  ...(
    [
      ['CRC64NVME', 'COMPOSITE'],
      ['SHA1', 'FULL_OBJECT'],
      ['SHA256', 'FULL_OBJECT'],
      ['MD5', 'FULL_OBJECT'],
      ['SHA512', 'FULL_OBJECT'],
      ['XXHASH64', 'FULL_OBJECT'],
      ['XXHASH3', 'FULL_OBJECT'],
      ['XXHASH128', 'FULL_OBJECT'],
    ] as const
  ).map(
    ([algorithm, type]): Row => ({
      it: `refuses ${algorithm} of type ${type}`,
      ...refusal('InvalidRequest', {}),
      ask: { ...ask, vendor: { 'checksum-algorithm': algorithm, 'checksum-type': type } },
      afterwards: noneOpen,
      sdk: sdk(CreateMultipartUploadCommand, { ...input, ChecksumAlgorithm: algorithm, ChecksumType: type }),
    }),
  ),
  {
    it: 'refuses a type of checksum without an algorithm',
    ...refusal('InvalidRequest', {}),
    message: 'The {{prefix}}checksum-type header can only be used with the {{prefix}}checksum-algorithm header.',
    ask: { ...ask, vendor: { 'checksum-type': 'FULL_OBJECT' } },
    afterwards: noneOpen,
  },
  {
    it: 'refuses an algorithm that it does not know',
    ...refusal('InvalidRequest', {}),
    ask: { ...ask, vendor: { 'checksum-algorithm': 'MD4' } },
    afterwards: noneOpen,
  },
  {
    it: 'refuses a type of checksum that it does not know',
    ...refusal('InvalidRequest', {}),
    ask: { ...ask, vendor: { 'checksum-algorithm': 'CRC32', 'checksum-type': 'HALF' } },
    afterwards: noneOpen,
  },
  {
    it: 'refuses more than 2 KiB of metadata',
    ...refusal('MetadataTooLarge', { Size: '2049', MaxSizeAllowed: '2048' }),
    ask: { ...ask, vendor: { 'meta-k': 'v'.repeat(2048) } },
    afterwards: noneOpen,
  },
  {
    it: 'refuses tags that are none',
    ...refusal('InvalidArgument'),
    ask: { ...ask, vendor: { tagging: 'a=1&a=2' } },
    afterwards: noneOpen,
  },
  {
    it: 'accepts acl private',
    ...begun,
    ask: { ...ask, vendor: { acl: 'private' } },
    sdk: sdk(CreateMultipartUploadCommand, { ...input, ACL: 'private' }),
  },
  {
    it: 'refuses acl public-read',
    ...refusal('AccessControlListNotSupported', {}),
    ask: { ...ask, vendor: { acl: 'public-read' } },
    afterwards: noneOpen,
    sdk: sdk(CreateMultipartUploadCommand, { ...input, ACL: 'public-read' }),
  },
  {
    it: 'refuses a storage class that nobody knows',
    ...refusal('InvalidStorageClass', { StorageClassRequested: 'COLD' }),
    ask: { ...ask, vendor: { 'storage-class': 'COLD' } },
    afterwards: noneOpen,
    sdk: sdk(CreateMultipartUploadCommand, { ...input, StorageClass: 'COLD' as 'GLACIER' }),
  },
  ...thirdsOfCustomerKey((vendor) => ({ ask: { ...ask, vendor }, afterwards: noneOpen })),
  {
    it: 'refuses a key that is not there',
    ...refusal('KMS.NotFoundException', { KeyId: 'nobody' }),
    ask: { ...ask, vendor: kmsHeaders('nobody') },
    afterwards: noneOpen,
  },
  ...['write-offset-bytes', 'object-lock-made-up'].map(
    (name): Row => ({
      it: `refuses ${name} by name`,
      ...refusal('NotImplemented', { NotImplemented: `{{prefix}}${name}` }),
      ask: { ...ask, vendor: { [name]: 'x' } },
      afterwards: noneOpen,
    }),
  ),
  {
    it: 'answers NoSuchBucket where there is no bucket',
    withoutBucket: true,
    ...refusal('NoSuchBucket', { BucketName: 'wire' }),
    ask,
    sdk: sdk(CreateMultipartUploadCommand, input),
  },
  {
    it: "answers AccessDenied for another account's bucket",
    ...refusal('AccessDenied', {}),
    ask: { ...ask, signedBy: otherKey },
    afterwards: noneOpen,
  },
  {
    it: 'answers AccessDenied where another owner is expected',
    ...refusal('AccessDenied', {}),
    ask: { ...ask, vendor: { 'expected-bucket-owner': 'other' } },
    afterwards: noneOpen,
  },
]

wireTests('CreateMultipartUpload', rows)
