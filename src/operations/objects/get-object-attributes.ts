import type { Backend } from '../../commits/backend.ts'
import { customerKey, encryptionOfRead } from '../../contract/encryption-fields.ts'
import { outHeader, required, vendor } from '../../contract/fields.ts'
import { deleteMarkerOut, ownership, requestCharged, versionId, versionIdOut } from '../../contract/groups.ts'
import { boolean, integer as integerElement, list, optional, string, struct } from '../../contract/shapes.ts'
import { type Parser, pageNumber } from '../../contract/values.ts'
import { invalidArgument, S3Error } from '../../errors.ts'
import { limits } from '../../limits.ts'
import { partsCount } from '../../objects/object-parts.ts'
import { findReadable } from '../../objects/read-object.ts'
import { type PartQuery, readPartPage } from '../../objects/upload-parts.ts'
import type { Checksum, ObjectRecord } from '../../records/records.ts'
import { shownVersionId } from '../../rules/versions.ts'
import { defineOperation } from '../context.ts'
import { checksumElementShapes, checksumElements } from './data-digests.ts'
import { customerKeyOf } from './encryption.ts'
import { shownStorageClass } from './object-attributes.ts'

const attributeNames = ['ETag', 'Checksum', 'ObjectParts', 'StorageClass', 'ObjectSize'] as const
type AttributeName = (typeof attributeNames)[number]

/** At least one of the names, separated by commas. */
const attributeList: Parser<ReadonlySet<AttributeName>> = (raw, name) => {
  // S3 takes commas at the end for nothing, but not a name that is missing before another.
  const named = raw.replace(/,+$/, '')
  if (named === '' && raw !== '') throw nothingAsked()
  const asked = named.split(',').map((attribute) => attribute.trim())
  return new Set(
    asked.map((attribute) => {
      const known = attributeNames.find((each) => each === attribute)
      if (known === undefined) throw invalidArgument(name, attribute, 'Invalid attribute name specified.')
      return known
    }),
  )
}

const nothingAsked = (): S3Error =>
  new S3Error('InvalidRequest', {
    vendorMessage: (header) =>
      `The ${header('object-attributes')} header specifying the attributes to be retrieved is either missing or empty`,
  })

export const getObjectAttributesOperation = defineOperation({
  name: 'GetObjectAttributes',
  method: 'GET',
  target: 'object',
  query: ['attributes'],
  permission: ['s3:GetObjectAttributes', 's3:GetObject'],
  versionPermission: ['s3:GetObjectVersionAttributes', 's3:GetObjectVersion'],
  summary:
    'Returns the attributes of an object that the request names: entity tag, checksum, parts, storage class, size.',
  input: {
    objectAttributes: required(vendor('object-attributes', attributeList), nothingAsked),
    maxParts: vendor('max-parts', pageNumber),
    partNumberMarker: vendor('part-number-marker', pageNumber),
    versionId,
    ...customerKey,
    ...encryptionOfRead,
    ...ownership,
  },
  output: {
    lastModified: outHeader('Last-Modified'),
    versionId: versionIdOut,
    // Sent with the errors about a delete marker.
    deleteMarker: deleteMarkerOut,
    ...requestCharged,
  },
  outputBody: {
    kind: 'xml',
    root: 'GetObjectAttributesResponse',
    shape: struct({
      ETag: optional(string),
      Checksum: optional(struct({ ...checksumElementShapes, ChecksumType: optional(string) })),
      ObjectParts: optional(
        struct({
          PartsCount: integerElement,
          PartNumberMarker: optional(integerElement),
          NextPartNumberMarker: optional(integerElement),
          MaxParts: optional(integerElement),
          IsTruncated: optional(boolean),
          Part: list(struct({ PartNumber: integerElement, Size: integerElement, ...checksumElementShapes })),
        }),
      ),
      StorageClass: optional(string),
      ObjectSize: optional(integerElement),
    }),
  },
  errors: ['NoSuchBucket', 'NoSuchKey', 'NoSuchVersion', 'MethodNotAllowed', 'InvalidArgument', 'InvalidRequest'],

  async handle({ backend, scope, key, customerKeysMayTravel }, input) {
    const { objectAttributes: asked, versionId } = input
    const customerKey = customerKeyOf(input, { customerKeysMayTravel })
    const { bucket, record } = await findReadable(backend, scope, { key, versionId, customerKey })
    const query = {
      afterNumber: Math.min(input.partNumberMarker ?? 0, limits.partNumberMax),
      max: Math.min(input.maxParts ?? limits.listPartsMax, limits.listPartsMax),
    }
    return {
      lastModified: new Date(record.modifiedMs).toUTCString(),
      versionId: shownVersionId({ bucket: bucket.record, record }),
      body: {
        ETag: asked.has('ETag') ? record.etag : undefined,
        Checksum: asked.has('Checksum') ? checksumElement(record.checksum) : undefined,
        ObjectParts: asked.has('ObjectParts') ? await partsElement(backend, record, query) : undefined,
        StorageClass: asked.has('StorageClass') ? shownStorageClass(record.attributes) : undefined,
        ObjectSize: asked.has('ObjectSize') ? record.size : undefined,
      },
    }
  },
})

/** S3 appends the number of parts to a composite checksum everywhere except here. */
function checksumElement(checksum: Checksum | undefined) {
  if (checksum === undefined) return undefined
  return checksumElements({ ...checksum, value: checksum.value.replace(/-\d+$/, '') })
}

/** The number of parts. For a composite checksum also a page of the parts, as in S3. */
async function partsElement(backend: Backend, { data, checksum }: ObjectRecord, query: PartQuery) {
  if (data.kind === 'blob') return undefined
  const PartsCount = partsCount(data.runs)
  if (checksum?.type !== 'COMPOSITE') return { PartsCount, Part: [] }
  const { parts, truncated } = await readPartPage(backend, data.uploadId, query)
  return {
    PartsCount,
    PartNumberMarker: query.afterNumber,
    NextPartNumberMarker: parts.at(-1)?.number ?? query.afterNumber,
    MaxParts: query.max,
    IsTruncated: truncated,
    Part: parts.map((part) => {
      const { ChecksumType: _, ...elements } = checksumElements(part.checksum)
      return { PartNumber: part.number, Size: part.size, ...elements }
    }),
  }
}
