/** The input fields that GetObject and HeadObject share. */
import { customerKey, encryptionOfRead } from '../../contract/encryption-fields.ts'
import { header, query, vendor } from '../../contract/fields.ts'
import { ownership, readConditions, responseOverrides, versionId } from '../../contract/groups.ts'
import { oneOf, type Parser, partNumberUpTo, text, unlessEmpty } from '../../contract/values.ts'
import { limits } from '../../limits.ts'

/** The AWS SDK for C++ sends it in lower case. */
const checksumMode: Parser<'ENABLED'> = (raw, name) => oneOf('ENABLED')(raw.toUpperCase(), name)

export const readInputs = {
  range: header('Range', text),
  ifRange: header('If-Range', text),
  partNumber: query('partNumber', unlessEmpty(partNumberUpTo(limits.partNumberMax))),
  versionId,
  checksumMode: vendor('checksum-mode', checksumMode),
  ...readConditions,
  ...responseOverrides,
  ...customerKey,
  ...encryptionOfRead,
  ...ownership,
} as const
