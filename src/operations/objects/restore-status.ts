/**
 * What S3 says of archived objects that can be read. Here that is all of them, at any time: clients such as the AWS CLI do not download an archived object that
 * was not restored.
 */
import { vendor, worksOnly } from '../../contract/fields.ts'
import { boolean, type Infer, optional, struct, timestamp } from '../../contract/shapes.ts'
import type { Parser } from '../../contract/values.ts'
import { invalidArgument } from '../../errors.ts'
import type { ObjectAttributes } from '../../records/object-attributes.ts'
import type { StorageClass } from '../../storage-class.ts'

const onlyRestoreStatus: Parser<'RestoreStatus'> = (raw, name) => {
  if (raw.split(',').every((attribute) => attribute.trim() === 'RestoreStatus')) return 'RestoreStatus'
  throw invalidArgument(name, raw, 'Invalid attribute name specified')
}

/** Asks for `RestoreStatus`, the only attribute that S3 leaves out unless asked for it. */
export const optionalObjectAttributes = worksOnly(
  vendor('optional-object-attributes', onlyRestoreStatus),
  'RestoreStatus',
)

/** Whether S3 keeps objects of the class where they must be restored before they can be read. */
export const isArchived = (storageClass: StorageClass | undefined): boolean =>
  storageClass === 'GLACIER' || storageClass === 'DEEP_ARCHIVE'

/** The last day that clients can read in a header. */
const neverMs = Date.UTC(9999, 11, 31)

/** The header of an object that is archived. */
export function restoreHeader(storageClass: StorageClass | undefined): string | undefined {
  if (!isArchived(storageClass)) return undefined
  return `ongoing-request="false", expiry-date="${new Date(neverMs).toUTCString()}"`
}

type RestoreStatus = Infer<typeof restoreStatusShape>

/** Returns a function from an object to the element that a list has of it, if the list asks for it. */
export function restoreStatusIn(asked: 'RestoreStatus' | undefined): (object: Stored) => RestoreStatus {
  if (asked === undefined) return () => undefined
  return ({ storageClass }) => (isArchived(storageClass) ? readable : undefined)
}

type Stored = Pick<ObjectAttributes, 'storageClass'>

const readable = { IsRestoreInProgress: false, RestoreExpiryDate: neverMs }

export const restoreStatusShape = optional(
  struct({ IsRestoreInProgress: boolean, RestoreExpiryDate: optional(timestamp) }),
)
