import { ownership } from '../../contract/groups.ts'
import { deleteBucket } from '../../objects/buckets.ts'
import { defineOperation } from '../context.ts'

export const deleteBucketOperation = defineOperation({
  name: 'DeleteBucket',
  method: 'DELETE',
  target: 'bucket',
  permission: 's3:DeleteBucket',
  summary: 'Removes an empty bucket.',
  status: 204,
  input: ownership,
  output: {},
  errors: ['NoSuchBucket', 'BucketNotEmpty'],

  async handle({ backend, scope }) {
    await deleteBucket(backend, scope)
    return {}
  },
})
