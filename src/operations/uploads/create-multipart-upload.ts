import { nobody } from '../../auth/principal.ts'
import { customerKey, encryptionOutOfWrite, encryptionRequest } from '../../contract/encryption-fields.ts'
import { outVendor, vendor } from '../../contract/fields.ts'
import {
  abortOut,
  checksumAlgorithm,
  copyOf,
  descriptive,
  keeping,
  lockRequest,
  objectAcl,
  ownership,
  requestCharged,
  tagging,
} from '../../contract/groups.ts'
import { string, struct } from '../../contract/shapes.ts'
import { S3Error } from '../../errors.ts'
import { createUpload } from '../../objects/uploads.ts'
import { checksumTypeOf } from '../../rules/multipart-checksum.ts'
import { accessOfWrite } from '../access-lists/access-list.ts'
import { defineOperation } from '../context.ts'
import { checksumType } from '../objects/data-digests.ts'
import { encryptionOutputs, encryptionRequestOf } from '../objects/encryption.ts'
import { abortOutputs } from '../objects/expiration.ts'
import { objectAttributes } from '../objects/object-attributes.ts'

const notByNobody = 'Anonymous users cannot initiate multipart uploads. Please authenticate.'

export const createMultipartUploadOperation = defineOperation({
  name: 'CreateMultipartUpload',
  method: 'POST',
  target: 'object',
  query: ['uploads'],
  permission: 's3:PutObject',
  summary: 'Begins a multipart upload.',
  input: {
    checksumAlgorithm: vendor('checksum-algorithm', checksumAlgorithm),
    checksumType: vendor('checksum-type', checksumType),
    ...descriptive,
    tagging,
    ...lockRequest,
    ...objectAcl,
    ...keeping,
    ...encryptionRequest,
    ...customerKey,
    ...copyOf,
    ...ownership,
  },
  output: {
    checksumAlgorithm: outVendor('checksum-algorithm'),
    checksumType: outVendor('checksum-type'),
    ...encryptionOutOfWrite,
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
    'QuotaExceeded',
    'InvalidRequest',
    'InvalidTag',
    'MetadataTooLarge',
    'InvalidStorageClass',
    'InvalidRedirectLocation',
    'AccessControlListNotSupported',
    'InvalidArgument',
    'NotImplemented',
  ],

  conditions: () => ({ 's3:ObjectCreationOperation': 'false' }),

  async handle(context, input) {
    const { backend, scope, bucket, key, principal, customerKeysMayTravel } = context
    // As in S3, also where everybody may write: strangers could begin uploads without end, and no list of objects would show them.
    if (principal === nobody) throw new S3Error('AccessDenied', { message: notByNobody })
    const { checksumAlgorithm: algorithm } = input
    if (algorithm === undefined && input.checksumType !== undefined) {
      throw new S3Error('InvalidRequest', {
        vendorMessage: (header) =>
          `The ${header('checksum-type')} header can only be used with the ${header('checksum-algorithm')} header.`,
      })
    }
    const checksum = algorithm && { algorithm, type: checksumTypeOf(algorithm, input.checksumType) }
    const created = await createUpload(backend, scope, {
      key,
      initiator: principal.accountId,
      attributes: objectAttributes(input),
      accessIn: accessOfWrite(context, input),
      checksum,
      encryption: encryptionRequestOf(input, { customerKeysMayTravel }),
    })
    const { uploadId, upload } = created
    return {
      ...abortOutputs(created.bucket, upload),
      checksumAlgorithm: checksum?.algorithm,
      checksumType: checksum?.type,
      ...encryptionOutputs(upload.encryption, input),
      body: { Bucket: bucket, Key: key, UploadId: uploadId },
    }
  },
})
