import { absentUnless, outVendor } from '../../contract/fields.ts'
import { ownership } from '../../contract/groups.ts'
import { findBucket } from '../../objects/buckets.ts'
import { arnOfBucket } from '../bucket-name.ts'
import { defineOperation } from '../context.ts'
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
    accessPointAlias: outVendor('access-point-alias'),
    bucketArn: outVendor('bucket-arn'),
    bucketLocationName: absentUnless('bucket-location-name', 'it is a directory bucket'),
    bucketLocationType: absentUnless('bucket-location-type', 'it is a directory bucket'),
  },
  outputBody: { kind: 'none', contentType: 'application/xml' },
  errors: ['NoSuchBucket'],

  async handle({ backend, scope, region, bucket: name }) {
    const bucket = await findBucket(backend, scope)
    // This server has no access points, so no name is an alias of one.
    return {
      bucketRegion: regionOf(bucket.locationConstraint, region),
      accessPointAlias: 'false',
      bucketArn: arnOfBucket(name),
    }
  },
})
