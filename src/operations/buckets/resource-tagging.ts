/** TagResource, ListTagsForResource, UntagResource: S3 Control's way to the tags of a bucket, which Terraform's provider for AWS goes. */
import { queryList, required, vendor } from '../../contract/fields.ts'
import { checksumsIn, ownership, requiredDocument } from '../../contract/groups.ts'
import { list, struct } from '../../contract/shapes.ts'
import { text } from '../../contract/values.ts'
import { S3Error } from '../../errors.ts'
import { changeBucket, findBucket } from '../../objects/buckets.ts'
import type { BucketRecord } from '../../records/bucket-record.ts'
import { checkTags } from '../../rules/tag-set.ts'
import { defineOperation } from '../context.ts'
import { requestedBucketTags, tagShape, toTaggingDocument, toTags } from '../objects/tagging-document.ts'

const accountIn = { accountId: required(vendor('account-id', text)), ...ownership } as const
const tagsShape = struct({ Tags: struct({ Tag: list(tagShape) }) })

const oneNeeded = () => new S3Error('InvalidTag', { message: 'At least one tag is required.' })

/** Throws AccessDenied unless the account that the request names owns the bucket. */
function ownedBy(accountId: string, bucket: BucketRecord): BucketRecord {
  if (bucket.owner !== accountId) throw new S3Error('AccessDenied')
  return bucket
}

export const tagResourceOperation = defineOperation({
  name: 'TagResource',
  method: 'POST',
  target: 'arn',
  permission: 's3:TagResource',
  summary: 'Adds tags to a bucket. A tag replaces the one with its key.',
  status: 204,
  input: { ...accountIn, ...checksumsIn },
  inputBody: requiredDocument('TagResourceRequest', tagsShape),
  output: {},
  errors: ['NoSuchBucket', 'InvalidTag', 'MalformedXML', 'BadDigest', 'InvalidDigest'],

  conditions: ({ body }) => requestedBucketTags(toTags({ TagSet: body.Tags })),

  async handle({ backend, scope }, { accountId, body }) {
    const added = checkTags(toTags({ TagSet: body.Tags }), 'bucket')
    if (added.length === 0) throw oneNeeded()
    const keys = new Set(added.map(({ key }) => key))
    await changeBucket(backend, scope, (record) => {
      const bucket = ownedBy(accountId, record)
      const kept = bucket.tags.filter(({ key }) => !keys.has(key))
      return { ...bucket, tags: checkTags([...kept, ...added], 'bucket') }
    })
    return {}
  },
})

export const listTagsForResourceOperation = defineOperation({
  name: 'ListTagsForResource',
  method: 'GET',
  target: 'arn',
  permission: 's3:ListTagsForResource',
  summary: "Lists a bucket's tags. A bucket without tags has an empty list.",
  input: accountIn,
  output: {},
  outputBody: { kind: 'xml', root: 'ListTagsForResourceResult', shape: tagsShape },
  errors: ['NoSuchBucket'],

  async handle({ backend, scope }, { accountId }) {
    const bucket = ownedBy(accountId, await findBucket(backend, scope))
    return { body: { Tags: toTaggingDocument(bucket.tags).TagSet } }
  },
})

export const untagResourceOperation = defineOperation({
  name: 'UntagResource',
  method: 'DELETE',
  target: 'arn',
  permission: 's3:UntagResource',
  summary: "Removes the bucket's tags with these keys.",
  status: 204,
  input: { ...accountIn, tagKeys: { ...required(queryList('tagKeys')), missing: oneNeeded } },
  output: {},
  errors: ['NoSuchBucket', 'InvalidTag'],

  // As in S3, the value of a tag that is taken away is the empty one.
  conditions: ({ tagKeys }) => requestedBucketTags(tagKeys.map((key) => ({ key, value: '' }))),

  async handle({ backend, scope }, { accountId, tagKeys }) {
    if (tagKeys.includes('')) checkTags([{ key: '', value: '' }], 'bucket')
    const keys = new Set(tagKeys)
    await changeBucket(backend, scope, (record) => {
      const bucket = ownedBy(accountId, record)
      return { ...bucket, tags: bucket.tags.filter(({ key }) => !keys.has(key)) }
    })
    return {}
  },
})
