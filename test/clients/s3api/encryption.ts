/** Calls on objects that are encrypted at rest: by the bucket's default, by a named key, by the customer's own key. */
import { expect } from 'vitest'
import { type Scenario, text, time } from './call.ts'
import { etags } from './files.ts'

const name = 's3api-encryption'
const bucket = ['--bucket', name]
const plain = [...bucket, '--key', 'plain']
const defaulted = [...bucket, '--key', 'defaulted']
const named = [...bucket, '--key', 'named']
const customers = [...bucket, '--key', 'customers']
const parts = [...bucket, '--key', 'parts']

const rule = {
  ApplyServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' },
  BucketKeyEnabled: false,
}
const sum = { ChecksumCRC32: expect.any(String), ChecksumType: 'FULL_OBJECT' }
const found = {
  ...{ AcceptRanges: 'bytes', LastModified: time, ContentLength: 8 },
  ...{ ContentType: 'binary/octet-stream', Metadata: {} },
}
const put = ['--body', 'letters', '--checksum-algorithm', 'CRC32']
const byStore = { ServerSideEncryption: 'AES256' }
const byNamed = { ServerSideEncryption: 'aws:kms', SSEKMSKeyId: text }
const key = ['--sse-customer-algorithm', 'AES256', '--sse-customer-key', '0123456789abcdef0123456789abcdef']
const wrongKey = ['--sse-customer-algorithm', 'AES256', '--sse-customer-key', 'fedcba9876543210fedcba9876543210']
const byCustomer = { SSECustomerAlgorithm: 'AES256', SSECustomerKeyMD5: text }

export const encryption: Scenario = {
  name: 'encryption',
  calls: [
    { operation: 'CreateBucket', about: 'makes room', words: bucket, prints: { Location: `/${name}` } },
    {
      operation: 'GetBucketEncryption',
      about: 'says that there is none',
      words: bucket,
      fails: 'ServerSideEncryptionConfigurationNotFoundError',
    },
    {
      operation: 'PutObject',
      about: 'stores what nobody asked to encrypt',
      words: [...plain, ...put],
      prints: { ETag: etags.letters, ...sum },
    },
    {
      operation: 'PutBucketEncryption',
      about: 'has what is put encrypted',
      words: [
        ...[...bucket, '--checksum-algorithm', 'SHA256', '--server-side-encryption-configuration'],
        { Rules: [rule] },
      ],
    },
    {
      operation: 'GetBucketEncryption',
      about: 'says so',
      words: bucket,
      prints: { ServerSideEncryptionConfiguration: { Rules: [rule] } },
    },
    {
      operation: 'PutObject',
      about: 'encrypts by default',
      words: [...defaulted, ...put],
      prints: { ETag: etags.letters, ...sum, ...byStore },
    },
    {
      operation: 'GetObject',
      about: 'gives what is encrypted',
      words: [...defaulted, 'encryption-1'],
      prints: { ...found, ETag: etags.letters, ...sum, ...byStore },
      saves: 'abcdefgh',
    },
    {
      operation: 'CopyObject',
      about: 'encrypts the copy',
      words: [...defaulted, '--copy-source', `${name}/plain`],
      prints: { CopyObjectResult: { ETag: etags.letters, LastModified: time, ...sum }, ...byStore },
    },
    { operation: 'DeleteBucketEncryption', about: 'ends it for what comes', words: bucket },
    {
      operation: 'HeadObject',
      about: 'still finds encrypted what was put before',
      words: defaulted,
      prints: { ...found, ETag: etags.letters, ...byStore },
    },
    {
      operation: 'UpdateObjectEncryption',
      about: 'puts it under a key of SSE-KMS',
      words: [
        ...[...defaulted, '--object-encryption'],
        { SSEKMS: { KMSKeyArn: 'arn:aws:kms:us-east-1:123456789012:key/aws/s3' } },
      ],
    },
    {
      operation: 'GetObject',
      about: 'gives it as it was',
      words: [...defaulted, 'encryption-6'],
      prints: { ...found, ETag: etags.letters, ...sum, ...byNamed, SSEKMSKeyId: 'aws/s3' },
      saves: 'abcdefgh',
    },
    {
      operation: 'PutObject',
      about: 'encrypts with a named key',
      words: [...named, ...put, '--server-side-encryption', 'aws:kms'],
      prints: { ETag: expect.not.stringContaining(etags.letters), ...sum, ...byNamed },
      keeps: { etag: 'ETag', key: 'SSEKMSKeyId' },
    },
    {
      operation: 'GetObject',
      about: 'gives what the named key encrypted',
      words: [...named, '--range', 'bytes=2-3', 'encryption-2'],
      prints: {
        ...{ ...found, ...byNamed, ContentLength: 2, ContentRange: 'bytes 2-3/8' },
        ...{ ETag: '<etag>', SSEKMSKeyId: '<key>' },
      },
      saves: 'cd',
    },
    {
      operation: 'PutObject',
      about: 'knows no other key',
      words: [...named, ...put, '--server-side-encryption', 'aws:kms', '--ssekms-key-id', 'none'],
      fails: 'KMS.NotFoundException',
    },
    {
      operation: 'PutObject',
      about: "encrypts with the customer's key",
      words: [...customers, ...put, ...key],
      prints: { ETag: text, ...sum, ...byCustomer },
      keeps: { etag: 'ETag' },
    },
    {
      operation: 'GetObject',
      about: 'gives it to who has the key',
      words: [...customers, ...key, 'encryption-3'],
      prints: { ...found, ...sum, ETag: '<etag>', ...byCustomer },
      saves: 'abcdefgh',
    },
    {
      operation: 'GetObject',
      about: 'asks for the key',
      words: [...customers, 'encryption-4'],
      fails: 'InvalidRequest',
    },
    {
      operation: 'GetObject',
      about: 'refuses another key',
      words: [...customers, ...wrongKey, 'encryption-5'],
      fails: 'AccessDenied',
    },
    { operation: 'HeadObject', about: 'asks for the key', words: customers, fails: '400' },
    {
      operation: 'CreateMultipartUpload',
      about: 'begins one whose parts will be encrypted',
      words: [...parts, ...key, '--checksum-algorithm', 'CRC32'],
      prints: {
        ...{ Bucket: name, Key: 'parts', UploadId: text, ...byCustomer },
        ...{ ChecksumAlgorithm: 'CRC32', ChecksumType: 'COMPOSITE' },
      },
      keeps: { upload: 'UploadId' },
    },
    {
      operation: 'UploadPart',
      about: 'asks for the key',
      words: [...parts, '--upload-id', '<upload>', '--part-number', '1', ...put],
      fails: 'InvalidRequest',
    },
    {
      operation: 'UploadPart',
      about: 'encrypts a part',
      words: [...parts, '--upload-id', '<upload>', '--part-number', '1', ...put, ...key],
      prints: { ETag: text, ChecksumCRC32: sum.ChecksumCRC32, ...byCustomer },
    },
    { operation: 'AbortMultipartUpload', about: 'ends it', words: [...parts, '--upload-id', '<upload>'] },
  ],
}
