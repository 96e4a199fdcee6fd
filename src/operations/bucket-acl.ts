/** PutBucketAcl, GetBucketAcl. */
import { ownership } from '../contract/groups.ts'
import { findBucket } from '../objects/buckets.ts'
import {
  checkChangesNothing,
  policyBody,
  policyErrors,
  policyInputs,
  policyOf,
  policyShape,
} from './access-control-policy.ts'
import { defineOperation } from './context.ts'

export const putBucketAclOperation = defineOperation({
  name: 'PutBucketAcl',
  method: 'PUT',
  target: 'bucket',
  query: ['acl'],
  permission: 's3:PutBucketAcl',
  summary: 'Accepts that the owner alone may use the bucket; refuses every other access control list.',
  input: policyInputs,
  inputBody: policyBody,
  output: {},
  errors: ['NoSuchBucket', ...policyErrors],

  async handle({ backend, scope, principal }, { body, acl }) {
    await findBucket(backend, scope)
    checkChangesNothing(acl, body, principal)
    return {}
  },
})

export const getBucketAclOperation = defineOperation({
  name: 'GetBucketAcl',
  method: 'GET',
  target: 'bucket',
  query: ['acl'],
  permission: 's3:GetBucketAcl',
  summary: 'Says that the owner of the bucket, and nobody else, has full control.',
  input: ownership,
  output: {},
  outputBody: { kind: 'xml', root: 'AccessControlPolicy', shape: policyShape },
  errors: ['NoSuchBucket'],

  async handle({ backend, scope, principal }) {
    await findBucket(backend, scope)
    // Whoever is admitted to a bucket owns it.
    return { body: policyOf(principal) }
  },
})
