import { customerKey, encryptionOut, encryptionRequest, sourceCustomerKey } from '../../contract/encryption-fields.ts'
import { outVendor, required, vendor } from '../../contract/fields.ts'
import { ownership, requestCharged } from '../../contract/groups.ts'
import { string, struct, timestamp } from '../../contract/shapes.ts'
import { text } from '../../contract/values.ts'
import { limits } from '../../limits.ts'
import { writePart } from '../../objects/upload-parts.ts'
import { checkCopySource } from '../../rules/preconditions.ts'
import { defineOperation } from '../context.ts'
import {
  copiedVersionId,
  copyConditions,
  copyRange,
  copySourceInputs,
  openCopySource,
  parseCopySource,
  readPermission,
} from '../objects/copy-source.ts'
import { checksumElementShapes, checksumElements } from '../objects/data-digests.ts'
import { encryptionOutputs, encryptionRequestOf, sourceCustomerKeyOf } from '../objects/encryption.ts'
import { checkObjectSize } from '../objects/put-object.ts'
import { partNumber, uploadId } from './upload-address.ts'

export const uploadPartCopyOperation = defineOperation({
  name: 'UploadPartCopy',
  method: 'PUT',
  target: 'object',
  query: ['partNumber', 'uploadId'],
  vendorHeaders: ['copy-source'],
  permission: 's3:PutObject',
  summary: 'Uploads a part by copying an existing object, or a range of it.',
  slow: true,
  input: {
    partNumber,
    uploadId,
    copySource: required(vendor('copy-source', text)),
    copySourceRange: vendor('copy-source-range', text),
    ...copySourceInputs,
    ...sourceCustomerKey,
    ...encryptionRequest,
    ...customerKey,
    ...ownership,
  },
  output: { sourceVersionId: outVendor('copy-source-version-id'), ...requestCharged, ...encryptionOut },
  outputBody: {
    kind: 'xml',
    root: 'CopyPartResult',
    shape: struct({ LastModified: timestamp, ETag: string, ...checksumElementShapes }),
  },
  errors: [
    'NoSuchBucket',
    'NoSuchKey',
    'NoSuchUpload',
    'PreconditionFailed',
    'InvalidArgument',
    'NoSuchVersion',
    'QuotaExceeded',
  ],

  conditions: () => ({ 's3:ObjectCreationOperation': 'false' }),

  async handle(context, input) {
    const { backend, scope, scopeOf, key, customerKeysMayTravel } = context
    const from = {
      ...parseCopySource(input.copySource),
      customerKey: sourceCustomerKeyOf(input, { customerKeysMayTravel }),
    }
    const sourceScope = scopeOf(from, readPermission(from), input.sourceExpectedBucketOwner)
    const { body, ...source } = await openCopySource(context, sourceScope, from, (record) => {
      checkCopySource(copyConditions(input), record, backend.clock)
      const range = copyRange(input.copySourceRange, record.size)
      checkObjectSize(range.end - range.start, limits.partBytesMax)
      return { range }
    })
    try {
      const { part, encryption } = await writePart(backend, scope, {
        key,
        uploadId: input.uploadId,
        number: input.partNumber,
        encryption: encryptionRequestOf(input, { customerKeysMayTravel }),
        data: ({ checksum }) => ({
          body,
          checksum: checksum && { algorithm: checksum.algorithm, expected: () => undefined },
        }),
      })
      const { ChecksumType: _, ...checksum } = checksumElements(part.checksum)
      return {
        sourceVersionId: copiedVersionId(from, source.record),
        ...encryptionOutputs(encryption, input),
        body: { LastModified: part.modifiedMs, ETag: `"${part.etag}"`, ...checksum },
      }
    } finally {
      body.cancel()
    }
  },
})
