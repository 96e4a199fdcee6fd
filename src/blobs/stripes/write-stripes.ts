/** Writes a blob as the shards of an erasure code: computes each stripe as its data arrives, and sends its units to all stores concurrently. */
import type { ByteSink } from '../../byte-source.ts'
import type { NewShard } from '../../stores/shard-store.ts'
import type { GiveEach } from '../branched-source.ts'
import type { ErasureCode } from '../erasure/code.ts'
import { shardBytes, stripeAt } from '../erasure/stripes.ts'
import type { Coding } from '../manifest.ts'
import { type ShardsDemand, type WrittenShard, writeSideBySide } from '../write-shards.ts'

export interface StripesDemand extends ShardsDemand {
  coding: Coding
  code: ErasureCode
  /** The description of shard `index`. */
  label(index: number, description: Buffer): Buffer
}

/** The n-th store gets the shard with index n, so when stores are missing, only parity is. Resolves and rejects like `writeSideBySide`. */
export async function writeStripes({ payload, describe }: NewShard, demand: StripesDemand): Promise<WrittenShard[]> {
  const { coding, code, label } = demand
  return writeSideBySide(
    {
      shardBytes: shardBytes(coding),
      describe: (index) => label(index, describe()),
      produce: (give) => payload.drain(stripeSink(coding, code, give)),
    },
    demand,
  )
}

/** Collects a stripe, then gives each shard its unit. Holds one stripe of data and its parity. */
function stripeSink(coding: Coding, code: ErasureCode, give: GiveEach): ByteSink {
  const encoding = code.encoding(coding)
  let stripe = stripeAt(coding, 0)
  const bytes = Buffer.allocUnsafe(coding.data * stripe.unitBytes)
  let filled = 0

  const flush = async (): Promise<void> => {
    const { unitBytes } = stripe
    bytes.fill(0, filled, coding.data * unitBytes)
    const data = Array.from({ length: coding.data }, (_, i) => bytes.subarray(i * unitBytes, (i + 1) * unitBytes))
    const units = [...data, ...(await code.apply(coding, encoding, new Map(data.entries())))]
    await give((index) => units[index] ?? bytes.subarray(0, 0))
    stripe = stripeAt(coding, stripe.index + 1)
    filled = 0
  }
  const take = async (chunk: Buffer): Promise<void> => {
    for (let taken = 0; taken < chunk.length; ) {
      const room = stripe.payload.end - stripe.payload.start - filled
      if (room === 0) throw new Error('the payload is longer than it said')
      const copied = chunk.copy(bytes, filled, taken, Math.min(chunk.length, taken + room))
      taken += copied
      filled += copied
      if (copied === room) await flush()
    }
  }
  return take
}
