/** Writes whole copies of a blob to several stores at once, and settles for the acknowledged number of them. */
import { type ByteSource, bytesSource } from '../byte-source.ts'
import { S3Error } from '../errors.ts'
import { limits } from '../limits.ts'
import { branchesOf, patience, Stalled, TooFewLeft } from './branched-source.ts'
import { ByteBudget } from './byte-budget.ts'
import type { Member } from './member.ts'
import { type NewShard, type ShardId, StoreFull } from './shard-store.ts'

export interface Copy {
  member: Member
  id: ShardId
}

export interface CopiesDemand {
  /** Where to write, one copy each. */
  places: readonly Member[]
  /** A further store, for a small blob that one of the places refused. `beside`: those that have, or are to have, a copy. */
  another(beside: readonly Member[], tried: readonly Member[]): Member | undefined
  /** Fewest durable copies. */
  least: number
  stallMs: number
}

/** Resolves with at least `least` durable copies. On rejection none is kept. Throws what the payload rejects with, `StoreFull`, ServiceUnavailable. */
export async function writeCopies({ payload, describe }: NewShard, demand: CopiesDemand): Promise<Copy[]> {
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

async function writeSmall(payload: ByteSource, describe: () => Buffer, demand: CopiesDemand): Promise<Copy[]> {
  const bytes = await payload.read()
  const beside = new Set(demand.places)
  const tried = new Set(demand.places)
  const putOrElsewhere = async (place: Member): Promise<Copy> => {
    for (let member = place; ; ) {
      try {
        return { member, id: await member.store.put({ payload: bytesSource(bytes), describe }) }
      } catch (error) {
        beside.delete(member)
        const next = demand.another([...beside], [...tried])
        if (next === undefined) throw error
        member = next
        beside.add(member)
        tried.add(member)
      }
    }
  }
  return gather(
    demand.places.map((member) => ({ member, done: putOrElsewhere(member) })),
    demand,
  )
}

async function writeLarge(payload: ByteSource, describe: () => Buffer, demand: CopiesDemand): Promise<Copy[]> {
  const { places, least, stallMs } = demand
  const branches = branchesOf(payload, { count: places.length, least, stallMs })
  const puts = places.flatMap((member, i) => {
    const source = branches.sources[i]
    if (source === undefined) return []
    return [{ member, done: member.store.put({ payload: source, describe }).then((id) => ({ member, id })) }]
  })
  const reading = branches.run()
  const [read, written] = await Promise.allSettled([reading, gather(puts, demand, reading)])
  // A payload that failed has failed for all of them; that too few are left, they say better themselves.
  if (read.status === 'rejected' && !(read.reason instanceof TooFewLeft)) throw read.reason
  if (written.status === 'rejected') throw written.reason
  return written.value
}

interface Writing {
  member: Member
  done: Promise<Copy>
}

/** Waits for all, but not for ever: once enough are there, and, with more patience, once all has been read. */
async function gather(
  writing: readonly Writing[],
  { least, stallMs }: CopiesDemand,
  read: Promise<unknown> = Promise.resolve(),
): Promise<Copy[]> {
  const copies: Copy[] = []
  const errors: unknown[] = []
  const open = new Set(writing)
  const timers: NodeJS.Timeout[] = []
  await new Promise<void>((resolve) => {
    let hasEnough = false
    const giveUpAfter = (ms: number): void => {
      timers.push(setTimeout(resolve, ms))
    }
    for (const one of writing) {
      one.done
        .then((copy) => copies.push(copy))
        .catch((error) => {
          if (error instanceof Stalled) one.member.takeOut(error)
          if (!(error instanceof TooFewLeft)) errors.push(error)
        })
        .finally(() => {
          open.delete(one)
          if (open.size === 0) resolve()
          else if (copies.length >= least && !hasEnough) {
            hasEnough = true
            giveUpAfter(stallMs)
          }
        })
    }
    read.catch(() => {}).finally(() => giveUpAfter(patience * stallMs))
  })
  for (const timer of timers) clearTimeout(timer)
  for (const { member, done } of open) {
    member.takeOut(new Error('a write did not end in time'))
    // Too late to be counted: what it wrote after all is an orphan.
    done.then((copy) => removeCopies([copy])).catch(() => {})
  }
  if (copies.length >= least) return [...copies]
  await removeCopies(copies)
  throw tooFew(errors)
}

/** As far as that works: what stays behind is an orphan, to be found as one. */
async function removeCopies(copies: readonly Copy[]): Promise<void> {
  await Promise.allSettled(copies.map(({ member, id }) => member.store.delete([id])))
}

function tooFew(errors: readonly unknown[]): unknown {
  const passing = errors.find((error) => error instanceof S3Error)
  if (passing !== undefined) return passing
  if (errors.length > 0 && errors.every((error) => error instanceof StoreFull)) return errors[0]
  return new S3Error('ServiceUnavailable', {
    message: "Too few of the location's stores can take new data now.",
    cause: errors[0],
  })
}
