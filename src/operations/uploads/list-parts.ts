import { customerKey } from '../../contract/encryption-fields.ts'
import { query } from '../../contract/fields.ts'
import { abortOut, ownership, requestCharged } from '../../contract/groups.ts'
import {
  boolean,
  entityTag,
  integer as integerElement,
  list,
  optional,
  string,
  struct,
  timestamp,
} from '../../contract/shapes.ts'
import { pageNumber, unlessEmpty } from '../../contract/values.ts'
import { limits } from '../../limits.ts'
import { listParts } from '../../objects/upload-parts.ts'
import { ownerOfObject } from '../../rules/access-list.ts'
import { defineOperation } from '../context.ts'
import { checksumElementShapes, checksumElements } from '../objects/data-digests.ts'
import { customerKeyOf } from '../objects/encryption.ts'
import { abortOutputs } from '../objects/expiration.ts'
import { shownStorageClass } from '../objects/object-attributes.ts'
import { initiatorOf } from './initiator.ts'
import { uploadId } from './upload-address.ts'

const personShape = struct({ ID: string, DisplayName: string })

export const listPartsOperation = defineOperation({
  name: 'ListParts',
  method: 'GET',
  target: 'object',
  query: ['uploadId'],
  permission: 's3:ListMultipartUploadParts',
  summary: 'Lists the parts of an open upload.',
  input: {
    uploadId,
    maxParts: query('max-parts', unlessEmpty(pageNumber)),
    partNumberMarker: query('part-number-marker', unlessEmpty(pageNumber)),
    ...customerKey,
    ...ownership,
  },
  output: { ...abortOut, ...requestCharged },
  outputBody: {
    kind: 'xml',
    root: 'ListPartsResult',
    shape: struct({
      Bucket: string,
      Key: string,
      UploadId: string,
      Initiator: personShape,
      Owner: personShape,
      StorageClass: string,
      ChecksumAlgorithm: optional(string),
      ChecksumType: optional(string),
      PartNumberMarker: integerElement,
      NextPartNumberMarker: integerElement,
      MaxParts: integerElement,
      IsTruncated: boolean,
      Part: list(
        struct({
          PartNumber: integerElement,
          LastModified: timestamp,
          ETag: entityTag,
          Size: integerElement,
          ...checksumElementShapes,
        }),
      ),
    }),
  },
  errors: ['NoSuchBucket', 'NoSuchUpload', 'InvalidArgument', 'InvalidRequest'],

  async handle({ backend, scope, bucket, key, ownerOf, customerKeysMayTravel }, input) {
    const customerKey = customerKeyOf(input, { customerKeysMayTravel })
    const encryption = customerKey && ({ by: 'customer', customerKey } as const)
    const max = Math.min(input.maxParts ?? limits.listPartsMax, limits.listPartsMax)
    const marker = Math.min(input.partNumberMarker ?? 0, limits.partNumberMax)
    const page = await listParts(backend, scope, {
      key,
      uploadId: input.uploadId,
      afterNumber: marker,
      max,
      encryption,
    })
    const { attributes, checksum } = page.upload.record
    const owner = ownerOf({ owner: ownerOfObject(page.upload.bucket.record, attributes) })
    return {
      ...abortOutputs(page.upload.bucket.record, page.upload.record),
      body: {
        Bucket: bucket,
        Key: key,
        UploadId: input.uploadId,
        Initiator: initiatorOf({ ownerOf }, page.upload.record, owner),
        Owner: owner,
        StorageClass: shownStorageClass(attributes),
        ChecksumAlgorithm: checksum?.algorithm,
        ChecksumType: checksum?.type,
        PartNumberMarker: marker,
        NextPartNumberMarker: page.parts.at(-1)?.number ?? marker,
        MaxParts: max,
        IsTruncated: page.truncated && max > 0,
        Part: page.parts.map((part) => {
          const { ChecksumType: _, ...elements } = checksumElements(part.checksum)
          return {
            PartNumber: part.number,
            LastModified: part.modifiedMs,
            ETag: part.etag,
            Size: part.size,
            ...elements,
          }
        }),
      },
    }
  },
})
