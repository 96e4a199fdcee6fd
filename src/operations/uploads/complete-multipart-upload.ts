import { customerKey, encryptionOutOfCompletion, encryptionRequest } from '../../contract/encryption-fields.ts'
import { vendor } from '../../contract/fields.ts'
import {
  checksumsIn,
  expirationOut,
  ownership,
  requestCharged,
  versionIdOut,
  writeConditions,
} from '../../contract/groups.ts'
import { integer as integerElement, list, optional, string, struct } from '../../contract/shapes.ts'
import { integer } from '../../contract/values.ts'
import { invalidArgument, S3Error } from '../../errors.ts'
import { limits } from '../../limits.ts'
import { completeUpload, type ListedPart } from '../../objects/complete-upload.ts'
import { findUpload } from '../../objects/uploads.ts'
import { writtenVersionId } from '../../rules/versions.ts'
import { defineOperation } from '../context.ts'
import {
  type ChecksumElements,
  checksumElementShapes,
  checksumElements,
  checksumType,
  listedChecksum,
  objectChecksumHeader,
} from '../objects/data-digests.ts'
import { encryptionOutputs, encryptionRequestOf } from '../objects/encryption.ts'
import { expirationOutput } from '../objects/expiration.ts'
import { uploadId } from './upload-address.ts'

const { contentMd5: _, ...objectChecksums } = checksumsIn

export const completeMultipartUploadOperation = defineOperation({
  name: 'CompleteMultipartUpload',
  method: 'POST',
  target: 'object',
  query: ['uploadId'],
  permission: 's3:PutObject',
  summary: 'Makes an object of the listed parts. A request repeated with the same parts gets the same answer.',
  slow: true,
  input: {
    uploadId,
    ...objectChecksums,
    checksumType: vendor('checksum-type', checksumType),
    objectSize: vendor('mp-object-size', integer({ min: 0 })),
    ...writeConditions,
    ...encryptionRequest,
    ...customerKey,
    ...ownership,
  },
  inputBody: {
    kind: 'xml',
    root: 'CompleteMultipartUpload',
    shape: struct({
      Part: list(struct({ PartNumber: integerElement, ETag: string, ...checksumElementShapes })),
    }),
    required: false,
    digestRequired: false,
    bytesMax: limits.completeBodyBytesMax,
    checksumsOf: 'object',
  },
  output: { versionId: versionIdOut, expiration: expirationOut, ...requestCharged, ...encryptionOutOfCompletion },
  outputBody: {
    kind: 'xml',
    root: 'CompleteMultipartUploadResult',
    shape: struct({
      Location: string,
      Bucket: string,
      Key: string,
      ETag: string,
      ...checksumElementShapes,
      ChecksumType: optional(string),
    }),
  },
  errors: [
    'NoSuchBucket',
    'NoSuchKey',
    'NoSuchUpload',
    'InvalidPart',
    'InvalidPartOrder',
    'EntityTooSmall',
    'EntityTooLarge',
    'MalformedXML',
    'PreconditionFailed',
    'ConditionalRequestConflict',
    'BadDigest',
    'InvalidArgument',
    'InvalidRequest',
  ],

  conditions: () => ({ 's3:ObjectCreationOperation': 'true' }),

  async handle({ backend, scope, bucket, key, resourceUrl, customerKeysMayTravel }, input) {
    if (input.body === undefined) {
      await findUpload(backend, scope, { key, uploadId: input.uploadId })
      throw new S3Error('InvalidRequest', { message: 'You must specify at least one part' })
    }
    let expiration: string | undefined
    const result = await completeUpload(backend, scope, {
      key,
      uploadId: input.uploadId,
      parts: listedParts(input.body.Part, input.uploadId),
      conditions: input,
      encryption: encryptionRequestOf(input, { customerKeysMayTravel }),
      expected: { checksum: objectChecksumHeader(input), type: input.checksumType, size: input.objectSize },
      placed: (version) => {
        expiration = expirationOutput(key, version)
      },
    })
    return {
      // The result of an upload that 0.1.0 completed in a suspended bucket can still say `null`.
      versionId: writtenVersionId(result.versionId),
      expiration,
      ...encryptionOutputs(result.encryption, input),
      body: {
        Location: resourceUrl,
        Bucket: bucket,
        Key: key,
        ETag: `"${result.etag}"`,
        ...checksumElements(result.checksum),
      },
    }
  },
})

function listedParts(
  parts: readonly (ChecksumElements & { PartNumber: number; ETag: string })[],
  uploadId: string,
): ListedPart[] {
  if (parts.length === 0 || parts.length > limits.partNumberMax) throw new S3Error('MalformedXML')
  return parts.map((part) => {
    const { PartNumber: number, ETag: etag } = part
    if (number < 1) throw invalidArgument('partNumber', String(number), 'PartNumber must be >= 1')
    if (number > limits.partNumberMax) {
      throw new S3Error('InvalidPart', { details: { UploadId: uploadId, PartNumber: String(number) } })
    }
    return { number, etag, checksum: listedChecksum(part) }
  })
}
