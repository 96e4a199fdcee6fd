import { outVendor } from '../contract/fields.ts'
import { ownership } from '../contract/groups.ts'
import { findBucket } from '../store/buckets.ts'
import { defineOperation } from './context.ts'
import { regionOf } from './location-constraint.ts'

export const headBucketOperation = defineOperation({
  name: 'HeadBucket',
  method: 'HEAD',
  target: 'bucket',
  permission: 's3:ListBucket',
  summary: 'Says whether a bucket exists and may be accessed.',
  input: ownership,
  output: {
    bucketRegion: outVendor('bucket-region'),
  },
  errors: ['NoSuchBucket'],

  async handle({ store, scope, region }) {
    const bucket = await findBucket(store, scope)
    return { bucketRegion: regionOf(bucket.locationConstraint, region) }
  },
})
