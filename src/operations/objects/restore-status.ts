/** The RestoreStatus element of lists, for objects restored from an archive. It never appears here, because every storage class is readable at once. */
import { vendor, worksOnly } from '../../contract/fields.ts'
import { boolean, optional, struct, timestamp } from '../../contract/shapes.ts'
import type { Parser } from '../../contract/values.ts'
import { invalidArgument } from '../../errors.ts'

const onlyRestoreStatus: Parser<'RestoreStatus'> = (raw, name) => {
  if (raw.split(',').every((attribute) => attribute.trim() === 'RestoreStatus')) return 'RestoreStatus'
  throw invalidArgument(name, raw, 'Invalid attribute name specified')
}

/** Asks for `RestoreStatus`, the only attribute that S3 leaves out unless asked for it. */
export const optionalObjectAttributes = worksOnly(
  vendor('optional-object-attributes', onlyRestoreStatus),
  'RestoreStatus',
)

export const restoreStatusShape = optional(
  struct({ IsRestoreInProgress: boolean, RestoreExpiryDate: optional(timestamp) }),
)
