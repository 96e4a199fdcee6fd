/** PutBucketAcl, GetBucketAcl. */
import { ownership } from '../../contract/groups.ts'
import { changeBucket, findBucket } from '../../objects/buckets.ts'
import { defineOperation } from '../context.ts'
import { policyBody, policyErrors, policyInputs, policyOf, policyShape } from './access-control-policy.ts'
import { askedList, listIn } from './access-list.ts'

export const putBucketAclOperation = defineOperation({
  name: 'PutBucketAcl',
  method: 'PUT',
  target: 'bucket',
  query: ['acl'],
  permission: 's3:PutBucketAcl',
  summary:
    'Replaces the access control list of a bucket. Under BucketOwnerEnforced, it accepts only a list that gives the owner, and nobody else, full control.',
  input: policyInputs,
  inputBody: policyBody,
  output: {},
  errors: ['NoSuchBucket', ...policyErrors],

  async handle(context, { body, ...headers }) {
    const asked = askedList(headers, body)
    await changeBucket(context.backend, context.scope, (bucket) => {
      const grants = listIn(bucket, asked, { owner: bucket.owner }, context)
      return bucket.ownership === undefined ? bucket : { ...bucket, grants }
    })
    return {}
  },
})

export const getBucketAclOperation = defineOperation({
  name: 'GetBucketAcl',
  method: 'GET',
  target: 'bucket',
  query: ['acl'],
  permission: 's3:GetBucketAcl',
  summary:
    'Returns the access control list of a bucket. Under BucketOwnerEnforced, it says that the owner, and nobody else, has full control.',
  input: ownership,
  output: {},
  outputBody: { kind: 'xml', root: 'AccessControlPolicy', shape: policyShape },
  errors: ['NoSuchBucket'],

  async handle(context) {
    const { owner, grants } = await findBucket(context.backend, context.scope)
    return { body: policyOf(context, owner, grants) }
  },
})
