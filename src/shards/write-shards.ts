/** Writes several shards of one blob side by side, one to each store, and settles for the acknowledged number of them. */
import type { ByteSource } from '../byte-source.ts'
import { S3Error } from '../errors.ts'
import { branchesOf, type GiveEach, patience, Stalled, TooFewLeft } from './branched-source.ts'
import type { ShardPlace } from './manifest.ts'
import type { Member } from './member.ts'
import { type ShardId, StoreFull } from './shard-store.ts'

/** A shard that is durable. */
export interface WrittenShard {
  member: Member
  id: ShardId
  /** Of those that were to be written. */
  at: number
}

export interface ShardsDemand {
  /** Where to write, one shard each. */
  places: readonly Member[]
  /** Fewest durable shards. */
  least: number
  stallMs: number
}

export interface SideBySide {
  /** Of each shard. */
  shardBytes: number
  describe(at: number): Buffer
  /** Gives all bytes of all shards. */
  produce(give: GiveEach): Promise<void>
}

/** Resolves with at least `least` durable shards. On rejection none is kept. Throws what `produce` rejects with, `StoreFull`, ServiceUnavailable. */
export async function writeSideBySide(
  { shardBytes, describe, produce }: SideBySide,
  demand: ShardsDemand,
): Promise<WrittenShard[]> {
  const { places, least, stallMs } = demand
  const branches = branchesOf({ count: places.length, size: shardBytes, least, stallMs })
  const puts = places.flatMap((member, at) => {
    const payload = branches.sources[at]
    if (payload === undefined) return []
    return [{ member, done: putShard(member, at, payload, () => describe(at)) }]
  })
  const giving = branches.run(produce)
  const [given, written] = await Promise.allSettled([giving, gather(puts, demand, giving)])
  // A payload that failed has failed for all of them; that too few are left, they say better themselves.
  if (given.status === 'rejected' && !(given.reason instanceof TooFewLeft)) throw given.reason
  if (written.status === 'rejected') throw written.reason
  return written.value
}

async function putShard(
  member: Member,
  at: number,
  payload: ByteSource,
  describe: () => Buffer,
): Promise<WrittenShard> {
  return { member, at, id: await member.store.put({ payload, describe }) }
}

export interface ShardWriting {
  member: Member
  done: Promise<WrittenShard>
}

/** Waits for all, but not for ever: once enough are there, and, with more patience, once all has been `given`. */
export async function gather(
  writing: readonly ShardWriting[],
  { least, stallMs }: Pick<ShardsDemand, 'least' | 'stallMs'>,
  given: Promise<unknown> = Promise.resolve(),
): Promise<WrittenShard[]> {
  const written: WrittenShard[] = []
  const errors: unknown[] = []
  const open = new Set(writing)
  const timers: NodeJS.Timeout[] = []
  let isOver = false
  await new Promise<void>((resolve) => {
    let hasEnough = false
    const giveUpAfter = (ms: number): void => {
      if (!isOver) timers.push(setTimeout(resolve, ms))
    }
    for (const one of writing) {
      one.done
        .then((shard) => written.push(shard))
        .catch((error) => {
          if (error instanceof Stalled) one.member.takeOut(error)
          if (!(error instanceof TooFewLeft)) errors.push(error)
        })
        .finally(() => {
          open.delete(one)
          if (open.size === 0) resolve()
          else if (written.length >= least && !hasEnough) {
            hasEnough = true
            giveUpAfter(stallMs)
          }
        })
    }
    given.catch(() => {}).finally(() => giveUpAfter(patience * stallMs))
  })
  isOver = true
  for (const timer of timers) clearTimeout(timer)
  for (const { member, done } of open) {
    member.takeOut(new Error('a write did not end in time'))
    // Too late to be counted: what it wrote after all is an orphan.
    done.then((shard) => removeShards([shard])).catch(() => {})
  }
  if (written.length >= least) return written.toSorted((a, b) => a.at - b.at)
  await removeShards(written)
  throw tooFew(errors)
}

/** As far as that works: what stays behind is an orphan, to be found as one. */
async function removeShards(shards: readonly WrittenShard[]): Promise<void> {
  await Promise.allSettled(shards.map(({ member, id }) => member.store.delete([id])))
}

export function placeOf({ member, id }: WrittenShard): ShardPlace {
  return { storeId: member.storeId, id }
}

export function tooFew(errors: readonly unknown[]): unknown {
  const passing = errors.find((error) => error instanceof S3Error)
  if (passing !== undefined) return passing
  if (errors.length > 0 && errors.every((error) => error instanceof StoreFull)) return errors[0]
  return new S3Error('ServiceUnavailable', {
    message: "Too few of the location's stores can take new data now.",
    cause: errors[0],
  })
}
