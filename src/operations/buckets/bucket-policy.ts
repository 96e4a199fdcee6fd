/** PutBucketPolicy, GetBucketPolicy, DeleteBucketPolicy, GetBucketPolicyStatus. */
import { compilePolicy } from '../../access/compile-policy.ts'
import { parsePolicy, shortened } from '../../access/parsing/parse-policy.ts'
import type { PolicyDocument } from '../../access/parsing/policy-document.ts'
import { malformed } from '../../access/parsing/policy-part.ts'
import { vendor } from '../../contract/fields.ts'
import { checksumsIn, ownership } from '../../contract/groups.ts'
import { boolean, struct } from '../../contract/shapes.ts'
import { boolean as booleanValue } from '../../contract/values.ts'
import { S3Error } from '../../errors.ts'
import { limits } from '../../limits.ts'
import { changeBucket, findBucket } from '../../objects/buckets.ts'
import type { BucketRecord } from '../../records/bucket-record.ts'
import { withAccountBlock } from '../access/account-blocks.ts'
import { accessOf } from '../access/authorize.ts'
import { defineOperation, type OperationContext } from '../context.ts'

const noPolicy = ({ name }: BucketRecord): S3Error =>
  new S3Error('NoSuchBucketPolicy', { details: { BucketName: name } })

export const putBucketPolicyOperation = defineOperation({
  name: 'PutBucketPolicy',
  method: 'PUT',
  target: 'bucket',
  query: ['policy'],
  permission: 's3:PutBucketPolicy',
  summary: 'Replaces the policy of a bucket: who may do what with it, and under which conditions.',
  status: 204,
  input: {
    // Accepted and ignored: no policy locks the owner out, because the owning account's own key can always replace it.
    confirmRemoveSelfBucketAccess: vendor('confirm-remove-self-bucket-access', booleanValue),
    ...checksumsIn,
    ...ownership,
  },
  inputBody: { kind: 'json', bytesMax: limits.xmlBodyBytesMax },
  output: {},
  errors: ['NoSuchBucket', 'MalformedPolicy', 'AccessDenied', 'BadDigest', 'InvalidDigest'],

  async handle({ backend, scope, bucket: name, accountBlocks, isAccount }, { body }) {
    await changeBucket(backend, scope, (bucket) => {
      const policy = parsePolicy(body, { kind: 'bucket', bucket: name })
      checkAccounts(policy, isAccount)
      const { isPublic } = compilePolicy(policy)
      const { publicAccessBlock } = withAccountBlock(bucket, accountBlocks)
      if (isPublic && publicAccessBlock?.blockPublicPolicy === true) throw new S3Error('AccessDenied')
      return { ...bucket, policy: shortened(body) }
    })
    return {}
  },
})

/** As in S3: who is not there was misspelled, and an account that is made under that name later must not get its rights. Throws MalformedPolicy. */
function checkAccounts({ statements }: PolicyDocument, isAccount: OperationContext['isAccount']): void {
  for (const { name, principals } of statements) {
    const element = principals?.negated === true ? 'NotPrincipal' : 'Principal'
    for (const named of principals?.named ?? []) {
      if (named.kind === 'anyone' || named.kind === 'service' || isAccount(named.accountId)) continue
      throw malformed('Invalid principal in policy', { statement: name, element }, named.accountId)
    }
  }
}

export const getBucketPolicyOperation = defineOperation({
  name: 'GetBucketPolicy',
  method: 'GET',
  target: 'bucket',
  query: ['policy'],
  permission: 's3:GetBucketPolicy',
  summary: 'Returns the policy of a bucket, as it was set. One that had more than 20 KiB has lost its white space.',
  input: ownership,
  output: {},
  outputBody: { kind: 'json' },
  errors: ['NoSuchBucket', 'NoSuchBucketPolicy'],

  async handle({ backend, scope }) {
    const bucket = await findBucket(backend, scope)
    if (bucket.policy === undefined) throw noPolicy(bucket)
    return { body: bucket.policy }
  },
})

export const deleteBucketPolicyOperation = defineOperation({
  name: 'DeleteBucketPolicy',
  method: 'DELETE',
  target: 'bucket',
  query: ['policy'],
  permission: 's3:DeleteBucketPolicy',
  summary: 'Removes the policy of a bucket.',
  status: 204,
  input: ownership,
  output: {},
  errors: ['NoSuchBucket'],

  async handle({ backend, scope }) {
    await changeBucket(backend, scope, (bucket) => ({ ...bucket, policy: undefined }))
    return {}
  },
})

export const getBucketPolicyStatusOperation = defineOperation({
  name: 'GetBucketPolicyStatus',
  method: 'GET',
  target: 'bucket',
  query: ['policyStatus'],
  permission: 's3:GetBucketPolicyStatus',
  summary: 'Returns whether the policy of the bucket makes it public.',
  input: ownership,
  output: {},
  outputBody: { kind: 'xml', root: 'PolicyStatus', shape: struct({ IsPublic: boolean }) },
  errors: ['NoSuchBucket', 'NoSuchBucketPolicy'],

  async handle({ backend, scope }) {
    const bucket = await findBucket(backend, scope)
    const { policy } = accessOf(bucket)
    if (policy === undefined) throw noPolicy(bucket)
    return { body: { IsPublic: policy.isPublic } }
  },
})
