import { query } from '../../contract/fields.ts'
import { ownership, requestCharged } from '../../contract/groups.ts'
import { boolean, integer as integerElement, list, optional, string, struct, timestamp } from '../../contract/shapes.ts'
import { encodingMethod, pageNumber, text, unlessEmpty } from '../../contract/values.ts'
import { limits } from '../../limits.ts'
import { checkUploadMarker, listUploads } from '../../objects/uploads.ts'
import { defineOperation } from '../context.ts'
import { commonPrefixesShape, ownersIn, textEncoder } from '../listings/object-listing.ts'
import { shownStorageClass } from '../objects/object-attributes.ts'
import { initiatorOf } from './initiator.ts'

const personShape = struct({ ID: string, DisplayName: string })

export const listMultipartUploadsOperation = defineOperation({
  name: 'ListMultipartUploads',
  method: 'GET',
  target: 'bucket',
  query: ['uploads'],
  permission: 's3:ListBucketMultipartUploads',
  summary: 'Lists open uploads in order of key, and those of one key in order of initiation.',
  input: {
    prefix: query('prefix', text),
    delimiter: query('delimiter', text),
    maxUploads: query('max-uploads', unlessEmpty(pageNumber)),
    keyMarker: query('key-marker', text),
    uploadIdMarker: query('upload-id-marker', text),
    encodingType: query('encoding-type', encodingMethod),
    ...ownership,
  },
  output: requestCharged,
  outputBody: {
    kind: 'xml',
    root: 'ListMultipartUploadsResult',
    shape: struct({
      Bucket: string,
      KeyMarker: string,
      UploadIdMarker: string,
      NextKeyMarker: optional(string),
      NextUploadIdMarker: optional(string),
      Prefix: string,
      Delimiter: optional(string),
      EncodingType: optional(string),
      MaxUploads: integerElement,
      IsTruncated: boolean,
      Upload: list(
        struct({
          Key: string,
          UploadId: string,
          Initiator: personShape,
          Owner: personShape,
          StorageClass: string,
          Initiated: timestamp,
          ChecksumAlgorithm: optional(string),
          ChecksumType: optional(string),
        }),
      ),
      CommonPrefixes: commonPrefixesShape,
    }),
  },
  errors: ['NoSuchBucket', 'InvalidArgument'],

  async handle(context, input) {
    const { backend, scope, bucket } = context
    const { prefix = '', delimiter = '', keyMarker = '', uploadIdMarker = '' } = input
    // S3 ignores the id without a key.
    const isBehindUpload = keyMarker !== '' && uploadIdMarker !== ''
    if (isBehindUpload) await checkUploadMarker(backend, { key: keyMarker, uploadId: uploadIdMarker })
    const max = Math.min(input.maxUploads ?? limits.listUploadsMax, limits.listUploadsMax)
    const { bucket: record, page } = await listUploads(backend, scope, {
      prefix,
      delimiter,
      max,
      keyMarker: keyMarker === '' ? undefined : keyMarker,
      uploadIdMarker: isBehindUpload ? uploadIdMarker : undefined,
    })
    const encode = textEncoder(input.encodingType)
    const ownerIn = ownersIn(context, record)
    const { next } = page
    const last = page.entries.at(-1)
    return {
      body: {
        Bucket: bucket,
        KeyMarker: encode(keyMarker),
        UploadIdMarker: isBehindUpload ? uploadIdMarker : '',
        NextKeyMarker: next && encode('afterKey' in next ? next.afterKey : next.afterGroup),
        NextUploadIdMarker: next && 'afterKey' in next ? last?.uploadId : undefined,
        Prefix: encode(prefix),
        Delimiter: delimiter === '' ? undefined : encode(delimiter),
        EncodingType: input.encodingType,
        MaxUploads: max,
        IsTruncated: next !== undefined,
        Upload: page.entries.flatMap(({ key, uploadId, upload }) =>
          upload === undefined
            ? []
            : [
                {
                  Key: encode(key),
                  UploadId: uploadId,
                  Initiator: initiatorOf(context, upload, ownerIn(upload.attributes)),
                  Owner: ownerIn(upload.attributes),
                  StorageClass: shownStorageClass(upload.attributes),
                  Initiated: upload.initiatedMs,
                  ChecksumAlgorithm: upload.checksum?.algorithm,
                  ChecksumType: upload.checksum?.type,
                },
              ],
        ),
        CommonPrefixes: page.groups.map((group) => ({ Prefix: encode(group) })),
      },
    }
  },
})
