import { query } from '../../contract/fields.ts'
import { ownership, requestCharged, versionName } from '../../contract/groups.ts'
import {
  boolean,
  entityTag,
  integer as integerElement,
  mixed,
  optional,
  string,
  struct,
  timestamp,
} from '../../contract/shapes.ts'
import { encodingMethod, text, unlessEmpty, versionsOfPage } from '../../contract/values.ts'
import { invalidArgument } from '../../errors.ts'
import { type ListedVersion, listVersions } from '../../objects/list-versions.ts'
import { defineOperation } from '../context.ts'
import { shownStorageClass } from '../objects/object-attributes.ts'
import { optionalObjectAttributes, restoreStatusIn, restoreStatusShape } from '../objects/restore-status.ts'
import { commonPrefixesShape, ownersIn, pageSize, textEncoder } from './object-listing.ts'

const ownerShape = struct({ ID: string, DisplayName: string })
const nameShapes = { Key: string, VersionId: string, IsLatest: boolean, LastModified: timestamp } as const

export const listObjectVersionsOperation = defineOperation({
  name: 'ListObjectVersions',
  method: 'GET',
  target: 'bucket',
  query: ['versions'],
  permission: 's3:ListBucketVersions',
  summary: 'Lists all versions and delete markers in the order of keys, and those of one key from newest to oldest.',
  input: {
    prefix: query('prefix', text),
    delimiter: query('delimiter', text),
    maxKeys: query('max-keys', unlessEmpty(versionsOfPage)),
    keyMarker: query('key-marker', text),
    versionIdMarker: query('version-id-marker', text),
    encodingType: query('encoding-type', encodingMethod),
    optionalObjectAttributes,
    ...ownership,
  },
  output: requestCharged,
  outputBody: {
    kind: 'xml',
    root: 'ListVersionsResult',
    shape: struct({
      Name: string,
      Prefix: string,
      KeyMarker: string,
      VersionIdMarker: string,
      NextKeyMarker: optional(string),
      NextVersionIdMarker: optional(string),
      MaxKeys: integerElement,
      Delimiter: optional(string),
      IsTruncated: boolean,
      EncodingType: optional(string),
      Entries: mixed({
        Version: struct({
          ...nameShapes,
          ETag: entityTag,
          ChecksumAlgorithm: optional(string),
          ChecksumType: optional(string),
          Size: integerElement,
          StorageClass: string,
          Owner: ownerShape,
          RestoreStatus: restoreStatusShape,
        }),
        DeleteMarker: struct({ ...nameShapes, Owner: ownerShape }),
      }),
      CommonPrefixes: commonPrefixesShape,
    }),
  },
  errors: ['NoSuchBucket', 'InvalidArgument'],

  async handle(context, input) {
    const { backend, scope, bucket } = context
    const { prefix = '', delimiter = '', keyMarker = '', versionIdMarker = '' } = input
    checkMarkers(input)
    const max = pageSize(input.maxKeys)
    const { bucket: record, page } = await listVersions(backend, scope, {
      prefix,
      delimiter,
      max,
      keyMarker: keyMarker === '' ? undefined : keyMarker,
      versionIdMarker: versionIdMarker === '' ? undefined : versionName(versionIdMarker, 'version-id-marker'),
    })
    const encode = textEncoder(input.encodingType)
    const ownerIn = ownersIn(context, record)
    const restoreStatus = restoreStatusIn(input.optionalObjectAttributes)
    return {
      body: {
        Name: bucket,
        Prefix: encode(prefix),
        KeyMarker: encode(keyMarker),
        VersionIdMarker: versionIdMarker,
        NextKeyMarker: page.next && encode(page.next.keyMarker),
        NextVersionIdMarker: page.next?.versionIdMarker,
        MaxKeys: max,
        Delimiter: delimiter === '' ? undefined : encode(delimiter),
        IsTruncated: page.next !== undefined,
        EncodingType: input.encodingType,
        Entries: page.entries.map((entry) => entryElement(entry, { encode, ownerIn, restoreStatus })),
        CommonPrefixes: page.groups.map((group) => ({ Prefix: encode(group) })),
      },
    }
  },
})

/** An empty key marker is one, though no page begins within the versions of its key: S3 checks the version id marker beside it, and lists from the beginning. */
function checkMarkers({
  keyMarker,
  versionIdMarker,
}: {
  keyMarker?: string | undefined
  versionIdMarker?: string | undefined
}): void {
  if (versionIdMarker === undefined) return
  const refuse = (message: string) => invalidArgument('version-id-marker', versionIdMarker, message)
  if (keyMarker === undefined) throw refuse('A version-id marker cannot be specified without a key marker.')
  if (versionIdMarker === '') throw refuse('A version-id marker cannot be empty.')
}

type OwnerIn = ReturnType<typeof ownersIn>

/**
 * A delete marker belongs to the owner of the bucket. Fields are listed one by one because a page has a thousand entries, and spreading objects would cost
 * more than the rest of the page.
 */
interface Showing {
  encode: (raw: string) => string
  ownerIn: OwnerIn
  restoreStatus: ReturnType<typeof restoreStatusIn>
}

function entryElement({ key, latest, version }: ListedVersion, { encode, ownerIn, restoreStatus }: Showing) {
  if (version.kind === 'marker') {
    const value = {
      Key: encode(key),
      VersionId: version.versionId,
      IsLatest: latest,
      LastModified: version.modifiedMs,
      Owner: ownerIn({}),
    }
    return { element: 'DeleteMarker' as const, value }
  }
  const value = {
    Key: encode(key),
    VersionId: version.versionId,
    IsLatest: latest,
    LastModified: version.modifiedMs,
    ETag: version.etag,
    ChecksumAlgorithm: version.checksum?.algorithm,
    ChecksumType: version.checksum?.type,
    Size: version.size,
    StorageClass: shownStorageClass(version),
    Owner: ownerIn(version),
    RestoreStatus: restoreStatus(version),
  }
  return { element: 'Version' as const, value }
}
