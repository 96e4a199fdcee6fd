/** What answers say about the lifecycle of an object or an upload. */
import type { EncodedFields } from '../../contract/fields.ts'
import type { abortOut } from '../../contract/groups.ts'
import type { BucketRecord } from '../../records/bucket-record.ts'
import type { ObjectRecord, OpenUpload } from '../../records/records.ts'
import { expirationHeader, expirationOf, uploadExpirationOf } from '../../rules/lifecycle.ts'
import type { VersionInBucket } from '../../rules/versions.ts'
import { httpDate } from '../../time-text.ts'

/** When the current version of a key expires. `undefined`: never. */
export function expirationOutput(key: string, { bucket, record }: VersionInBucket): string | undefined {
  if (bucket.lifecycle === undefined) return undefined
  const due = expirationOf(bucket.lifecycle, { ...subjectOf(record), key })
  return due && expirationHeader(due)
}

const subjectOf = ({ size, modifiedMs, attributes: { tags } }: ObjectRecord) => ({ size, modifiedMs, tags })

/** When an open upload is aborted. */
export function abortOutputs(
  { lifecycle }: Pick<BucketRecord, 'lifecycle'>,
  upload: Pick<OpenUpload, 'key' | 'initiatedMs'>,
): EncodedFields<typeof abortOut> {
  const due = lifecycle && uploadExpirationOf(lifecycle, upload)
  return due === undefined ? {} : { abortDate: httpDate(due.dueMs), abortRuleId: due.ruleId }
}
