/** PutBucketTagging, GetBucketTagging, DeleteBucketTagging. */
import { checksumsIn, ownership } from '../../contract/groups.ts'
import { S3Error } from '../../errors.ts'
import { changeBucket, findBucket } from '../../objects/buckets.ts'
import { checkTags } from '../../rules/tag-set.ts'
import { defineOperation } from '../context.ts'
import { taggingBody, taggingShape, toTaggingDocument, toTags } from '../objects/tagging-document.ts'

export const putBucketTaggingOperation = defineOperation({
  name: 'PutBucketTagging',
  method: 'PUT',
  target: 'bucket',
  query: ['tagging'],
  permission: 's3:PutBucketTagging',
  summary: "Replaces a bucket's tag set.",
  input: { ...checksumsIn, ...ownership },
  inputBody: taggingBody,
  output: {},
  errors: ['NoSuchBucket', 'InvalidTag', 'MalformedXML', 'BadDigest', 'InvalidDigest'],

  async handle({ backend, scope }, { body }) {
    const tags = checkTags(toTags(body), 'bucket')
    await changeBucket(backend, scope, (bucket) => ({ ...bucket, tags }))
    return {}
  },
})

export const getBucketTaggingOperation = defineOperation({
  name: 'GetBucketTagging',
  method: 'GET',
  target: 'bucket',
  query: ['tagging'],
  permission: 's3:GetBucketTagging',
  summary: "Returns a bucket's tag set.",
  input: ownership,
  output: {},
  outputBody: { kind: 'xml', root: 'Tagging', shape: taggingShape },
  errors: ['NoSuchBucket', 'NoSuchTagSet'],

  async handle({ backend, scope, bucket: name }) {
    const bucket = await findBucket(backend, scope)
    if (bucket.tags.length === 0) throw new S3Error('NoSuchTagSet', { details: { BucketName: name } })
    return { body: toTaggingDocument(bucket.tags) }
  },
})

export const deleteBucketTaggingOperation = defineOperation({
  name: 'DeleteBucketTagging',
  method: 'DELETE',
  target: 'bucket',
  query: ['tagging'],
  permission: 's3:PutBucketTagging',
  summary: "Removes a bucket's tag set.",
  status: 204,
  input: ownership,
  output: {},
  errors: ['NoSuchBucket'],

  async handle({ backend, scope }) {
    await changeBucket(backend, scope, (bucket) => ({ ...bucket, tags: [] }))
    return {}
  },
})
