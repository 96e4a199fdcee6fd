import { customerKey, encryptionOut, encryptionRequest } from '../../contract/encryption-fields.ts'
import { outHeader } from '../../contract/fields.ts'
import { checksumsIn, chosenChecksum, ownership, partChecksumsOut, requestCharged } from '../../contract/groups.ts'
import { S3Error } from '../../errors.ts'
import { limits } from '../../limits.ts'
import type { IncomingData } from '../../objects/incoming-data.ts'
import { writePart } from '../../objects/upload-parts.ts'
import type { OpenUpload } from '../../records/records.ts'
import { defineOperation } from '../context.ts'
import { checksumOutputs, incomingData, requireDigest, withChosenChecksum } from '../objects/data-digests.ts'
import { encryptionOutputs, encryptionRequestOf } from '../objects/encryption.ts'
import { checkObjectSize } from '../objects/put-object.ts'
import { partNumber, uploadId } from './upload-address.ts'

export const uploadPartOperation = defineOperation({
  name: 'UploadPart',
  method: 'PUT',
  target: 'object',
  query: ['partNumber', 'uploadId'],
  permission: 's3:PutObject',
  summary: 'Uploads one part. A part with the same number replaces the earlier one.',
  input: {
    partNumber,
    uploadId,
    ...checksumsIn,
    ...chosenChecksum,
    ...encryptionRequest,
    ...customerKey,
    ...ownership,
  },
  inputBody: { kind: 'stream' },
  output: { etag: outHeader('ETag'), ...requestCharged, ...partChecksumsOut, ...encryptionOut },
  errors: [
    'NoSuchBucket',
    'NoSuchUpload',
    'BadDigest',
    'InvalidDigest',
    'EntityTooLarge',
    'QuotaExceeded',
    'InvalidArgument',
    'InvalidRequest',
  ],

  conditions: () => ({ 's3:ObjectCreationOperation': 'false' }),

  async handle({ backend, scope, key, presigned, customerKeysMayTravel }, input) {
    checkObjectSize(input.body.size, limits.partBytesMax)
    const { part, encryption } = await writePart(backend, scope, {
      key,
      uploadId: input.uploadId,
      number: input.partNumber,
      encryption: encryptionRequestOf(input, { customerKeysMayTravel }),
      data: (upload) => {
        const data = incomingData(input.body, input, presigned)
        requireDigest('Put Part', upload.attributes, data)
        return matching(upload, withChosenChecksum(data, input.chosenAlgorithm))
      },
    })
    const { checksumType: _, ...checksum } = checksumOutputs(part.checksum)
    return { etag: `"${part.etag}"`, ...checksum, ...encryptionOutputs(encryption, input) }
  },
})

/**
 * A part's checksum must use the upload's algorithm, because the object's checksum is computed from those of its parts. A composite upload needs one with each
 * part. For a full-object checksum, the server computes it when the client sends none. Throws InvalidRequest.
 */
function matching(upload: OpenUpload, data: IncomingData): IncomingData {
  if (upload.checksum === undefined) return data
  const { algorithm: expected, type } = upload.checksum
  const actual = data.checksum?.algorithm
  if (expected === actual) return data
  if (actual === undefined && type === 'FULL_OBJECT') {
    return { ...data, checksum: { algorithm: expected, expected: () => undefined } }
  }
  throw new S3Error('InvalidRequest', {
    message: `Checksum Type mismatch occurred, expected checksum Type: ${expected.toLowerCase()}, actual checksum Type: ${actual?.toLowerCase() ?? 'null'}`,
  })
}
