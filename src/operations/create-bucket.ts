import { needs, outHeader, vendor, worksOnly } from '../contract/fields.ts'
import { bucketAcl } from '../contract/groups.ts'
import { list, optional, refusedByHandler, string, struct } from '../contract/shapes.ts'
import { boolean, oneOf } from '../contract/values.ts'
import { notImplemented, S3Error } from '../errors.ts'
import { limits } from '../limits.ts'
import { createBucket } from '../store/buckets.ts'
import { checkTags } from '../store/tag-set.ts'
import { checkBucketName } from './bucket-name.ts'
import { defineOperation } from './context.ts'
import { resolveLocation } from './location-constraint.ts'
import { tagShape, toTags } from './tagging-document.ts'

export const createBucketOperation = defineOperation({
  name: 'CreateBucket',
  method: 'PUT',
  target: 'bucket',
  permission: 's3:CreateBucket',
  summary: 'Makes a bucket. Its location says over which stores its data is sharded.',
  input: {
    objectLockEnabled: needs(
      vendor('bucket-object-lock-enabled', boolean),
      's3:PutBucketObjectLockConfiguration',
      's3:PutBucketVersioning',
    ),
    objectOwnership: needs(
      worksOnly(vendor('object-ownership', oneOf('BucketOwnerEnforced')), 'BucketOwnerEnforced'),
      's3:PutBucketOwnershipControls',
    ),
    ...bucketAcl,
  },
  inputBody: {
    kind: 'xml',
    root: 'CreateBucketConfiguration',
    shape: struct({
      LocationConstraint: optional(string),
      Location: refusedByHandler(struct({ Name: optional(string), Type: optional(string) })),
      Bucket: refusedByHandler(struct({ DataRedundancy: optional(string), Type: optional(string) })),
      Tags: optional(struct({ Tag: list(tagShape) })),
    }),
    required: false,
    digestRequired: false,
    bytesMax: limits.xmlBodyBytesMax,
  },
  output: { location: outHeader('Location') },
  errors: [
    'BucketAlreadyExists',
    'BucketAlreadyOwnedByYou',
    'InvalidBucketName',
    'InvalidLocationConstraint',
    'InvalidTag',
  ],

  async handle({ store, principal, bucket, permit }, input) {
    checkBucketName(bucket)
    if (input.body?.Location !== undefined) throw notImplemented('CreateBucketConfiguration/Location')
    if (input.body?.Bucket !== undefined) throw notImplemented('CreateBucketConfiguration/Bucket')
    const locationConstraint = input.body?.LocationConstraint
    const location = resolveLocation(locationConstraint, (name) => store.blobs.hasLocation(name))
    if (location === undefined) {
      throw new S3Error('InvalidLocationConstraint', { details: { LocationConstraint: locationConstraint ?? '' } })
    }
    const tags = checkTags(input.body?.Tags === undefined ? [] : toTags({ TagSet: input.body.Tags }), 'bucket')
    if (tags.length > 0) permit('s3:TagResource')
    await createBucket(store, {
      name: bucket,
      owner: principal.accountId,
      locationConstraint,
      location,
      tags,
      objectLock: input.objectLockEnabled === true ? { defaultRetention: undefined } : undefined,
    })
    return { location: `/${bucket}` }
  },
})
