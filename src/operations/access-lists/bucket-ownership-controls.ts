/** PutBucketOwnershipControls, GetBucketOwnershipControls, DeleteBucketOwnershipControls. */
import { checksumsIn, ownership, requiredDocument } from '../../contract/groups.ts'
import { type Infer, list, oneOf, struct } from '../../contract/shapes.ts'
import { S3Error } from '../../errors.ts'
import { changeBucket, findBucket } from '../../objects/buckets.ts'
import type { BucketRecord } from '../../records/bucket-record.ts'
import { grantsToOthers } from '../../rules/access-list.ts'
import { defineOperation } from '../context.ts'

const root = 'OwnershipControls'
const rule = struct({ ObjectOwnership: oneOf('BucketOwnerEnforced', 'BucketOwnerPreferred', 'ObjectWriter') })
const shape = struct({ Rule: list(rule) })

export const putBucketOwnershipControlsOperation = defineOperation({
  name: 'PutBucketOwnershipControls',
  method: 'PUT',
  target: 'bucket',
  query: ['ownershipControls'],
  permission: 's3:PutBucketOwnershipControls',
  summary:
    'Sets who owns objects that other accounts write into a bucket, and so whether the bucket has access control lists.',
  input: { ...checksumsIn, ...ownership },
  inputBody: requiredDocument(root, shape),
  output: {},
  errors: ['NoSuchBucket', 'InvalidBucketAclWithObjectOwnership', 'MalformedXML', 'BadDigest', 'InvalidDigest'],
  conditions: ({ body }) => ({ 's3:x-amz-object-ownership': body.Rule[0]?.ObjectOwnership }),

  async handle({ backend, scope }, { body }) {
    const [rule, ...more] = body.Rule
    if (rule === undefined || more.length > 0) throw new S3Error('MalformedXML')
    const { ObjectOwnership } = rule
    await changeBucket(backend, scope, (bucket) =>
      ObjectOwnership === 'BucketOwnerEnforced' ? withoutLists(bucket) : { ...bucket, ownership: ObjectOwnership },
    )
    return {}
  },
})

/** The lists of the bucket's objects stay stored, and count again when lists are enabled again. */
function withoutLists(bucket: BucketRecord): BucketRecord {
  if (grantsToOthers(bucket.grants, bucket.owner)) throw new S3Error('InvalidBucketAclWithObjectOwnership')
  return { ...bucket, ownership: undefined, grants: undefined }
}

export const getBucketOwnershipControlsOperation = defineOperation({
  name: 'GetBucketOwnershipControls',
  method: 'GET',
  target: 'bucket',
  query: ['ownershipControls'],
  permission: 's3:GetBucketOwnershipControls',
  summary: 'Returns who owns objects that other accounts write into a bucket.',
  input: ownership,
  output: {},
  outputBody: { kind: 'xml', root, shape },
  errors: ['NoSuchBucket', 'OwnershipControlsNotFoundError'],

  async handle({ backend, scope, bucket: name }) {
    const { ownership: ObjectOwnership = 'BucketOwnerEnforced' } = await findBucket(backend, scope)
    if (ObjectOwnership === 'none') {
      throw new S3Error('OwnershipControlsNotFoundError', { details: { BucketName: name } })
    }
    const body: Infer<typeof shape> = { Rule: [{ ObjectOwnership }] }
    return { body }
  },
})

export const deleteBucketOwnershipControlsOperation = defineOperation({
  name: 'DeleteBucketOwnershipControls',
  method: 'DELETE',
  target: 'bucket',
  query: ['ownershipControls'],
  // S3 documents that the permission to set them is also the permission to remove them.
  permission: 's3:PutBucketOwnershipControls',
  summary: 'Removes the setting. Objects then belong to whoever writes them, and access control lists apply.',
  status: 204,
  input: ownership,
  output: {},
  errors: ['NoSuchBucket'],

  async handle({ backend, scope }) {
    await changeBucket(backend, scope, (bucket) => ({ ...bucket, ownership: 'none' }))
    return {}
  },
})
