/** Verifies the copies of a blob and makes those that are missing. Deletes nothing: what is no longer referenced is for the caller to call garbage. */
import type { Manifest, ShardPlace } from './manifest.ts'
import type { Member } from './member.ts'
import { type CopyReading, readCopies } from './read-copies.ts'
import { ShardDamaged } from './shard-store.ts'

export type Restoration =
  /** Every copy was verified. `manifest` may say so, where the old one says that some are missing. */
  | { outcome: 'whole'; manifest: Manifest }
  /** `made` are new, and `replaced` are to be garbage once `manifest` is committed. Unless `whole`, copies are still missing. */
  | {
      outcome: 'restored'
      manifest: Manifest
      made: readonly ShardPlace[]
      replaced: readonly ShardPlace[]
      whole: boolean
    }
  /** No store can take what is missing, or the copies that are left can't be reached now. */
  | { outcome: 'waiting'; reason: string }
  /** No copy is left that can be read, here or on any store that is out of use. */
  | { outcome: 'lost' }

export interface RestoreContext {
  member(storeId: string): Member | undefined
  copies: number
  places(count: number, beside: readonly Member[], not: readonly Member[]): Member[]
  manifestOf(shards: readonly ShardPlace[]): Manifest
  reading: CopyReading
}

interface Found {
  shard: ShardPlace
  member: Member | undefined
  state: 'good' | 'bad' | 'out of reach'
}

export async function restoreCopies(manifest: Manifest, context: RestoreContext): Promise<Restoration> {
  if (isHopeless(manifest, context)) return { outcome: 'waiting', reason: 'no store can take the missing copy' }
  const found = await Promise.all(manifest.shards.map((shard) => inspect(manifest, shard, context)))
  const good = found.filter(({ state }) => state === 'good')
  const kept = found.filter(({ state }) => state !== 'bad')
  const replaced = found.filter(({ state }) => state === 'bad').map(({ shard }) => shard)
  if (good.length === 0) {
    if (kept.length === 0) return { outcome: 'lost' }
    return { outcome: 'waiting', reason: 'no copy can be reached now' }
  }
  const keptShards = kept.map(({ shard }) => shard)
  const lacking = Math.max(0, context.copies - kept.length)
  if (lacking === 0 && replaced.length === 0) return { outcome: 'whole', manifest: context.manifestOf(keptShards) }

  const made: ShardPlace[] = []
  for (const member of context.places(
    lacking,
    kept.flatMap(({ member: holder }) => holder ?? []),
    [],
  )) {
    const copy = await copyTo(manifest, good, member, context)
    if (copy !== undefined) made.push(copy)
  }
  if (made.length === 0 && lacking > 0) return { outcome: 'waiting', reason: 'no store can take the missing copy' }
  const whole = made.length === lacking
  // Until all is whole again, a damaged copy stays referenced: some of its blocks may be all that is left one day.
  const gone = whole ? replaced : replaced.filter(({ storeId }) => context.member(storeId) === undefined)
  const shards = [...keptShards, ...made, ...replaced.filter((shard) => !gone.includes(shard))]
  return { outcome: 'restored', manifest: context.manifestOf(shards), made, replaced: gone, whole }
}

/** Whether only copies are missing for which there is no place now: then reading those that are there would be in vain. */
function isHopeless({ shards }: Manifest, { copies, member, places }: RestoreContext): boolean {
  const holders = shards.flatMap(({ storeId }) => member(storeId) ?? [])
  if (holders.length < shards.length || holders.length >= copies) return false
  return places(1, holders, []).length === 0
}

/** Reads all of a copy. One is bad only when its store is there, and itself, and does not have it. */
async function inspect(manifest: Manifest, shard: ShardPlace, context: RestoreContext): Promise<Found> {
  const member = context.member(shard.storeId)
  if (member === undefined) return { shard, member, state: 'bad' }
  try {
    const source = await member.store.get(shard.id, { start: 0, end: manifest.size })
    await source.drain(() => {})
    return { shard, member, state: 'good' }
  } catch (error) {
    member.blame(error)
    if (!(error instanceof ShardDamaged)) return { shard, member, state: 'out of reach' }
    const isThere = await member.store.check().then(
      () => true,
      () => false,
    )
    return { shard, member, state: isThere ? 'bad' : 'out of reach' }
  }
}

/** Byte for byte, with the description that the copies have. `undefined` when that failed; another run tries again. */
async function copyTo(
  manifest: Manifest,
  good: readonly Found[],
  target: Member,
  { reading }: RestoreContext,
): Promise<ShardPlace | undefined> {
  const sources = good.flatMap(({ shard, member }) => (member === undefined ? [] : [{ shard, member }]))
  try {
    const [first] = sources
    if (first === undefined) return undefined
    const description = await first.member.store.description(first.shard.id)
    const copies = sources.map(({ shard, member }) => ({
      open: (range: { start: number; end: number }) => member.store.get(shard.id, range),
      failed: (error: unknown) => member.blame(error),
    }))
    const payload = await readCopies(copies, { start: 0, end: manifest.size }, reading)
    return { storeId: target.storeId, id: await target.store.put({ payload, describe: () => description }) }
  } catch (error) {
    target.blame(error)
    return undefined
  }
}
