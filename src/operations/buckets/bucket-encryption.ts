/** PutBucketEncryption, GetBucketEncryption, DeleteBucketEncryption. */

import { kmsKey } from '../../commits/encryption.ts'
import { checksumsIn, ownership, requiredDocument } from '../../contract/groups.ts'
import { absentElement, boolean, list, optional, string, struct } from '../../contract/shapes.ts'
import { notImplemented, S3Error } from '../../errors.ts'
import { changeBucket, findBucket } from '../../objects/buckets.ts'
import type { DefaultEncryption } from '../../records/bucket-record.ts'
import { defineOperation } from '../context.ts'

const ruleShapes = {
  ApplyServerSideEncryptionByDefault: optional(struct({ SSEAlgorithm: string, KMSMasterKeyID: optional(string) })),
  BucketKeyEnabled: optional(boolean),
} as const
const sentShape = struct({
  Rule: list(struct({ ...ruleShapes, BlockedEncryptionTypes: optional(struct({ EncryptionType: list(string) })) })),
})
const shownShape = struct({
  Rule: list(struct({ ...ruleShapes, BlockedEncryptionTypes: absentElement('a type is blocked, which is refused') })),
})

export const putBucketEncryptionOperation = defineOperation({
  name: 'PutBucketEncryption',
  method: 'PUT',
  target: 'bucket',
  query: ['encryption'],
  permission: 's3:PutEncryptionConfiguration',
  summary: 'Sets the encryption of new objects whose requests name none.',
  input: { ...checksumsIn, ...ownership },
  inputBody: requiredDocument('ServerSideEncryptionConfiguration', sentShape),
  output: {},
  errors: ['NoSuchBucket', 'MalformedXML', 'InvalidArgument', 'KMS.NotFoundException'],

  async handle({ backend, scope }, { body }) {
    const [rule, ...more] = body.Rule
    const asked = rule?.ApplyServerSideEncryptionByDefault
    if (rule === undefined || more.length > 0 || asked === undefined) throw new S3Error('MalformedXML')
    const blocked = rule.BlockedEncryptionTypes?.EncryptionType.find((type) => type !== 'NONE')
    if (blocked !== undefined) throw notImplemented(`BlockedEncryptionTypes ${blocked}`)
    const encryption = defaultEncryption(asked, rule.BucketKeyEnabled)
    // With a missing key, every later write would fail.
    if (encryption.by === 'kms') kmsKey(backend, encryption.kmsKeyId)
    await changeBucket(backend, scope, (bucket) => ({ ...bucket, encryption }))
    return {}
  },
})

export const getBucketEncryptionOperation = defineOperation({
  name: 'GetBucketEncryption',
  method: 'GET',
  target: 'bucket',
  query: ['encryption'],
  permission: 's3:GetEncryptionConfiguration',
  summary: "Returns a bucket's default encryption.",
  input: ownership,
  output: {},
  outputBody: { kind: 'xml', root: 'ServerSideEncryptionConfiguration', shape: shownShape },
  errors: ['NoSuchBucket', 'ServerSideEncryptionConfigurationNotFoundError'],

  async handle({ backend, scope }) {
    const { encryption } = await findBucket(backend, scope)
    if (encryption === undefined) {
      throw new S3Error('ServerSideEncryptionConfigurationNotFoundError', { details: { BucketName: scope.name } })
    }
    const { by, kmsKeyId, bucketKeyEnabled = false } = encryption
    const algorithm = by === 'kms' ? 'aws:kms' : 'AES256'
    const rule = {
      ApplyServerSideEncryptionByDefault: { SSEAlgorithm: algorithm, KMSMasterKeyID: kmsKeyId },
      BucketKeyEnabled: bucketKeyEnabled,
    }
    const rules = [rule]
    return { body: { Rule: rules } }
  },
})

export const deleteBucketEncryptionOperation = defineOperation({
  name: 'DeleteBucketEncryption',
  method: 'DELETE',
  target: 'bucket',
  query: ['encryption'],
  permission: 's3:PutEncryptionConfiguration',
  summary: "Removes a bucket's default encryption. Encrypted objects stay encrypted.",
  status: 204,
  input: ownership,
  output: {},
  errors: ['NoSuchBucket'],

  async handle({ backend, scope }) {
    await changeBucket(backend, scope, (bucket) => ({ ...bucket, encryption: undefined }))
    return {}
  },
})

function defaultEncryption(
  { SSEAlgorithm: algorithm, KMSMasterKeyID: kmsKeyId }: { SSEAlgorithm: string; KMSMasterKeyID?: string | undefined },
  bucketKeyEnabled: boolean | undefined,
): DefaultEncryption {
  if (algorithm === 'aws:kms') return { by: 'kms', kmsKeyId, bucketKeyEnabled }
  if (algorithm === 'aws:kms:dsse') throw notImplemented('SSEAlgorithm aws:kms:dsse')
  if (algorithm !== 'AES256') throw new S3Error('MalformedXML')
  if (kmsKeyId !== undefined) {
    throw new S3Error('InvalidArgument', {
      message: 'a KMSMasterKeyID is not applicable if the default sse algorithm is not aws:kms or aws:kms:dsse',
    })
  }
  return { by: 'store', bucketKeyEnabled }
}
