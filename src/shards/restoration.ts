/** What comes of restoring a blob, and how its shards are looked at before. */
import type { Manifest, ShardPlace } from './manifest.ts'
import type { Member } from './member.ts'
import type { CopyReading } from './read-copies.ts'
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
  places(count: number, beside: readonly Member[], not: readonly Member[]): Member[]
  manifestOf(shards: readonly ShardPlace[]): Manifest
  reading: CopyReading
}

export interface InspectedShard {
  shard: ShardPlace
  member: Member | undefined
  state: 'good' | 'bad' | 'out of reach'
}

/** Reads all of a shard. One is bad only when its store is there, and itself, and does not have it, or says that it `isAnother`. */
export async function inspectShard(
  shard: ShardPlace,
  shardBytes: number,
  context: RestoreContext,
  isAnother?: (description: Buffer) => boolean,
): Promise<InspectedShard> {
  const member = context.member(shard.storeId)
  if (member === undefined) return { shard, member, state: 'bad' }
  try {
    const source = await member.store.get(shard.id, { start: 0, end: shardBytes })
    await source.drain(() => {})
    if (isAnother?.(await member.store.description(shard.id))) throw new ShardDamaged(shard.id, 'another shard')
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

/** Whether only shards are missing for which there is no place now: then reading those that are there would be in vain. */
export function isHopeless({ shards }: Manifest, { member, places }: RestoreContext, wanted: number): boolean {
  const holders = shards.flatMap(({ storeId }) => member(storeId) ?? [])
  if (holders.length < shards.length || holders.length >= wanted) return false
  return places(1, holders, []).length === 0
}
