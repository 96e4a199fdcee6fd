/** Writes several shards of one blob concurrently, one to each store, and resolves once enough of them are durable. */
import { S3Error } from '../errors.ts'
import { type ShardId, StoreFull } from '../stores/shard-store.ts'
import { branchesOf, type GiveEach, patience, Stalled, TooFewLeft } from './branched-source.ts'
import type { ShardPlace } from './manifest.ts'
import type { Member } from './member.ts'

/** A shard that is durable. */
export interface WrittenShard {
  member: Member
  /** The store's id at that time: another store may have replaced it since. */
  storeId: string
  id: ShardId
  /** Its index among the shards to write. */
  at: number
}

export interface ShardsDemand {
  /** The stores to write to, one shard each. */
  members: readonly Member[]
  /** Chooses another store when one has refused its shard. `holders`: the stores that have a shard or are getting one. */
  another(holders: readonly Member[], tried: readonly Member[]): Member | undefined
  /** The fewest durable shards. */
  least: number
  stallMs: number
}

export interface SideBySide {
  /** Bytes of each shard. */
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
  const { members, least, stallMs } = demand
  const { branches, run } = branchesOf({ count: members.length, size: shardBytes, least, stallMs })
  const standIns = new StandIns(demand)
  const puts = members.flatMap((member, at) => {
    const branch = branches[at]
    if (branch === undefined) return []
    const putTo = ({ store }: Member) => store.put({ payload: branch.source(), describe: () => describe(at) })
    return [
      new ShardWriting(member, at, putTo, (failed, error) => {
        const next = branch.isWhole ? standIns.next(failed) : undefined
        if (next === undefined) branch.end(error)
        return next
      }),
    ]
  })
  const giving = run(produce)
  const [given, written] = await Promise.allSettled([giving, gather(puts, demand, giving)])
  // A failed payload fails every shard. When too few shards are left, their own errors say more.
  if (given.status === 'rejected' && !(given.reason instanceof TooFewLeft)) throw given.reason
  if (written.status === 'rejected') throw written.reason
  return written.value
}

/** Chooses stand-ins for stores that refuse a shard. Each store gets at most one shard of the blob, and each domain no more than its limit. */
export class StandIns {
  readonly #another: ShardsDemand['another']
  readonly #holders: Set<Member>
  readonly #tried: Set<Member>

  constructor({ members, another }: Pick<ShardsDemand, 'members' | 'another'>) {
    this.#another = another
    this.#holders = new Set(members)
    this.#tried = new Set(members)
  }

  next(failed: Member): Member | undefined {
    this.#holders.delete(failed)
    const next = this.#another([...this.#holders], [...this.#tried])
    if (next === undefined) return undefined
    this.#holders.add(next)
    this.#tried.add(next)
    return next
  }
}

type PutTo = (member: Member) => Promise<ShardId>
/** `undefined`: no store stands in, and the shard fails with the error. */
type StandIn = (failed: Member, error: unknown) => Member | undefined

/** Writes one shard to a store and, if that store fails, to another. */
export class ShardWriting {
  /** The store that it is being written to now. */
  member: Member
  readonly done: Promise<WrittenShard>

  constructor(member: Member, at: number, putTo: PutTo, standIn: StandIn) {
    this.member = member
    this.done = this.#write(at, putTo, standIn)
  }

  async #write(at: number, putTo: PutTo, standIn: StandIn): Promise<WrittenShard> {
    for (;;) {
      const { member } = this
      const { storeId } = member
      try {
        return { member, storeId, at, id: await putTo(member) }
      } catch (error) {
        const other = standIn(member, error)
        if (other === undefined) throw error
        this.member = other
      }
    }
  }
}

/** Waits for all shards, but not for ever: for `stallMs` once enough are durable, and for longer once all bytes are `given`. */
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
    // This shard is too late to count. If it is written after all, it is removed again.
    done.then((shard) => removeShards([shard])).catch(() => {})
  }
  if (written.length >= least) return written.toSorted((a, b) => a.at - b.at)
  await removeShards(written)
  throw tooFew(errors)
}

/** Best effort: a shard that stays behind is an orphan, which is found later. */
async function removeShards(shards: readonly WrittenShard[]): Promise<void> {
  await Promise.allSettled(shards.map(({ member, id }) => member.store.delete([id])))
}

export function placeOf({ storeId, id }: WrittenShard): ShardPlace {
  return { storeId, id }
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
