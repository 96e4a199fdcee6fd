/** PutBucketTagging, GetBucketTagging and DeleteBucketTagging over the wire. */
import { DeleteBucketTaggingCommand, GetBucketTaggingCommand, PutBucketTaggingCommand } from '@aws-sdk/client-s3'
import { expect } from 'vitest'
import { md5Base64, referenceChecksum } from '../support/wire-checksums.ts'
import type { Wire } from '../support/wire-client.ts'
import { type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { sdk } from '../support/wire-sdk.ts'
import { otherKey } from '../support/wire-server.ts'
import { badTagSets, tagging, tags } from '../support/wire-tags.ts'

const query = { tagging: '' }
const two = tagging([
  ['team', 'storage'],
  ['größe', 'L+M @x'],
])

const tagged = async (wire: Wire): Promise<void> => {
  await wire.must({ method: 'PUT', query, body: two })
}
const hasNoTags = async (wire: Wire): Promise<void> => {
  expect((await wire.ask({ method: 'GET', query })).status).toBe(404)
}
const hasTag =
  (key: string) =>
  async (wire: Wire): Promise<void> => {
    expect((await wire.must({ method: 'GET', query })).body.toString()).toContain(`<Key>${key}</Key>`)
  }

const put = { method: 'PUT', query, body: two } as const

wireTests('PutBucketTagging', [
  {
    it: 'replaces the whole tag set',
    proves: [
      'element:Tagging/TagSet/Tag/Key',
      'element:Tagging/TagSet/Tag/Value',
      'PutBucketTagging: the bucket has the tag set',
      'the body of an answer is empty unless stated',
    ],
    status: 200,
    given: async (wire) => {
      await wire.must({ method: 'PUT', query, body: tagging([['old', '1']]) })
    },
    ask: put,
    headers: { 'Content-Length': '0' },
    afterwards: async (wire) => {
      const { body } = await wire.must({ method: 'GET', query })
      expect(body.toString()).toContain('größe')
      expect(body.toString()).not.toContain('old')
    },
    sdk: sdk(PutBucketTaggingCommand, { Bucket: 'wire', Tagging: { TagSet: [{ Key: 'a', Value: 'b' }] } }),
  },
  { it: 'takes 50 tags', status: 200, ask: { method: 'PUT', query, body: tagging(tags(50)) } },
  {
    it: 'refuses 51 tags',
    ...refusal('BadRequest', {}),
    message: 'Bucket tag count cannot be greater than 50',
    ask: { method: 'PUT', query, body: tagging(tags(51)) },
    afterwards: hasNoTags,
    sdk: sdk(PutBucketTaggingCommand, {
      Bucket: 'wire',
      Tagging: { TagSet: tags(51).map(([Key, Value]) => ({ Key, Value })) },
    }),
  },
  ...['<Tagging/>', '<Tagging><TagSet/></Tagging>'].map(
    (body): Row => ({
      it: `takes ${body} for no tags`,
      status: 200,
      given: tagged,
      ask: { ...put, body },
      afterwards: hasNoTags,
    }),
  ),
  ...badTagSets.map(
    ({ what, body, code }): Row => ({
      it: `refuses ${what}, and keeps the tags that were there`,
      ...refusal(code),
      given: tagged,
      ask: { method: 'PUT', query, body },
      afterwards: hasTag('team'),
    }),
  ),
  {
    it: 'accepts the right Content-MD5',
    status: 200,
    ask: { ...put, headers: { 'Content-MD5': md5Base64(two) } },
    afterwards: hasTag('team'),
  },
  {
    it: 'refuses a wrong Content-MD5',
    ...refusal('BadDigest', { ExpectedDigest: md5Base64('another body'), CalculatedDigest: md5Base64(put.body) }),
    ask: { ...put, headers: { 'Content-MD5': md5Base64('another body') } },
    afterwards: hasNoTags,
  },
  {
    it: 'refuses a malformed Content-MD5',
    ...refusal('InvalidDigest', { 'Content-MD5': 'not a digest' }),
    ask: { ...put, headers: { 'Content-MD5': 'not a digest' } },
    afterwards: hasNoTags,
  },
  {
    it: 'accepts the right checksum',
    status: 200,
    ask: { ...put, vendor: { 'checksum-crc32c': referenceChecksum('CRC32C', two) } },
    sdk: sdk(PutBucketTaggingCommand, {
      Bucket: 'wire',
      ChecksumAlgorithm: 'SHA256',
      Tagging: { TagSet: [{ Key: 'a', Value: 'b' }] },
    }),
  },
  {
    it: 'refuses a wrong checksum',
    ...refusal('BadDigest', {}),
    ask: { ...put, vendor: { 'checksum-crc64nvme': referenceChecksum('CRC64NVME', 'another body') } },
    afterwards: hasNoTags,
  },
  {
    it: 'answers NoSuchBucket where there is none',
    withoutBucket: true,
    ...refusal('NoSuchBucket', { BucketName: 'wire' }),
    ask: put,
    sdk: sdk(PutBucketTaggingCommand, { Bucket: 'wire', Tagging: { TagSet: [] } }),
  },
  {
    it: "answers AccessDenied for another account's bucket",
    ...refusal('AccessDenied', {}),
    ask: { ...put, signedBy: otherKey },
    afterwards: hasNoTags,
  },
  {
    it: 'answers AccessDenied where another owner is expected',
    ...refusal('AccessDenied', {}),
    ask: { ...put, vendor: { 'expected-bucket-owner': 'other' } },
    afterwards: hasNoTags,
  },
])

wireTests('GetBucketTagging', [
  {
    it: 'answers the tags sorted by key, whatever their order was',
    status: 200,
    given: tagged,
    ask: { method: 'GET', query },
    headers: { 'Content-Type': 'application/xml' },
    xml: {
      Tagging: {
        TagSet: {
          Tag: [
            { Key: 'größe', Value: 'L+M @x' },
            { Key: 'team', Value: 'storage' },
          ],
        },
      },
    },
    sdk: sdk(
      GetBucketTaggingCommand,
      { Bucket: 'wire' },
      {
        TagSet: [
          { Key: 'größe', Value: 'L+M @x' },
          { Key: 'team', Value: 'storage' },
        ],
      },
    ),
  },
  {
    it: 'answers NoSuchTagSet where there are none',
    ...refusal('NoSuchTagSet', { BucketName: 'wire' }),
    message: 'The TagSet does not exist',
    ask: { method: 'GET', query },
    sdk: sdk(GetBucketTaggingCommand, { Bucket: 'wire' }),
  },
  {
    it: 'answers NoSuchBucket where there is no bucket',
    withoutBucket: true,
    ...refusal('NoSuchBucket', { BucketName: 'wire' }),
    ask: { method: 'GET', query },
    sdk: sdk(GetBucketTaggingCommand, { Bucket: 'wire' }),
  },
  {
    it: "answers AccessDenied for another account's bucket",
    ...refusal('AccessDenied', {}),
    ask: { method: 'GET', query, signedBy: otherKey },
  },
])

wireTests('DeleteBucketTagging', [
  {
    it: 'removes all tags',
    proves: ['DeleteBucketTagging: the bucket has no tags'],
    status: 204,
    given: tagged,
    ask: { method: 'DELETE', query },
    body: '',
    afterwards: hasNoTags,
    sdk: sdk(DeleteBucketTaggingCommand, { Bucket: 'wire' }),
  },
  {
    it: 'succeeds where there are none',
    status: 204,
    ask: { method: 'DELETE', query },
    sdk: sdk(DeleteBucketTaggingCommand, { Bucket: 'wire' }),
  },
  {
    it: 'accepts the owner that is expected',
    status: 204,
    given: tagged,
    ask: { method: 'DELETE', query, vendor: { 'expected-bucket-owner': 'main' } },
    sdk: sdk(DeleteBucketTaggingCommand, { Bucket: 'wire', ExpectedBucketOwner: 'main' }),
  },
  {
    it: 'answers AccessDenied where another owner is expected, as the spec asks',
    proves: ['403: expected-bucket-owner is not the owner of the bucket'],
    ...refusal('AccessDenied', {}),
    given: tagged,
    ask: { method: 'DELETE', query, vendor: { 'expected-bucket-owner': 'other' } },
    afterwards: hasTag('team'),
    sdk: sdk(DeleteBucketTaggingCommand, { Bucket: 'wire', ExpectedBucketOwner: 'other' }),
  },
  {
    it: 'answers NoSuchBucket where there is no bucket',
    withoutBucket: true,
    ...refusal('NoSuchBucket', { BucketName: 'wire' }),
    ask: { method: 'DELETE', query },
    sdk: sdk(DeleteBucketTaggingCommand, { Bucket: 'wire' }),
  },
])
