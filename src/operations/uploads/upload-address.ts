/** The query parameters that name an upload and its parts. */
import { query, required } from '../../contract/fields.ts'
import { partNumberUpTo, text } from '../../contract/values.ts'
import { limits } from '../../limits.ts'

export const uploadId = required(query('uploadId', text))
export const partNumber = required(query('partNumber', partNumberUpTo(limits.partNumberMax)))
