/** Writes whole copies of a blob to several stores at once, and resolves once enough of them are durable. */

import { ByteBudget } from '../../byte-budget.ts'
import { bytesSource } from '../../byte-source.ts'
import { limits } from '../../limits.ts'
import type { NewShard } from '../../stores/shard-store.ts'
import type { GiveEach } from '../branched-source.ts'
import type { Member } from '../member.ts'
import {
  gather,
  type ShardsDemand,
  ShardWriting,
  StandIns,
  type WrittenShard,
  writeSideBySide,
} from '../write-shards.ts'

/** Resolves with at least `least` durable copies. On rejection none is kept. Throws what the payload rejects with, `StoreFull`, ServiceUnavailable. */
export async function writeCopies({ payload, describe }: NewShard, demand: ShardsDemand): Promise<WrittenShard[]> {
  if (payload.size > limits.recordPayloadBytesMax) {
    const produce = (give: GiveEach) => payload.drain((chunk) => give(() => chunk))
    return writeSideBySide({ shardBytes: payload.size, describe, produce }, demand)
  }
  // Bytes count against the budget only after all have arrived, so that a slow sender does not block other writes.
  const bytes = await payload.read()
  return smallBytes.spend(bytes.length, () => writeSmall(bytes, describe(), demand))
}

/** Bytes of small payloads, which are held until all stores have them. */
const smallBytes = new ByteBudget(limits.segmentQueueBytesMax)

async function writeSmall(bytes: Buffer, description: Buffer, demand: ShardsDemand): Promise<WrittenShard[]> {
  const standIns = new StandIns(demand)
  const putTo = ({ store }: Member) => store.put({ payload: bytesSource(bytes), describe: () => description })
  return gather(
    demand.members.map((member, at) => new ShardWriting(member, at, putTo, (failed) => standIns.next(failed))),
    demand,
  )
}
