/** PutObjectTagging, GetObjectTagging and DeleteObjectTagging over the wire. */
import { DeleteObjectTaggingCommand, GetObjectTaggingCommand, PutObjectTaggingCommand } from '@aws-sdk/client-s3'
import { expect } from 'vitest'
import { md5Base64, referenceChecksum } from '../support/wire-checksums.ts'
import type { Wire } from '../support/wire-client.ts'
import { type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { sdk } from '../support/wire-sdk.ts'
import { otherKey } from '../support/wire-server.ts'
import { badTagSets, tagging, tags } from '../support/wire-tags.ts'

const key = 'a/b'
const query = { tagging: '' }
const two = tagging([
  ['team', 'storage'],
  ['größe', ''],
])
const put = { method: 'PUT', key, query, body: two } as const
const input = { Bucket: 'wire', Key: key }

const untagged = async (wire: Wire): Promise<void> => {
  await wire.must({ method: 'PUT', key, body: 'x' })
}
const tagged = async (wire: Wire): Promise<void> => {
  await wire.must({ method: 'PUT', key, body: 'x', vendor: { tagging: 'team=storage&gr%C3%B6%C3%9Fe=' } })
}
const hasTags =
  (count: number, name?: string) =>
  async (wire: Wire): Promise<void> => {
    const { headers } = await wire.must({ method: 'HEAD', key })
    expect(headers.get(`${wire.style.prefix}tagging-count`)).toBe(count === 0 ? undefined : String(count))
    const { body } = await wire.must({ method: 'GET', key, query })
    expect(body.toString()).toContain(name === undefined ? '<TagSet></TagSet>' : `<Key>${name}</Key>`)
  }
const hasNoTags = hasTags(0)

/** What all three answer alike. */
function missing(ask: Pick<typeof put, 'key' | 'query'> & { method: 'GET' | 'PUT' | 'DELETE'; body?: string }): Row[] {
  return [
    { it: 'answers NoSuchKey where there is no object', ...refusal('NoSuchKey', { Key: key }), ask },
    {
      it: 'answers NoSuchBucket where there is no bucket',
      withoutBucket: true,
      ...refusal('NoSuchBucket', { BucketName: 'wire' }),
      ask,
    },
    {
      it: "answers AccessDenied for another account's bucket",
      ...refusal('AccessDenied', {}),
      given: tagged,
      ask: { ...ask, signedBy: otherKey },
      afterwards: hasTags(2, 'team'),
    },
    {
      it: 'answers AccessDenied where another owner is expected',
      ...refusal('AccessDenied', {}),
      given: tagged,
      ask: { ...ask, vendor: { 'expected-bucket-owner': 'other' } },
      afterwards: hasTags(2, 'team'),
    },
    {
      it: 'answers InvalidArgument for what can name no version',
      ...refusal('InvalidArgument', { ArgumentName: 'versionId', ArgumentValue: 'v1' }),
      given: tagged,
      ask: { ...ask, query: { ...query, versionId: 'v1' } },
      afterwards: hasTags(2, 'team'),
    },
  ]
}

wireTests('PutObjectTagging', [
  {
    it: 'replaces the whole tag set',
    proves: ['PutObjectTagging: the object has the tag set', 'the body of an answer is empty unless stated'],
    status: 200,
    given: async (wire) => {
      await wire.must({ method: 'PUT', key, body: 'x', vendor: { tagging: 'old=1' } })
    },
    ask: put,
    headers: { 'Content-Length': '0' },
    vendor: {},
    afterwards: hasTags(2, 'größe'),
    sdk: sdk(PutObjectTaggingCommand, { ...input, Tagging: { TagSet: [{ Key: 'a', Value: 'b' }] } }),
  },
  {
    it: 'leaves bytes, entity tag and time of the object alone',
    status: 200,
    given: async (wire) => {
      await untagged(wire)
      const { headers } = await wire.must({ method: 'HEAD', key })
      return { etag: headers.get('etag') ?? '', modified: headers.get('last-modified') ?? '' }
    },
    ask: put,
    afterwards: async (wire, _, { etag, modified }) => {
      const { headers, body } = await wire.must({ method: 'GET', key })
      expect([headers.get('etag'), headers.get('last-modified'), body.toString()]).toEqual([etag, modified, 'x'])
    },
  },
  {
    it: 'tags the version null',
    status: 200,
    given: untagged,
    ask: { ...put, query: { ...query, versionId: 'null' } },
    afterwards: hasTags(2, 'team'),
  },
  { it: 'takes an empty set', status: 200, given: tagged, ask: { ...put, body: tagging([]) }, afterwards: hasNoTags },
  {
    it: 'takes 10 tags',
    status: 200,
    given: untagged,
    ask: { ...put, body: tagging(tags(10)) },
    afterwards: hasTags(10, 'key9'),
  },
  {
    it: 'refuses 11 tags',
    ...refusal('BadRequest', {}),
    given: untagged,
    ask: { ...put, body: tagging(tags(11)) },
    afterwards: hasNoTags,
    sdk: sdk(PutObjectTaggingCommand, {
      ...input,
      Tagging: { TagSet: tags(11).map(([Key, Value]) => ({ Key, Value })) },
    }),
  },
  {
    it: 'takes a key of 128 and a value of 256 characters above U+FFFF',
    proves: ['element:Tagging/TagSet/Tag/Key', 'element:Tagging/TagSet/Tag/Value'],
    status: 200,
    given: untagged,
    ask: { ...put, body: tagging([['𝔸'.repeat(128), '𝔹'.repeat(256)]]) },
    afterwards: hasTags(1, '𝔸'.repeat(128)),
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
      ask: { ...put, body },
      afterwards: hasTags(2, 'team'),
    }),
  ),
  {
    it: 'accepts the right Content-MD5',
    status: 200,
    given: untagged,
    ask: { ...put, headers: { 'Content-MD5': md5Base64(two) } },
    afterwards: hasTags(2, 'team'),
  },
  {
    it: 'refuses a wrong Content-MD5',
    ...refusal('BadDigest', { ExpectedDigest: md5Base64('x'), CalculatedDigest: md5Base64(put.body) }),
    given: untagged,
    ask: { ...put, headers: { 'Content-MD5': md5Base64('x') } },
    afterwards: hasNoTags,
  },
  {
    it: 'refuses a malformed Content-MD5',
    ...refusal('InvalidDigest', { 'Content-MD5': 'x' }),
    given: untagged,
    ask: { ...put, headers: { 'Content-MD5': 'x' } },
    afterwards: hasNoTags,
  },
  {
    it: 'refuses a wrong checksum',
    ...refusal('BadDigest', {}),
    given: untagged,
    ask: { ...put, vendor: { 'checksum-sha1': referenceChecksum('SHA1', 'x') } },
    afterwards: hasNoTags,
  },
  ...missing(put),
])

wireTests('GetObjectTagging', [
  {
    it: 'answers the tags sorted by key, whatever their order was',
    status: 200,
    given: tagged,
    ask: { method: 'GET', key, query },
    headers: { 'Content-Type': 'application/xml' },
    vendor: {},
    xml: {
      Tagging: {
        TagSet: {
          Tag: [
            { Key: 'größe', Value: '' },
            { Key: 'team', Value: 'storage' },
          ],
        },
      },
    },
    sdk: sdk(GetObjectTaggingCommand, input, {
      TagSet: [
        { Key: 'größe', Value: '' },
        { Key: 'team', Value: 'storage' },
      ],
    }),
  },
  {
    it: 'answers an empty set where there are none',
    status: 200,
    given: untagged,
    ask: { method: 'GET', key, query },
    xml: { Tagging: { TagSet: '' } },
    sdk: sdk(GetObjectTaggingCommand, input, { TagSet: [] }),
  },
  {
    it: 'answers those of the version null',
    status: 200,
    given: untagged,
    ask: { method: 'GET', key, query: { ...query, versionId: 'null' } },
    xml: { Tagging: { TagSet: '' } },
  },
  ...missing({ method: 'GET', key, query }),
])

wireTests('DeleteObjectTagging', [
  {
    it: 'removes all tags, and nothing else',
    proves: ['DeleteObjectTagging: the whole tag set is removed'],
    status: 204,
    given: tagged,
    ask: { method: 'DELETE', key, query },
    vendor: {},
    body: '',
    afterwards: hasNoTags,
    sdk: sdk(DeleteObjectTaggingCommand, input),
  },
  {
    it: 'succeeds where there are none',
    status: 204,
    given: untagged,
    ask: { method: 'DELETE', key, query },
    afterwards: hasNoTags,
    sdk: sdk(DeleteObjectTaggingCommand, input),
  },
  {
    it: 'removes those of the version null',
    status: 204,
    given: tagged,
    ask: { method: 'DELETE', key, query: { ...query, versionId: 'null' } },
    afterwards: hasNoTags,
    sdk: sdk(DeleteObjectTaggingCommand, { ...input, VersionId: 'null' }),
  },
  ...missing({ method: 'DELETE', key, query }),
])
