/** Calls on single objects: written, read, copied, tagged, deleted. */
import { type Scenario, time } from './call.ts'
import { digitsSums, etags, sha256 } from './files.ts'

const name = 's3api-objects'
const bucket = ['--bucket', name]
const bare = [...bucket, '--key', 'bare']
const rich = [...bucket, '--key', 'dir/rich, käse']
const copied = [...bucket, '--key', 'copied']

const bareSums = { ChecksumCRC32: digitsSums.crc32, ChecksumType: 'FULL_OBJECT' }
const richSums = { ChecksumSHA256: digitsSums.sha256, ChecksumType: 'FULL_OBJECT' }
const bareFound = {
  AcceptRanges: 'bytes',
  LastModified: time,
  ContentLength: 9,
  ETag: etags.digits,
  ContentType: 'binary/octet-stream',
  Metadata: {},
}
/** What a copy takes along, too. */
const richCarried = {
  ...bareFound,
  CacheControl: 'no-cache',
  ContentDisposition: 'attachment',
  ContentEncoding: 'br',
  ContentLanguage: 'de',
  ContentType: 'text/plain',
  Expires: time,
  ExpiresString: time,
  Metadata: { a: 'b', 'two-words': 'c d' },
  TagCount: 2,
}
const richFound = { ...richCarried, StorageClass: 'STANDARD_IA', WebsiteRedirectLocation: '/elsewhere' }
const described = [
  ...['--content-type', 'text/plain', '--content-encoding', 'br', '--content-language', 'de'],
  ...['--content-disposition', 'attachment', '--cache-control', 'no-cache', '--expires', '2030-01-02T03:04:05Z'],
  ...['--metadata', 'a=b,two-words=c d', '--storage-class', 'STANDARD_IA', '--tagging', 'k=v&x=y'],
  ...['--website-redirect-location', '/elsewhere'],
]
const withSum = ['--checksum-mode', 'ENABLED']

export const objects: Scenario = {
  name: 'objects',
  calls: [
    { operation: 'CreateBucket', about: 'makes room', words: bucket, prints: { Location: `/${name}` } },
    { operation: 'HeadObject', command: 'wait object-not-exists', about: 'returns when there is none', words: bare },
    {
      operation: 'PutObject',
      about: 'stores a file with its checksum',
      words: [...bare, '--body', 'digits', '--checksum-algorithm', 'CRC32'],
      prints: { ETag: etags.digits, ...bareSums },
    },
    { operation: 'HeadObject', command: 'wait object-exists', about: 'returns when there is one', words: bare },
    {
      operation: 'PutObject',
      about: 'takes all that an object can carry',
      words: [
        ...[...rich, '--body', 'digits', ...described, '--acl', 'bucket-owner-full-control', '--if-none-match', '*'],
        ...['--checksum-algorithm', 'SHA256', '--content-md5', digitsSums.md5],
        ...['--expected-bucket-owner', 'main', '--request-payer', 'requester'],
      ],
      prints: { ETag: etags.digits, ...richSums },
    },
    {
      operation: 'PutObject',
      about: 'does not write over what should not be there',
      words: [...rich, '--body', 'digits', '--if-none-match', '*'],
      fails: 'PreconditionFailed',
    },
    {
      operation: 'PutObject',
      about: 'refuses a body that is not what its checksum says',
      words: [...bucket, '--key', 'wrong', '--body', 'letters', '--checksum-sha256', digitsSums.sha256],
      fails: 'BadDigest',
    },
    {
      operation: 'PutObject',
      about: 'refuses an ACL that would let others in',
      words: [...bucket, '--key', 'public', '--acl', 'public-read'],
      fails: 'AccessControlListNotSupported',
    },
    {
      operation: 'HeadObject',
      about: 'describes it',
      words: bare,
      prints: bareFound,
    },
    {
      operation: 'HeadObject',
      about: 'gives all that it carries, and its checksum',
      words: [...rich, ...withSum],
      prints: { ...richFound, ...richSums },
    },
    { operation: 'HeadObject', about: 'finds nothing', words: [...bucket, '--key', 'wrong'], fails: '404' },
    {
      operation: 'HeadObject',
      about: 'keeps a condition',
      words: [...bare, '--if-match', etags.letters],
      fails: '412',
    },
    {
      operation: 'GetObject',
      about: 'gives its bytes',
      words: [...bare, ...withSum, 'objects-1'],
      prints: { ...bareFound, ...bareSums },
      saves: '123456789',
    },
    {
      operation: 'GetObject',
      about: 'gives all that it carries',
      words: [...rich, 'objects-2'],
      prints: { ...richFound, ...richSums },
      saves: '123456789',
    },
    {
      operation: 'GetObject',
      about: 'gives a range of what matches',
      words: [...bare, '--range', 'bytes=2-4', '--if-match', etags.digits, 'objects-3'],
      prints: { ...bareFound, ContentLength: 3, ContentRange: 'bytes 2-4/9' },
      saves: '345',
    },
    {
      operation: 'GetObject',
      about: 'gives the end',
      words: [...bare, '--range', 'bytes=-2', 'objects-4'],
      prints: { ...bareFound, ContentLength: 2, ContentRange: 'bytes 7-8/9' },
      saves: '89',
    },
    {
      operation: 'GetObject',
      about: 'refuses a range behind the end',
      words: [...bare, '--range', 'bytes=9-', 'objects-5'],
      fails: 'InvalidRange',
    },
    {
      operation: 'GetObject',
      about: 'gives the only part, as a part',
      words: [...bare, '--part-number', '1', 'objects-6'],
      prints: { ...bareFound, ContentRange: 'bytes 0-8/9', ChecksumCRC32: 'y/Q5Jg==', ChecksumType: 'FULL_OBJECT' },
      saves: '123456789',
    },
    {
      operation: 'GetObject',
      about: 'answers with the headers that are asked for',
      words: [
        ...[...bare, '--response-content-type', 'text/html', '--response-cache-control', 'private'],
        ...['--response-content-disposition', 'inline', '--response-content-encoding', 'gzip'],
        ...['--response-content-language', 'fr', '--response-expires', '2031-01-01T00:00:00Z', 'objects-7'],
      ],
      prints: {
        ...{ ...bareFound, ContentType: 'text/html', CacheControl: 'private', ContentDisposition: 'inline' },
        ...{ ContentEncoding: 'gzip', ContentLanguage: 'fr', Expires: time, ExpiresString: time, ...bareSums },
      },
      saves: '123456789',
    },
    {
      operation: 'GetObject',
      about: 'sends nothing again that is known',
      words: [...bare, '--if-none-match', etags.digits, 'objects-8'],
      fails: '304',
    },
    {
      operation: 'GetObject',
      about: 'keeps a condition on time',
      words: [...bare, '--if-unmodified-since', '2020-01-01T00:00:00Z', 'objects-9'],
      fails: 'PreconditionFailed',
    },
    {
      operation: 'GetObject',
      about: 'finds nothing',
      words: [...bucket, '--key', 'none', 'objects-10'],
      fails: 'NoSuchKey',
    },
    {
      operation: 'CopyObject',
      about: 'copies with what the source carries',
      words: [...copied, '--copy-source', `${name}/dir/rich, käse`],
      prints: {
        CopyObjectResult: { ETag: etags.digits, LastModified: time, ...richSums },
      },
    },
    {
      operation: 'HeadObject',
      about: 'finds it at the copy, but storage class and redirection',
      words: copied,
      prints: richCarried,
    },
    {
      operation: 'CopyObject',
      about: 'replaces what the copy carries, under conditions',
      words: [
        ...[...copied, '--copy-source', `${name}/bare`, '--metadata-directive', 'REPLACE', '--metadata', 'new=1'],
        ...['--content-type', 'text/csv', '--tagging-directive', 'REPLACE', '--tagging', 'only=one'],
        ...['--checksum-algorithm', 'SHA1', '--copy-source-if-match', etags.digits],
        ...['--copy-source-if-modified-since', '2020-01-01T00:00:00Z', '--expected-source-bucket-owner', 'main'],
      ],
      prints: {
        CopyObjectResult: {
          ...{ ETag: etags.digits, LastModified: time },
          ...{ ChecksumSHA1: digitsSums.sha1, ChecksumType: 'FULL_OBJECT' },
        },
      },
    },
    {
      operation: 'HeadObject',
      about: 'finds what replaced it',
      words: [...copied, ...withSum],
      prints: {
        ...{ ...bareFound, ContentType: 'text/csv', Metadata: { new: '1' }, TagCount: 1 },
        ...{ ChecksumSHA1: digitsSums.sha1, ChecksumType: 'FULL_OBJECT' },
      },
    },
    {
      operation: 'CopyObject',
      about: 'keeps a condition on the source',
      words: [...copied, '--copy-source', `${name}/bare`, '--copy-source-if-none-match', etags.digits],
      fails: 'PreconditionFailed',
    },
    {
      operation: 'CopyObject',
      about: 'refuses to copy an object onto itself unchanged',
      words: [...bare, '--copy-source', `${name}/bare`],
      fails: 'InvalidRequest',
    },
    {
      operation: 'CopyObject',
      about: 'moves an object to another storage class',
      words: [...bare, '--copy-source', `${name}/bare`, '--storage-class', 'GLACIER_IR'],
      prints: { CopyObjectResult: { ETag: etags.digits, LastModified: time, ...bareSums } },
    },
    {
      operation: 'GetObject',
      about: 'gives what is of that class',
      words: [...bare, 'objects-11'],
      prints: { ...bareFound, ...bareSums, StorageClass: 'GLACIER_IR' },
      saves: '123456789',
    },
    {
      operation: 'PutObject',
      about: 'refuses a class that S3 does not have',
      words: [...bare, '--storage-class', 'NONE'],
      fails: 'InvalidStorageClass',
    },
    {
      operation: 'CopyObject',
      about: 'finds no source',
      words: [...copied, '--copy-source', `${name}/none`],
      fails: 'NoSuchKey',
    },
    {
      operation: 'GetObjectTagging',
      about: 'gives the tags that came with the object',
      words: rich,
      prints: {
        TagSet: [
          { Key: 'k', Value: 'v' },
          { Key: 'x', Value: 'y' },
        ],
      },
    },
    {
      operation: 'PutObjectTagging',
      about: 'replaces them',
      words: [...rich, '--tagging', 'TagSet=[{Key=new,Value=tag}]', '--checksum-algorithm', 'SHA256'],
    },
    {
      operation: 'GetObjectTagging',
      about: 'gives what replaced them',
      words: rich,
      prints: { TagSet: [{ Key: 'new', Value: 'tag' }] },
    },
    { operation: 'DeleteObjectTagging', about: 'removes the tags', words: rich },
    { operation: 'GetObjectTagging', about: 'is empty then', words: rich, prints: { TagSet: [] } },
    {
      operation: 'PutObject',
      about: 'stores an archived object',
      words: [
        ...[...bucket, '--key', 'archived', '--body', 'digits', '--storage-class', 'GLACIER'],
        ...['--checksum-algorithm', 'CRC32'],
      ],
      prints: { ETag: etags.digits, ...bareSums },
    },
    {
      operation: 'RestoreObject',
      about: 'has nothing to wait for',
      words: [...bucket, '--key', 'archived', '--restore-request', 'Days=1,GlacierJobParameters={Tier=Bulk}'],
    },
    {
      operation: 'RestoreObject',
      about: 'is refused for what is not archived',
      words: [...bare, '--restore-request', 'Days=1'],
      fails: 'InvalidObjectState',
    },
    { operation: 'DeleteObject', about: 'deletes the archived one', words: [...bucket, '--key', 'archived'] },
    {
      operation: 'DeleteObject',
      about: 'keeps a condition',
      words: [...bare, '--if-match', etags.letters],
      fails: 'PreconditionFailed',
    },
    { operation: 'DeleteObject', about: 'deletes what matches', words: [...bare, '--if-match', etags.digits] },
    { operation: 'DeleteObject', about: 'has nothing against deleting it again', words: bare },
    {
      operation: 'DeleteObjects',
      about: 'deletes many, and says which',
      words: [...bucket, '--delete', 'Objects=[{Key=copied},{Key=none}]', '--checksum-algorithm', 'SHA256'],
      prints: { Deleted: [{ Key: 'copied' }, { Key: 'none' }] },
    },
    {
      operation: 'PutObject',
      about: 'writes over what matches',
      words: [...rich, '--body', 'letters', '--if-match', etags.digits, '--checksum-algorithm', 'SHA256'],
      prints: { ETag: etags.letters, ChecksumSHA256: sha256.letters, ChecksumType: 'FULL_OBJECT' },
    },
    {
      operation: 'DeleteObjects',
      about: 'says nothing of what it deletes when told so',
      words: [...bucket, '--delete', { Objects: [{ Key: 'dir/rich, käse' }], Quiet: true }],
    },
    { operation: 'DeleteBucket', about: 'finds nothing left', words: bucket },
  ],
}
