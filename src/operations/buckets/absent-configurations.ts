/** Operations on configurations that no bucket here can have. */
import type { ErrorCode } from '../../errors.ts'
import { refusedOperation } from '../refused-operations.ts'
import { findsNothing, removesNothing } from './unconfigured-bucket.ts'

interface AbsentConfiguration {
  what: string
  query: string
  code: ErrorCode
  read: [name: string, permission: string]
  write: string
  remove: [name: string, permission: string]
}

/** The three operations of such a configuration: a read finds nothing, a removal does nothing, and a write is refused by name. */
export function absentConfiguration({ what, query, code, read, write, remove }: AbsentConfiguration) {
  return [
    findsNothing(
      'GET',
      { name: read[0], query: [query], permission: read[1], summary: `Says that the bucket has no ${what}.` },
      code,
    ),
    refusedOperation(write, 'PUT', 'bucket', [query]),
    removesNothing({
      name: remove[0],
      query: [query],
      permission: remove[1],
      summary: `Leaves the bucket without a ${what}, as it is.`,
    }),
  ]
}
