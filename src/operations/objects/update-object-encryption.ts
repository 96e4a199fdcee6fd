import { errorsOfVersion, ownership, requestCharged, requiredDocument, versionId } from '../../contract/groups.ts'
import { optional, string, struct } from '../../contract/shapes.ts'
import { S3Error } from '../../errors.ts'
import { setEncryption } from '../../objects/change-version.ts'
import { defineOperation } from '../context.ts'

export const updateObjectEncryptionOperation = defineOperation({
  name: 'UpdateObjectEncryption',
  method: 'PUT',
  target: 'object',
  query: ['encryption'],
  permission: ['s3:UpdateObjectEncryption', 's3:PutObject'],
  summary: 'Wraps the key of an encrypted object with an SSE-KMS key. Bytes, entity tag and date stay as they are.',
  input: { versionId, ...ownership },
  inputBody: requiredDocument(
    'ObjectEncryption',
    struct({ 'SSE-KMS': optional(struct({ KMSKeyArn: optional(string), BucketKeyEnabled: optional(string) })) }),
  ),
  output: requestCharged,
  errors: [...errorsOfVersion, 'InvalidRequest', 'AccessDenied', 'KMS.NotFoundException', 'MalformedXML'],

  conditions: ({ body }) => ({
    's3:x-amz-server-side-encryption': 'aws:kms',
    's3:x-amz-server-side-encryption-aws-kms-key-id': body['SSE-KMS']?.KMSKeyArn,
  }),

  async handle({ backend, scope, key }, { body, versionId }) {
    const asked = body['SSE-KMS']
    if (asked === undefined) {
      throw refusal(
        'Requests that modify an object encryption configuration require a valid new encryption type. Valid values are SSEKMS. Modify the request to specify SSE-KMS for the updated encryption type, and then try again.',
      )
    }
    const kmsKeyId = keyArn(asked.KMSKeyArn)
    const bucketKeyEnabled = bucketKey(asked.BucketKeyEnabled)
    await setEncryption(backend, scope, { key, versionId }, { by: 'kms', kmsKeyId, bucketKeyEnabled })
    return {}
  },
})

// Messages are S3's.
const refusal = (message: string): S3Error => new S3Error('InvalidRequest', { message })

/** S3 documents that the key must be given as an ARN; a key id or an alias is refused. */
const arn = /^arn:aws[-a-z0-9]*:kms:[-a-z0-9]*:[0-9]{12}:key\/.+$/

function keyArn(sent: string | undefined): string {
  if (sent === undefined || sent === '') {
    throw refusal(
      "Requests that modify an object's encryption type to SSE-KMS require an Amazon Web Services KMS key Amazon Resource Name (ARN). Modify the request to specify a KMS key ARN, and then try again.",
    )
  }
  if (arn.test(sent)) return sent
  throw refusal(
    "Requests that modify an object's encryption type to SSE-KMS require a valid Amazon Web Services KMS key Amazon Resource Name (ARN). Confirm that you have a correctly formatted KMS key ARN in your request, and then try again.",
  )
}

function bucketKey(sent: string | undefined): boolean | undefined {
  if (sent === undefined || sent === 'false') return undefined
  if (sent === 'true') return true
  throw refusal(
    "The BucketKeyEnabled value isn't valid. Valid values are true or false. Modify the request to specify a valid value, and then try again.",
  )
}
