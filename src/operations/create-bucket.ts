import { outHeader, vendor } from '../contract/fields.ts'
import { bucketAcl } from '../contract/groups.ts'
import { optional, refusedByHandler, string, struct } from '../contract/shapes.ts'
import { boolean, oneOf } from '../contract/values.ts'
import { notImplemented, S3Error } from '../errors.ts'
import { limits } from '../limits.ts'
import { createBucket } from '../store/buckets.ts'
import { checkBucketName } from './bucket-name.ts'
import { defineOperation } from './context.ts'
import { resolveLocation } from './location-constraint.ts'

export const createBucketOperation = defineOperation({
  name: 'CreateBucket',
  method: 'PUT',
  target: 'bucket',
  permission: 's3:CreateBucket',
  summary: 'Makes a bucket. Its location says over which stores its data is sharded.',
  input: {
    objectLockEnabled: vendor('bucket-object-lock-enabled', boolean),
    objectOwnership: vendor('object-ownership', oneOf('BucketOwnerEnforced')),
    ...bucketAcl,
  },
  inputBody: {
    kind: 'xml',
    root: 'CreateBucketConfiguration',
    shape: struct({
      LocationConstraint: optional(string),
      Location: refusedByHandler(struct({ Name: optional(string), Type: optional(string) })),
      Bucket: refusedByHandler(struct({ DataRedundancy: optional(string), Type: optional(string) })),
    }),
    required: false,
    digestRequired: false,
    bytesMax: limits.xmlBodyBytesMax,
  },
  output: { location: outHeader('Location') },
  errors: ['BucketAlreadyExists', 'BucketAlreadyOwnedByYou', 'InvalidBucketName', 'InvalidLocationConstraint'],

  async handle({ store, principal, bucket }, input) {
    checkBucketName(bucket)
    if (input.body?.Location !== undefined) throw notImplemented('CreateBucketConfiguration/Location')
    if (input.body?.Bucket !== undefined) throw notImplemented('CreateBucketConfiguration/Bucket')
    const locationConstraint = input.body?.LocationConstraint
    const location = resolveLocation(locationConstraint, (name) => store.blobs.hasLocation(name))
    if (location === undefined) {
      throw new S3Error('InvalidLocationConstraint', { details: { LocationConstraint: locationConstraint ?? '' } })
    }
    await createBucket(store, {
      name: bucket,
      owner: principal.accountId,
      locationConstraint,
      location,
      objectLock: input.objectLockEnabled === true ? { defaultRetention: undefined } : undefined,
    })
    return { location: `/${bucket}` }
  },
})
