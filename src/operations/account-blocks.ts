/** What accounts block of the public in all their buckets, as requests meet it. */
import { joinBlocks } from '../access/grants.ts'
import type { BucketRecord, PublicAccessBlock } from '../records/bucket-record.ts'

export interface AccountBlocks {
  /** `undefined`: nothing. */
  of(accountId: string): PublicAccessBlock | undefined
  /** `undefined`: as if the account had never said anything. Resolves once no process goes by what was before. */
  set(accountId: string, block: PublicAccessBlock | undefined): Promise<void>
}

interface Blocked {
  by: PublicAccessBlock
  bucket: BucketRecord
}

/** The same object as long as neither record nor block changes, because policies are compiled once for it. */
const blocked = new WeakMap<BucketRecord, Blocked>()

/** The bucket with what its account blocks, too. For decisions alone: it is never written. */
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
