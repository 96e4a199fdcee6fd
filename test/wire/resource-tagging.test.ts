/** Tags of a bucket by its ARN, as S3 Control has them, over the wire: added, listed, removed. */
import { expect } from 'vitest'
import { md5Base64 } from '../support/wire-checksums.ts'
import type { Ask, Wire } from '../support/wire-client.ts'
import { type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { otherKey } from '../support/wire-server.ts'
import { type TagPair, tagging, tags } from '../support/wire-tags.ts'

const ofBucket = { account: 'main', arn: 'arn:aws:s3:::wire', vendor: { 'account-id': 'main' } } as const
const oneNeeded = 'At least one tag is required.'
const list: Ask = { method: 'GET', ...ofBucket }
const untag: Ask = { method: 'DELETE', ...ofBucket, query: { tagKeys: 'team' } }

const tagResource = (...pairs: readonly TagPair[]): Ask => {
  const elements = pairs.map(([key, value]) => `<Tag><Key>${key}</Key><Value>${value}</Value></Tag>`)
  return {
    method: 'POST',
    ...ofBucket,
    body: `<TagResourceRequest xmlns="http://awss3control.amazonaws.com/doc/2018-08-20/"><Tags>${elements.join('')}</Tags></TagResourceRequest>`,
  }
}

/** Set by the operation of buckets, because both are about the same tags. */
const tagged = async (wire: Wire): Promise<void> => {
  const body = tagging([
    ['team', 'storage'],
    ['env', 'test'],
  ])
  await wire.must({ method: 'PUT', query: { tagging: '' }, body })
}
const holds =
  (...pairs: readonly TagPair[]) =>
  async (wire: Wire): Promise<void> => {
    const found = (await wire.must(list)).body.toString().matchAll(/<Key>(.*?)<\/Key><Value>(.*?)<\/Value>/g)
    expect([...found].map(([, key, value]) => [key, value])).toEqual(pairs)
  }

const strangers = (ask: Ask): Row[] => [
  {
    it: 'is AccessDenied where the account in the request does not own the bucket',
    ...refusal('AccessDenied', {}),
    ask: { ...ask, account: 'other', vendor: { 'account-id': 'other' } },
  },
  { it: 'is AccessDenied for another account', ...refusal('AccessDenied', {}), ask: { ...ask, signedBy: otherKey } },
  { it: 'is AccessDenied without a signature', ...refusal('AccessDenied', {}), ask: { ...ask, unsigned: true } },
  {
    it: 'answers NoSuchBucket where there is none',
    withoutBucket: true,
    ...refusal('NoSuchBucket', { BucketName: 'wire' }),
    ask,
  },
  {
    it: 'is refused by name for an ARN that is not a bucket’s',
    ...refusal('NotImplemented', { NotImplemented: 'The resource arn:aws:s3:eu-west-1:main:accesspoint/a' }),
    takenFor: '',
    ask: { ...ask, arn: 'arn:aws:s3:eu-west-1:main:accesspoint/a' },
  },
]

/** Another account may do this to the tags of the bucket, and what is asked under that policy. */
const others = (action: string, ...statements: object[]) => ({
  given: async (wire: Wire): Promise<void> => {
    await tagged(wire)
    const each = statements.map((more) => ({
      Effect: 'Allow',
      Principal: { AWS: 'arn:aws:iam::other:root' },
      Action: action,
      Resource: 'arn:aws:s3:::wire',
      ...more,
    }))
    const body = JSON.stringify({ Version: '2012-10-17', Statement: each })
    await wire.must({ method: 'PUT', query: { policy: '' }, body })
  },
})
const byOther = (ask: Ask): Pick<Row, 'ask'> => ({ ask: { ...ask, signedBy: otherKey } })
const denied = refusal('AccessDenied', {})
const onlyKeys = (...keys: string[]): object => ({
  Condition: { 'ForAllValues:StringEquals': { 'aws:TagKeys': keys }, Null: { 'aws:TagKeys': 'false' } },
})
const onlyValue = (value: string): object => ({ Condition: { StringEquals: { 'aws:RequestTag/team': value } } })

wireTests('TagResource', [
  {
    it: 'sets the tags whose keys a policy names',
    status: 204,
    ...others('s3:TagResource', onlyKeys('team', 'zone')),
    ...byOther(tagResource(['team', 'network'], ['zone', 'a'])),
    afterwards: holds(['env', 'test'], ['team', 'network'], ['zone', 'a']),
  },
  {
    it: 'sets none where a policy names the key of another',
    ...denied,
    ...others('s3:TagResource', onlyKeys('team', 'zone')),
    ...byOther(tagResource(['team', 'network'], ['env', 'live'])),
    afterwards: holds(['env', 'test'], ['team', 'storage']),
  },
  {
    it: 'sets the value that a policy names',
    status: 204,
    ...others('s3:TagResource', onlyValue('network')),
    ...byOther(tagResource(['team', 'network'])),
  },
  {
    it: 'sets no other value',
    ...denied,
    ...others('s3:TagResource', onlyValue('network')),
    ...byOther(tagResource(['team', 'sales'])),
  },
  {
    it: 'adds tags, and replaces those of the same key',
    proves: [
      'address:resourceArn',
      'vendor:account-id',
      'element:TagResourceRequest/Tags/Tag/Key',
      'element:TagResourceRequest/Tags/Tag/Value',
    ],
    status: 204,
    given: tagged,
    ask: tagResource(['team', 'network'], ['zone', 'a']),
    vendor: {},
    body: '',
    afterwards: holds(['env', 'test'], ['team', 'network'], ['zone', 'a']),
  },
  {
    it: 'refuses more than 50 tags together with those that were there',
    ...refusal('BadRequest', {}),
    given: tagged,
    ask: tagResource(...tags(49)),
    afterwards: holds(['env', 'test'], ['team', 'storage']),
  },
  {
    it: 'refuses two tags of one key',
    ...refusal('InvalidTag'),
    ask: tagResource(['a', '1'], ['a', '2']),
    afterwards: holds(),
  },
  { it: 'needs a tag', ...refusal('InvalidTag', {}), message: oneNeeded, ask: tagResource() },
  {
    it: 'refuses a wrong digest',
    ...refusal('BadDigest'),
    ask: { ...tagResource(['a', '1']), headers: { 'Content-MD5': md5Base64('another body') } },
    afterwards: holds(),
  },
  { it: 'refuses another root', ...refusal('MalformedXML'), ask: { ...tagResource(), body: tagging([['a', '1']]) } },
  ...strangers(tagResource(['a', '1'])),
])

wireTests('ListTagsForResource', [
  {
    it: 'lists the tags of the bucket by key',
    proves: ['address:resourceArn', 'vendor:account-id'],
    status: 200,
    given: tagged,
    ask: list,
    xml: {
      ListTagsForResourceResult: {
        Tags: {
          Tag: [
            { Key: 'env', Value: 'test' },
            { Key: 'team', Value: 'storage' },
          ],
        },
      },
    },
  },
  {
    it: 'lists nothing where the bucket has no tags',
    status: 200,
    ask: list,
    xml: { ListTagsForResourceResult: { Tags: '' } },
  },
  {
    it: 'is a key of the bucket in the path, without the account in a header',
    ...refusal('NoSuchBucket', { BucketName: 'v20180820' }),
    takenFor: 'GetObject',
    ask: { method: 'GET', bucket: 'v20180820', key: 'tags/arn:aws:s3:::wire' },
  },
  ...strangers(list),
])

wireTests('UntagResource', [
  {
    it: 'removes the tags whose keys a policy names',
    status: 204,
    ...others('s3:UntagResource', onlyKeys('team')),
    ...byOther(untag),
    afterwards: holds(['env', 'test']),
  },
  { it: 'removes no others', ...denied, ...others('s3:UntagResource', onlyKeys('env')), ...byOther(untag) },
  {
    it: 'has the empty value of a tag for policies, not the one that is removed',
    ...denied,
    ...others('s3:UntagResource', {}, { Effect: 'Deny', ...onlyValue('') }),
    ...byOther(untag),
  },
  {
    it: 'is not stopped by the value that is removed',
    status: 204,
    ...others('s3:UntagResource', {}, { Effect: 'Deny', ...onlyValue('storage') }),
    ...byOther(untag),
  },
  {
    it: 'removes the tag with the key',
    proves: ['address:resourceArn', 'vendor:account-id', 'query:tagKeys'],
    status: 204,
    given: tagged,
    ask: untag,
    vendor: {},
    body: '',
    afterwards: holds(['env', 'test']),
  },
  {
    it: 'removes nothing where no tag has the key',
    status: 204,
    given: tagged,
    ask: { ...untag, query: { tagKeys: 'nothing' } },
    afterwards: holds(['env', 'test'], ['team', 'storage']),
  },
  { it: 'needs a key', ...refusal('InvalidTag', {}), message: oneNeeded, ask: { ...untag, query: {} } },
  { it: 'needs a key with a name', ...refusal('InvalidTag'), ask: { ...untag, query: { tagKeys: '' } } },
  ...strangers(untag),
])
