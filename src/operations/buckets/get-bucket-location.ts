import { ownership } from '../../contract/groups.ts'
import { string } from '../../contract/shapes.ts'
import { findBucket } from '../../objects/buckets.ts'
import { defineOperation } from '../context.ts'

export const getBucketLocationOperation = defineOperation({
  name: 'GetBucketLocation',
  method: 'GET',
  target: 'bucket',
  query: ['location'],
  permission: 's3:GetBucketLocation',
  summary:
    'Returns the location that the bucket was created with or moved to; empty when it was created without one and never moved.',
  input: ownership,
  output: {},
  outputBody: { kind: 'xml', root: 'LocationConstraint', shape: string },
  errors: ['NoSuchBucket'],

  async handle({ backend, scope }) {
    const bucket = await findBucket(backend, scope)
    return { body: bucket.locationConstraint ?? '' }
  },
})
