import { outVendor, vendor } from '../contract/fields.ts'
import {
  abortOut,
  checksumAlgorithm,
  customerKey,
  descriptive,
  encryptionRequest,
  keeping,
  lockRequest,
  objectAcl,
  ownership,
  requestCharged,
  tagging,
} from '../contract/groups.ts'
import { string, struct } from '../contract/shapes.ts'
import { oneOf } from '../contract/values.ts'
import { S3Error } from '../errors.ts'
import { checksumTypeOf } from '../store/multipart-checksum.ts'
import { createUpload } from '../store/uploads.ts'
import { defineOperation } from './context.ts'
import { objectAttributes } from './object-attributes.ts'

export const createMultipartUploadOperation = defineOperation({
  name: 'CreateMultipartUpload',
  method: 'POST',
  target: 'object',
  query: ['uploads'],
  permission: 's3:PutObject',
  summary: 'Begins a multipart upload.',
  input: {
    checksumAlgorithm: vendor('checksum-algorithm', checksumAlgorithm),
    checksumType: vendor('checksum-type', oneOf('COMPOSITE', 'FULL_OBJECT')),
    ...descriptive,
    tagging,
    ...lockRequest,
    ...objectAcl,
    ...keeping,
    ...encryptionRequest,
    ...customerKey,
    ...ownership,
  },
  output: {
    checksumAlgorithm: outVendor('checksum-algorithm'),
    checksumType: outVendor('checksum-type'),
    ...abortOut,
    ...requestCharged,
  },
  outputBody: {
    kind: 'xml',
    root: 'InitiateMultipartUploadResult',
    shape: struct({ Bucket: string, Key: string, UploadId: string }),
  },
  errors: [
    'NoSuchBucket',
    'InvalidRequest',
    'InvalidTag',
    'MetadataTooLarge',
    'InvalidStorageClass',
    'InvalidRedirectLocation',
  ],

  async handle({ store, scope, bucket, key }, input) {
    const { checksumAlgorithm: algorithm } = input
    if (algorithm === undefined && input.checksumType !== undefined) {
      throw new S3Error('InvalidRequest', {
        message: 'The checksum-type header can only be used with the checksum-algorithm header.',
      })
    }
    const checksum = algorithm && { algorithm, type: checksumTypeOf(algorithm, input.checksumType) }
    const uploadId = await createUpload(store, scope, { key, checksum, ...objectAttributes(input) })
    return {
      checksumAlgorithm: checksum?.algorithm,
      checksumType: checksum?.type,
      body: { Bucket: bucket, Key: key, UploadId: uploadId },
    }
  },
})
