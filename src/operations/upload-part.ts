import { outHeader } from '../contract/fields.ts'
import { checksumsIn, checksumsOut, customerKey, ownership, requestCharged } from '../contract/groups.ts'
import { S3Error } from '../errors.ts'
import { limits } from '../limits.ts'
import type { IncomingData } from '../store/incoming-data.ts'
import type { OpenUpload } from '../store/records.ts'
import { writePart } from '../store/upload-parts.ts'
import { defineOperation } from './context.ts'
import { checksumOutputs, incomingData } from './data-digests.ts'
import { checkObjectSize, requireDigest } from './put-object.ts'
import { partNumber, uploadId } from './upload-address.ts'

export const uploadPartOperation = defineOperation({
  name: 'UploadPart',
  method: 'PUT',
  target: 'object',
  query: ['partNumber', 'uploadId'],
  permission: 's3:PutObject',
  summary: 'Uploads one part. A part sent again replaces the one before.',
  input: { partNumber, uploadId, ...checksumsIn, ...customerKey, ...ownership },
  inputBody: { kind: 'stream' },
  output: { etag: outHeader('ETag'), ...requestCharged, ...checksumsOut },
  errors: [
    'NoSuchBucket',
    'NoSuchUpload',
    'BadDigest',
    'InvalidDigest',
    'EntityTooLarge',
    'InvalidArgument',
    'InvalidRequest',
  ],

  async handle({ store, scope, key, presigned }, input) {
    checkObjectSize(input.body.size, limits.partBytesMax)
    const part = await writePart(store, scope, {
      key,
      uploadId: input.uploadId,
      number: input.partNumber,
      data: (upload) => {
        requireDigest(upload, incomingData(input.body, input, presigned), 'Put Part')
        return matching(upload, incomingData(input.body, input, presigned, upload.checksum?.algorithm))
      },
    })
    const { checksumType: _, ...checksum } = checksumOutputs(part.checksum)
    return { etag: `"${part.etag}"`, ...checksum }
  },
})

/** A part's checksum must be of the upload's algorithm, or the object's could not be made of it. Throws InvalidRequest. */
function matching(upload: OpenUpload, data: IncomingData): IncomingData {
  const expected = upload.checksum?.algorithm
  const actual = data.checksum?.algorithm
  if (expected === undefined || expected === actual) return data
  throw new S3Error('InvalidRequest', {
    message: `Checksum Type mismatch occurred, expected checksum Type: ${expected.toLowerCase()}, actual checksum Type: ${actual?.toLowerCase()}`,
  })
}
