/** Writes whole copies of a blob to several stores at once, and settles for the acknowledged number of them. */
import { type ByteSource, bytesSource } from '../byte-source.ts'
import { limits } from '../limits.ts'
import { ByteBudget } from './byte-budget.ts'
import type { Member } from './member.ts'
import type { NewShard } from './shard-store.ts'
import {
  gather,
  type ShardsDemand,
  ShardWriting,
  StandIns,
  tooFew,
  type WrittenShard,
  writeSideBySide,
} from './write-shards.ts'

/** Resolves with at least `least` durable copies. On rejection none is kept. Throws what the payload rejects with, `StoreFull`, ServiceUnavailable. */
export async function writeCopies({ payload, describe }: NewShard, demand: ShardsDemand): Promise<WrittenShard[]> {
  if (demand.places.length < demand.least) {
    payload.cancel()
    throw tooFew([])
  }
  let description: Buffer | undefined
  // Every copy says the same of itself.
  const describeOnce = (): Buffer => {
    description ??= describe()
    return description
  }
  if (payload.size > limits.smallShardBytesMax) return writeLarge(payload, describeOnce, demand)
  return smallBytes.spend(payload.size, () => writeSmall(payload, describeOnce, demand))
}

/** Small payloads are held until all stores have them. */
const smallBytes = new ByteBudget(limits.segmentQueueBytesMax)

async function writeSmall(payload: ByteSource, describe: () => Buffer, demand: ShardsDemand): Promise<WrittenShard[]> {
  const bytes = await payload.read()
  const standIns = new StandIns(demand)
  const putTo = ({ store }: Member) => store.put({ payload: bytesSource(bytes), describe })
  return gather(
    demand.places.map((member, at) => new ShardWriting(member, at, putTo, (failed) => standIns.next(failed))),
    demand,
  )
}

async function writeLarge(payload: ByteSource, describe: () => Buffer, demand: ShardsDemand): Promise<WrittenShard[]> {
  try {
    return await writeSideBySide(
      {
        shardBytes: payload.size,
        describe,
        produce: (give) => payload.drain((chunk) => give(() => chunk)),
      },
      demand,
    )
  } catch (error) {
    payload.cancel()
    throw error
  }
}
