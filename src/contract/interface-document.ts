/** What the S3 interface document says of each name, as data: the flags that the support table repeats. Pure. */
import type { FieldPlace } from './fields.ts'

export type DocumentedFlag = 'supported' | 'partially-supported' | 'not-supported' | 'unflagged'

/** The flag of a parameter in the request or the answer of an operation; `undefined` when the document does not name it there. */
export function documentedFlag(
  _operation: string,
  _message: 'request' | 'answer',
  _field: Pick<FieldPlace, 'in' | 'name'>,
): DocumentedFlag | undefined {
  return undefined
}
