/** Calls that list the objects of a bucket, in both ways. */
import { type Call, owner, type Scenario, text, time } from './call.ts'
import { etags } from './files.ts'

const name = 's3api-listings'
const bucket = ['--bucket', name]
/** As S3 orders them: by their bytes. */
const keys = ['a', 'b/1', 'b/2', 'b/3', 'c', 'käse/🦊']
const entry = (Key: string): object => ({
  ...{ Key, LastModified: time, ETag: etags.letters, Size: 8, StorageClass: 'STANDARD' },
  ...{ ChecksumAlgorithm: ['CRC32'], ChecksumType: 'FULL_OBJECT' },
})
const owned = (Key: string): object => ({ ...entry(Key), Owner: owner })
const prefixes = (...all: string[]): object => ({ CommonPrefixes: all.map((Prefix) => ({ Prefix })) })
/** What the CLI prints of a listing that it pages through. */
const paged = { RequestCharged: null, Prefix: '' }

const putKeys = keys.map((key): Call => {
  const words = [...bucket, '--key', key, '--body', 'letters', '--checksum-algorithm', 'CRC32', '--query', 'ETag']
  return { operation: 'PutObject', about: `stores ${key}`, words, prints: etags.letters }
})

export const listings: Scenario = {
  name: 'listings',
  calls: [
    { operation: 'CreateBucket', about: 'makes room', words: bucket, prints: { Location: `/${name}` } },
    { operation: 'ListObjectsV2', about: 'prints little of an empty bucket', words: bucket, prints: paged },
    ...putKeys,
    {
      operation: 'ListObjects',
      about: 'lists all, with their owner',
      words: bucket,
      prints: { ...paged, Contents: keys.map(owned) },
    },
    {
      operation: 'ListObjects',
      about: 'lists what lies on one level',
      words: [...bucket, '--delimiter', '/'],
      prints: { ...paged, Contents: ['a', 'c'].map(owned), ...prefixes('b/', 'käse/') },
    },
    {
      operation: 'ListObjects',
      about: 'goes on behind a marker, one page long',
      words: [...bucket, '--prefix', 'b/', '--marker', 'b/1', '--max-keys', '1', '--no-paginate'],
      prints: {
        ...{ IsTruncated: true, Marker: 'b/1', Contents: [owned('b/2')], Name: name, Prefix: 'b/', MaxKeys: 1 },
        ...{ EncodingType: 'url', NextMarker: 'b/2' },
      },
    },
    {
      operation: 'ListObjectsV2',
      about: 'lists by prefix, with owners',
      words: [...bucket, '--prefix', 'b/', '--fetch-owner', '--optional-object-attributes', 'RestoreStatus'],
      prints: { ...paged, Contents: ['b/1', 'b/2', 'b/3'].map(owned), Prefix: 'b/' },
    },
    {
      operation: 'ListObjectsV2',
      about: 'lists what lies on one level',
      words: [...bucket, '--delimiter', '/', '--expected-bucket-owner', 'main', '--request-payer', 'requester'],
      prints: { ...paged, Contents: ['a', 'c'].map(entry), ...prefixes('b/', 'käse/') },
    },
    {
      operation: 'ListObjectsV2',
      about: 'starts after a key, and gives a page',
      words: [...bucket, '--start-after', 'b/2', '--max-keys', '2', '--no-paginate'],
      prints: {
        ...{ IsTruncated: true, Contents: ['b/3', 'c'].map(entry), Name: name, Prefix: '', MaxKeys: 2 },
        ...{ KeyCount: 2, NextContinuationToken: text, StartAfter: 'b/2', EncodingType: 'url' },
      },
      keeps: { page: 'NextContinuationToken' },
    },
    {
      operation: 'ListObjectsV2',
      about: 'goes on where a page ended',
      words: [...bucket, '--continuation-token', '<page>', '--no-paginate'],
      prints: {
        ...{ IsTruncated: false, Contents: [entry('käse/🦊')], Name: name, Prefix: '', MaxKeys: 1000 },
        ...{ KeyCount: 1, ContinuationToken: '<page>', EncodingType: 'url' },
      },
    },
    {
      operation: 'ListObjectsV2',
      about: 'is paged by the CLI',
      words: [...bucket, '--page-size', '2', '--query', 'Contents[].Key'],
      prints: keys,
    },
    {
      operation: 'ListObjectsV2',
      about: 'stops where the CLI was told to',
      words: [...bucket, '--max-items', '1'],
      prints: { ...paged, Contents: [entry('a')], NextToken: text },
      keeps: { next: 'NextToken' },
    },
    {
      operation: 'ListObjectsV2',
      about: 'goes on from where the CLI stopped',
      words: [...bucket, '--starting-token', '<next>', '--query', 'Contents[].Key'],
      prints: keys.slice(1),
    },
    {
      operation: 'ListObjectsV2',
      about: 'finds no bucket',
      words: ['--bucket', 's3api-no-bucket'],
      fails: 'NoSuchBucket',
    },
    {
      operation: 'DeleteObjects',
      about: 'deletes all of them',
      words: [...bucket, '--delete', { Objects: keys.map((Key) => ({ Key })) }],
      prints: { Deleted: keys.map((Key) => ({ Key })) },
    },
    { operation: 'DeleteBucket', about: 'finds nothing left', words: bucket },
  ],
}
