/** What ListObjects and ListObjectsV2 share: fields, entries, and the encoding that a client can ask for. */

import { query } from '../../contract/fields.ts'
import { ownership } from '../../contract/groups.ts'
import {
  entityTag,
  integer as integerElement,
  list,
  optional,
  string,
  struct,
  timestamp,
} from '../../contract/shapes.ts'
import { encodingMethod, keysOfPage, text, unlessEmpty } from '../../contract/values.ts'
import { limits } from '../../limits.ts'
import type { ListedKey } from '../../objects/list-objects.ts'
import type { BucketRecord } from '../../records/bucket-record.ts'
import type { ListedObject } from '../../records/records.ts'
import type { OperationContext, OwnerElement } from '../context.ts'
import { shownStorageClass } from '../objects/object-attributes.ts'
import { optionalObjectAttributes, type restoreStatusIn, restoreStatusShape } from '../objects/restore-status.ts'

export const listingInputs = {
  prefix: query('prefix', text),
  delimiter: query('delimiter', text),
  maxKeys: query('max-keys', unlessEmpty(keysOfPage)),
  encodingType: query('encoding-type', encodingMethod),
  optionalObjectAttributes,
  ...ownership,
} as const

const ownerShape = struct({ ID: string, DisplayName: string })

export const contentsShape = list(
  struct({
    Key: string,
    LastModified: timestamp,
    ETag: entityTag,
    ChecksumAlgorithm: optional(string),
    ChecksumType: optional(string),
    Size: integerElement,
    Owner: optional(ownerShape),
    StorageClass: string,
    RestoreStatus: restoreStatusShape,
  }),
)

export const commonPrefixesShape = list(struct({ Prefix: string }))

export const pageSize = (maxKeys: number | undefined): number =>
  Math.min(maxKeys ?? limits.listKeysMax, limits.listKeysMax)

/** Returns the encoder of keys and prefixes: unchanged, or percent-encoded as in a URL, except for slashes. */
export function textEncoder(encodingType: string | undefined): (raw: string) => string {
  if (encodingType === undefined) return (raw) => raw
  return (raw) =>
    encodeURIComponent(raw)
      .replaceAll('%2F', '/')
      .replace(/[!'()]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
}

/** Returns a function from an object of the bucket to its owner. Call it once per page. */
export function ownersIn(
  { ownerOf }: Pick<OperationContext, 'ownerOf'>,
  bucket: BucketRecord,
): (object: Pick<ListedObject, 'owner'>) => OwnerElement {
  const own = ownerOf(bucket)
  if (bucket.ownership === undefined) return () => own
  return ({ owner }) => (owner === undefined ? own : ownerOf({ owner }))
}

export function contentsOf(
  entries: readonly ListedKey[],
  encode: (raw: string) => string,
  ownerIn: ((object: ListedObject) => OwnerElement) | undefined,
  restoreStatus: ReturnType<typeof restoreStatusIn>,
) {
  return entries.map(({ key, object }) => ({
    Key: encode(key),
    LastModified: object.modifiedMs,
    ETag: object.etag,
    ChecksumAlgorithm: object.checksum?.algorithm,
    ChecksumType: object.checksum?.type,
    Size: object.size,
    Owner: ownerIn?.(object),
    StorageClass: shownStorageClass(object),
    RestoreStatus: restoreStatus(object),
  }))
}
