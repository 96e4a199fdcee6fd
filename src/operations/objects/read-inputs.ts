/** The input fields that GetObject and HeadObject share. */
import { customerKey, encryptionOfRead } from '../../contract/encryption-fields.ts'
import { header, query, vendor } from '../../contract/fields.ts'
import { ownership, readConditions, responseOverrides, versionId } from '../../contract/groups.ts'
import { type Parser, partNumberUpTo, text } from '../../contract/values.ts'
import { S3Error } from '../../errors.ts'
import { limits } from '../../limits.ts'

/** The AWS SDK for C++ sends it in lower case. */
const checksumMode: Parser<'ENABLED'> = (raw, name) => {
  if (raw.toUpperCase() === 'ENABLED') return 'ENABLED'
  throw new S3Error('InvalidRequest', { message: `Value for ${name} header is invalid.` })
}

export const readInputs = {
  range: header('Range', text),
  ifRange: header('If-Range', text),
  partNumber: query('partNumber', partNumberUpTo(limits.partNumberMax)),
  versionId,
  checksumMode: vendor('checksum-mode', checksumMode),
  ...readConditions,
  ...responseOverrides,
  ...customerKey,
  ...encryptionOfRead,
  ...ownership,
} as const
