/** The input fields that GetObject and HeadObject share. */
import { customerKey } from '../contract/encryption-fields.ts'
import { header, query, vendor } from '../contract/fields.ts'
import { ownership, readConditions, responseOverrides, versionId } from '../contract/groups.ts'
import { integer, oneOf, text } from '../contract/values.ts'
import { limits } from '../limits.ts'

export const readInputs = {
  range: header('Range', text),
  partNumber: query('partNumber', integer({ min: 1, max: limits.partNumberMax })),
  versionId,
  checksumMode: vendor('checksum-mode', oneOf('ENABLED')),
  ...readConditions,
  ...responseOverrides,
  ...customerKey,
  ...ownership,
} as const
