/** The query parameters that name an upload and its parts. */
import { query, required } from '../../contract/fields.ts'
import { integer, text } from '../../contract/values.ts'
import { limits } from '../../limits.ts'

export const uploadId = required(query('uploadId', text))
export const partNumber = required(query('partNumber', integer({ min: 1, max: limits.partNumberMax })))
