/** Whether who set replication rules may still do what they copy. Opening them is left to others, because jobs know neither identities nor policies. */
import type { Backend } from '../../commits/backend.ts'
import type { BucketRecord } from '../../records/bucket-record.ts'
import type { VersionRecord } from '../../records/records.ts'

/** A version, and the ARN that it is to be copied to. */
export interface VersionToCopy {
  bucket: BucketRecord
  arn: string
  key: string
  record: VersionRecord
}

export interface CopyRights {
  /** False: the identities are not known yet, so nothing is copied. */
  readonly areKnown: boolean
  /** Rejects with `CopyRefused` where the sender may not copy this version, and with `DestinationAway` where there is no such sender any more. */
  check(backend: Pick<Backend, 'kv' | 'clock'>, version: VersionToCopy): Promise<void>
}
