// biome-ignore-all lint/suspicious/noTemplateCurlyInString: policy variables look like placeholders
import { describe, expect, it } from 'vitest'
import { compilePolicy } from '../../src/access/compile-policy.ts'
import { parsePolicy } from '../../src/access/parsing/parse-policy.ts'
import { bucketArn, bucketTarget, policyText, type StatementSpec } from './policy-world.ts'

const objects = `${bucketArn}/*`
const everybody = { AWS: ['*'] }

/** As clients write them, and AWS's user guide. */
const written: Readonly<Record<string, [isPublic: boolean, statements: readonly StatementSpec[]]>> = {
  'of `mc anonymous set download`': [
    true,
    [
      {
        Effect: 'Allow',
        Principal: everybody,
        Action: ['s3:GetBucketLocation', 's3:ListBucket'],
        Resource: [bucketArn],
      },
      { Effect: 'Allow', Principal: everybody, Action: ['s3:GetObject'], Resource: [objects] },
    ],
  ],
  'of `mc anonymous set upload`': [
    true,
    [
      {
        Effect: 'Allow',
        Principal: everybody,
        Action: ['s3:GetBucketLocation', 's3:ListBucketMultipartUploads'],
        Resource: [bucketArn],
      },
      {
        Effect: 'Allow',
        Principal: everybody,
        Action: ['s3:AbortMultipartUpload', 's3:DeleteObject', 's3:ListMultipartUploadParts', 's3:PutObject'],
        Resource: [objects],
      },
    ],
  ],
  'of a prefix that anybody can list': [
    true,
    [
      {
        Effect: 'Allow',
        Principal: everybody,
        Action: 's3:ListBucket',
        Resource: bucketArn,
        Condition: { StringEquals: { 's3:prefix': ['cats'] } },
      },
    ],
  ],
  'that asks for TLS': [
    false,
    [
      {
        Sid: 'RestrictToTLSRequestsOnly',
        Effect: 'Deny',
        Principal: '*',
        Action: 's3:*',
        Resource: [bucketArn, objects],
        Condition: { Bool: { 'aws:SecureTransport': 'false' } },
      },
    ],
  ],
  'that asks for encryption': [
    false,
    [
      {
        Effect: 'Deny',
        Principal: '*',
        Action: 's3:PutObject',
        Resource: objects,
        Condition: { StringNotEquals: { 's3:x-amz-server-side-encryption': 'aws:kms' } },
      },
      {
        Effect: 'Deny',
        Principal: '*',
        Action: 's3:PutObject',
        Resource: objects,
        Condition: { Null: { 's3:x-amz-server-side-encryption': 'true' } },
      },
    ],
  ],
  'that asks for MFA': [
    false,
    [
      {
        Effect: 'Deny',
        Principal: '*',
        Action: 's3:*',
        Resource: `${bucketArn}/taxes/*`,
        Condition: { Null: { 'aws:MultiFactorAuthAge': true }, NumericGreaterThan: { 'aws:MultiFactorAuthAge': 3600 } },
      },
    ],
  ],
  'of home directories': [
    false,
    [
      {
        Effect: 'Allow',
        Principal: { AWS: '111122223333' },
        Action: 's3:ListBucket',
        Resource: bucketArn,
        Condition: { StringLike: { 's3:prefix': ['home/${aws:username}/*'] } },
      },
    ],
  ],
}

describe('a policy as people write it', () => {
  it.each(Object.entries(written))('%s is taken, and public or not', (_, [isPublic, statements]) => {
    expect(compilePolicy(parsePolicy(policyText(statements), bucketTarget)).isPublic).toBe(isPublic)
  })
})
