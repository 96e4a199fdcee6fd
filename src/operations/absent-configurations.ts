/** Operations on configurations that a bucket has none of, and cannot be given. */
import type { ErrorCode } from '../errors.ts'
import { refusedOperation } from './refused-operations.ts'
import { findsNothing, removesNothing } from './unconfigured-bucket.ts'

interface AbsentConfiguration {
  what: string
  query: string
  code: ErrorCode
  read: [name: string, permission: string]
  write: string
  remove: [name: string, permission: string]
}

/** What S3 has of a configuration that no bucket here can have: it is not found, nothing is to be removed, and writing it is refused by name. */
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

export const absentPolicyStatus = findsNothing(
  'GET',
  {
    name: 'GetBucketPolicyStatus',
    query: ['policyStatus'],
    permission: 's3:GetBucketPolicyStatus',
    summary: 'Answers that the bucket has no policy, so that nothing could be public by it.',
  },
  'NoSuchBucketPolicy',
)
