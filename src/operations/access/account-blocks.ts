/** Public access blocks of accounts, as requests meet them. They apply to all of an account's buckets. */
import { joinBlocks } from '../../access/grants.ts'
import type { BucketRecord, PublicAccessBlock } from '../../records/bucket-record.ts'

export interface AccountBlocks {
  /** `undefined`: the account blocks nothing. */
  of(accountId: string): PublicAccessBlock | undefined
  /** `undefined` removes the block. Resolves when no process uses the old one any more. */
  set(accountId: string, block: PublicAccessBlock | undefined): Promise<void>
}

interface Blocked {
  by: PublicAccessBlock
  bucket: BucketRecord
}

/** Keeps the result for each record while neither it nor the block changes, because `accessOf` compiles policies once per object. */
const blocked = new WeakMap<BucketRecord, Blocked>()

/** The bucket with its account's block added to its own. Only decisions use this record; it is never written. */
export function withAccountBlock(bucket: BucketRecord, blocks: Pick<AccountBlocks, 'of'> | undefined): BucketRecord {
  const by = blocks?.of(bucket.owner)
  if (by === undefined) return bucket
  const known = blocked.get(bucket)
  if (known?.by === by) return known.bucket
  const { publicAccessBlock: own } = bucket
  const made = { by, bucket: { ...bucket, publicAccessBlock: own === undefined ? by : joinBlocks(own, by) } }
  blocked.set(bucket, made)
  return made.bucket
}
